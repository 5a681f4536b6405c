import type { ErasedCounts, ErasureWork } from '../../sqlite/erasure/erasure-work.ts'
import { isBeside, isOf } from '../../sqlite/erasure/person-matcher.ts'
import { letterIn, letterText, namesIn } from '../../sqlite/ledger/dead-letters.ts'
import { asRows, type Queries } from '../database/connection.ts'
import type { Row } from '../rows/tables.ts'

/** Rows that one transaction of an erasure writes. Others wait for it some tenths of a second. */
export const stepRows = 1_000
const stepLetters = 500

export type Counts = Partial<ErasedCounts>

/** An erasure that is under way. */
interface UnderWay {
  orgRow: number
  /** The person, as `personOf` names them. */
  name: string
  /** The same person's own id. */
  id: string
  work: ErasureWork
  /** For reads during which others may write. */
  queries: Queries
  /** Runs work while nobody else writes for the organisation, and adds up its counts. */
  step(work: (transaction: Queries) => Promise<Counts>): Promise<void>
}

/** Erases a person where they are named outside of events and runs. */
export async function eraseBeside(erasure: UnderWay): Promise<void> {
  await erasure.step(transaction => forgetCaused(transaction, erasure))
  await eraseStepReports(erasure)
  await eraseLetters(erasure)
}

/** Forgets what they have caused, and since when: it decides what they are shown, and no number depends on it. */
async function forgetCaused(transaction: Queries, { orgRow, name }: UnderWay): Promise<Counts> {
  for (const table of ['caused_events', 'person_changes']) {
    await transaction.run(`delete from ${table} where org_id = $1 and person = $2`, orgRow, name)
  }
  return {}
}

/**
 * Renames their reports about steps, which still count but lose their page and message. A step's are renamed all
 * at once, otherwise a rebuild in between would see two people. No index leads to them, so they are looked for
 * before others have to wait.
 */
async function eraseStepReports({ orgRow, name, work, queries, step }: UnderWay): Promise<void> {
  const theirs = [orgRow, name] as const
  const find = (table: string, key: string) =>
    queries.all<Row & { step_id: number }>(
      `select step_id, ${key} from ${table} where org_id = $1 and person = $2`,
      ...theirs,
    )
  const [reports, health] = await Promise.all([
    find('step_reports', 'seq'),
    find('step_health', 'version'),
  ])
  const ofSteps = Map.groupBy([...reports, ...health], ({ step_id }) => step_id)
  for (const [stepRow, keys] of ofSteps) {
    const renamed = `${name[0]}${work.pseudonyms.personOfStep(stepRow)}`
    await step(async transaction => {
      const stepReports = await transaction.run(
        `update step_reports r set person = $3, url = null, message = null, selector = null,
          snippet_version = null
        from json_to_recordset($4::text::json) as k(seq bigint)
        where r.org_id = $1 and r.person = $2 and r.seq = k.seq`,
        ...[...theirs, renamed, asRows(keys)],
      )
      await transaction.run(
        `update step_health h set person = $3
        from json_to_recordset($5::text::json) as k(version bigint)
        where h.org_id = $1 and h.step_id = $4 and h.person = $2 and h.version = k.version`,
        ...[...theirs, renamed, stepRow, asRows(keys)],
      )
      return { stepReports }
    })
  }
}

/** Deletes their dead letters, because no number depends on them. */
async function eraseLetters({ orgRow, id, work, step }: UnderWay): Promise<void> {
  // As it appears in the JSON of a letter.
  const text = JSON.stringify(id).slice(1, -1)
  for (let after: number | null = 0; after !== null; ) {
    const last: number = after
    await step(async transaction => {
      const rows = await transaction.all<{ seq: number; event: string }>(
        `select seq, event from dead_letters
        where org_id = $1 and seq > $2 and strpos(event, $3) > 0 order by seq limit ${stepLetters}`,
        ...[orgRow, last, text],
      )
      after = rows.length < stepLetters ? null : rows.at(-1)!.seq
      let deadLetters = 0
      for (const { seq, event } of rows) {
        const letter = letterIn(event)
        if (isOf(work.person, namesIn(letter))) {
          deadLetters += await transaction.run(
            'delete from dead_letters where org_id = $1 and seq = $2',
            ...[orgRow, seq],
          )
        } else if (isBeside(work.person, namesIn(letter))) {
          await transaction.run(
            'update dead_letters set event = $3 where org_id = $1 and seq = $2',
            ...[orgRow, seq, letterText({ ...letter, anonymousId: null })],
          )
        }
      }
      return { deadLetters }
    })
  }
}
