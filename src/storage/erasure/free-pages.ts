import type { Database } from 'bun:sqlite'

/** Free pages that a transaction overwrites: a megabyte, written in a few milliseconds. */
const stepPages = 256

const numberOf = (database: Database, pragma: string): number =>
  Object.values(database.query<Record<string, number>, []>(`pragma ${pragma}`).get() ?? {})[0] ?? 0

/**
 * Overwrites the pages that nothing uses, in which whatever was deleted once may stand: takes them up
 * with zeros and gives them back. Yields the number of pages of each step.
 */
export function* overwriteFreePages(database: Database): Generator<number> {
  const pageBytes = numberOf(database, 'page_size')
  const fill = database.query('insert into erasure_fill (zeros) values (zeroblob(?))')
  const clear = database.query(
    'delete from erasure_fill where id in (select id from erasure_fill limit 1)',
  )
  const fillStep = database.transaction((pages: number) => fill.run(pages * pageBytes))
  const clearStep = database.transaction(() => clear.run().changes)
  // What others free meanwhile they overwrite themselves: it is the pages of now that count.
  for (let left = numberOf(database, 'freelist_count'); left > 0; left -= stepPages) {
    const pages = Math.min(stepPages, left, numberOf(database, 'freelist_count'))
    if (pages === 0) break
    fillStep.immediate(pages)
    yield pages
  }
  while (clearStep.immediate() > 0) yield 0
}

/**
 * Empties the write-ahead log into the database: what was there before a change is then in no file.
 * Somebody who reads as of before (an export under way) can stand in the way for as long as that takes.
 *
 * @returns whether the log is empty
 */
export function emptyLog(database: Database): boolean {
  // Most of it without holding up anybody.
  database.run('pragma wal_checkpoint(passive)')
  const patience = numberOf(database, 'busy_timeout')
  // Who waits for readers here keeps writers waiting.
  database.run('pragma busy_timeout = 50')
  try {
    const row = database.query<{ busy: number }, []>('pragma wal_checkpoint(truncate)').get()
    return row?.busy === 0
  } finally {
    database.run(`pragma busy_timeout = ${patience}`)
  }
}
