import { letterIn, letterText, namesIn } from '../ledger/dead-letters.ts'
import type { ErasureWork } from './erasure-work.ts'
import { isBeside, isOf } from './person-matcher.ts'

const pageRows = 500

/** Deletes the person's dead letters: no number comes from them. */
export function* eraseDeadLetters(work: ErasureWork): Generator<number> {
  const { database, orgRow, person } = work
  const page = database.query<{ seq: number; event: string }, [number, number]>(
    `select seq, event from dead_letters where seq > ? and org_id = ? order by seq limit ${pageRows}`,
  )
  const remove = database.query('delete from dead_letters where seq = ? and org_id = ?')
  const change = database.query('update dead_letters set event = ? where seq = ? and org_id = ?')
  for (let after = 0; ; ) {
    const rows = page.all(after, orgRow)
    const letters = rows.map(({ seq, event }) => ({ seq, letter: letterIn(event) }))
    const own = letters.filter(({ letter }) => isOf(person, namesIn(letter)))
    const beside = letters.filter(({ letter }) => isBeside(person, namesIn(letter)))
    if (own.length + beside.length > 0) {
      work.step(() => {
        for (const { seq } of own) remove.run(seq, orgRow)
        for (const { seq, letter } of beside) {
          change.run(letterText({ ...letter, anonymousId: null }), seq, orgRow)
        }
        return { deadLetters: own.length }
      })
    }
    yield rows.length
    if (rows.length < pageRows) return
    after = rows.at(-1)!.seq
  }
}
