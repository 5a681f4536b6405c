import type { Database } from 'bun:sqlite'
import { shortReasonOf } from '../../../core/reason.ts'
import { isoTime } from '../../../core/time/clock.ts'
import type { ErasureAudit, NamedPerson } from '../../interfaces/people.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { compact, emptyLog } from '../database/compact.ts'
import { beginRewriting, isRewritingHeld } from '../database/rewriting.ts'
import { projectRest } from '../projections/project-rest.ts'
import { erase } from './erase.ts'
import {
  addToErasures,
  erasureKey,
  type ListedErasure,
  listedErasures,
  listing,
  nameOfListed,
} from './erasure-list.ts'
import { type ErasureRow, ErasureTable, type HashedPerson } from './erasure-table.ts'
import { hashOfPerson } from './person-matcher.ts'

const lineOf = (
  action: ListedErasure['action'],
  { orgId, key, person }: { orgId: string; key: string; person: string },
  at: number,
): ListedErasure => ({ action, at: isoTime(at), org: orgId, key, person })

/**
 * Notes that a person is to be erased, on the list first and then in the database. From then on none of
 * their reports are accepted. An erasure that was begun before and not finished continues.
 */
export function beginErasure(
  database: Database,
  dataDir: string,
  { orgRef: orgRow, orgId, person }: InRows<NamedPerson>,
  now: number,
  audit: ErasureAudit | null = null,
): ErasureRow {
  const table = new ErasureTable(database)
  const listed = listedErasures(dataDir)
  const key = erasureKey([...listed, ...table.all()])
  const hashed = { orgRow, key, person: hashOfPerson(key, orgId, person) }
  const known = table.get(hashed)
  if (known && known.finishedAt === null) return known
  // Later than anything that the list says of them, whatever the clock says.
  const before = listed.find(line => line.org === orgId && line.person === hashed.person)
  const requestedAt = before ? Math.max(now, Date.parse(before.at) + 1) : now
  return listing(dataDir, [lineOf('erase', { ...hashed, orgId }, requestedAt)], () =>
    table.begin(hashed, requestedAt, audit),
  )
}

/**
 * Allows a person's reports again.
 *
 * @returns whether they had been erased
 */
export function allowAgain(
  database: Database,
  dataDir: string,
  person: InRows<NamedPerson>,
  now: number,
  audit: ErasureAudit | null = null,
): boolean {
  const table = new ErasureTable(database)
  const erased = table.of(person)
  // The lists of two installations may have been merged, each with its own key.
  const lines = erased.map(row => lineOf('allow', row, Math.max(now, row.askedAt + 1)))
  const forget = database.transaction(() => {
    for (const row of erased) table.forget(row, audit)
  })
  listing(dataDir, lines, () => forget.immediate())
  return erased.length > 0
}

/** Makes the database and the list beside it name the same people. */
export function agree(database: Database, dataDir: string, table: ErasureTable): void {
  const organisation = database.query<{ id: number }, [string]>(
    'select id from organisations where public_id = ?',
  )
  for (const { action, at, org, key, person } of listedErasures(dataDir)) {
    const row = organisation.get(org)
    if (!row) continue
    const hashed: HashedPerson = { orgRow: row.id, key, person }
    const known = table.get(hashed)
    const listedAt = Date.parse(at)
    if (action === 'erase' && (!known || known.askedAt < listedAt)) table.begin(hashed, listedAt)
    if (action === 'allow' && known && known.askedAt <= listedAt) table.forget(known)
  }
  listErased(dataDir, table)
}

/** Adds to the list everybody who is erased from the database. */
function listErased(dataDir: string, table: ErasureTable): void {
  const isListed = new Set(listedErasures(dataDir).map(nameOfListed))
  addToErasures(
    dataDir,
    table
      .all()
      .map(row => lineOf('erase', row, row.askedAt))
      .filter(line => !isListed.has(nameOfListed(line))),
  )
}

function unfinishedOf(database: Database, dataDir: string, table: ErasureTable): ErasureRow[] {
  agree(database, dataDir, table)
  return table.all().filter(({ finishedAt }) => finishedAt === null)
}

/** Whether anybody is on the list and not erased yet. */
export const erasuresDue = (database: Database, dataDir: string): boolean =>
  unfinishedOf(database, dataDir, new ErasureTable(database)).length > 0

export interface ErasuresFinished {
  people: number
  /** Why the files may still hold something of them; null if they do not. */
  unfinished: string | null
}

/**
 * Erases everybody who is on the list and not erased yet: after an older backup was restored, or a command
 * was killed or did not compact the database. To be called at a start, before anything is answered.
 */
export function finishErasures(
  database: Database,
  dataDir: string,
  now: number,
  onCompacting: () => void = () => {},
): ErasuresFinished {
  const table = new ErasureTable(database)
  const unfinished = unfinishedOf(database, dataDir, table)
  const people = unfinished.length
  if (people === 0) return { people, unfinished: null }
  try {
    const release = beginRewriting(dataDir)
    try {
      projectRest(database, () => now)
      for (const row of unfinished) for (const _ of erase(database, row));
    } finally {
      release()
    }
  } catch (error) {
    // Another command is erasing them, or one runs that would bring them back. Neither is a reason not to serve.
    if (isRewritingHeld(error)) return { people, unfinished: error.message }
    throw error
  }
  try {
    onCompacting()
    compact(database, dataDir)
  } catch (error) {
    // Compacting needs disk space, which may be missing. That is no reason not to serve.
    return { people, unfinished: shortReasonOf(error) }
  }
  if (!emptyLog(database)) return { people, unfinished: 'another process reads the database' }
  for (const row of unfinished) table.finish(row, now)
  return { people, unfinished: null }
}
