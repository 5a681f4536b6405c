import { pages } from '../database/pages.ts'
import { letterIn, letterText } from '../ledger/dead-letter-text.ts'
import { namesIn } from '../ledger/dead-letters.ts'
import { type Pair, pairIn, pairKeyOf, pairPrefix } from '../runs/run-people.ts'
import type { ErasedCounts, ErasureWork } from './erasure-work.ts'
import { isBeside, isOf } from './person-matcher.ts'
import type { Traces } from './traces.ts'

/** Erases what is known of a person besides their runs. */

/** Tables whose rows are found by flow and person, and the count of the receipt that their rows go into. */
const tablesByPerson = [
  ['ticks', 'ticks'],
  ['progress', 'progress'],
  ['completions', 'completions'],
  ['loose_facts', 'looseFacts'],
  ['checklist_completions', null],
  ['run_people', null],
  ['held_out', null],
  ['goals', null],
] as const

/** Renames a person's rows of one flow in these tables, within a step of the work, as their runs are renamed. */
export function factsEraser(work: ErasureWork, traces: Traces) {
  const { database, orgRow, pseudonyms } = work
  const eraseTogether = togetherEraser(work, traces)
  const renames = tablesByPerson.map(([table, counted]) => ({
    counted,
    rename: database.query(
      `update or replace ${table} set person = ? where org_id = ? and flow_id = ? and person = ?`,
    ),
  }))
  return (flowRow: number): Partial<ErasedCounts> => {
    const counts: Partial<ErasedCounts> = {}
    eraseTogether(flowRow)
    const now = pseudonyms.nameIn(flowRow, traces.name)
    for (const { counted, rename } of renames) {
      const { changes } = rename.run(now, orgRow, flowRow, traces.name)
      if (counted !== null) counts[counted] = changes
    }
    return counts
  }
}

/**
 * Erases whom a person is named together with, within a step of the work. The anonymous ids beside a user's go
 * too, unless more is known of them: then their ticks count together with what is left of the user. No event
 * says so any more, so a rebuild takes it as it is.
 */
function togetherEraser({ database, orgRow, pseudonyms }: ErasureWork, traces: Traces) {
  const { name } = traces
  const ofPerson = 'org_id = ?1 and flow_id = ?2 and person = ?3'
  const besides = database.query<{ run_key: string; person: string }, [number, number, string]>(
    `select run_key, person from run_people where org_id = ?1 and flow_id = ?2 and person <> ?3
      and run_key in (select run_key from run_people where ${ofPerson})`,
  )
  const isKnown = database.query<unknown, [number, number, string, string]>(
    `select 1 from ticks where ${ofPerson}
    union all select 1 from runs where ${ofPerson}
    union all select 1 from run_people where ${ofPerson} and run_key not in (
      select run_key from run_people where org_id = ?1 and flow_id = ?2 and person = ?4)
    limit 1`,
  )
  const forget = ['run_people', 'progress'].map(table =>
    database.query(`delete from ${table} where ${ofPerson}`),
  )
  const forgetAlone = database.query(
    `delete from run_people where ${ofPerson} and not exists (
      select 1 from run_people others where others.org_id = ?1 and others.flow_id = ?2
        and others.run_key = run_people.run_key and others.person <> ?3)`,
  )
  const renamePair = database.query(
    'update run_people set run_key = ? where org_id = ? and flow_id = ? and run_key = ?',
  )
  return (flowRow: number): void => {
    const nameNow = pseudonyms.nameIn(flowRow, name)
    const found = besides.all(orgRow, flowRow, name)
    const visitors = name.startsWith('u')
      ? found.filter(({ person }) => person.startsWith('a'))
      : []
    for (const visitor of new Set(visitors.map(({ person }) => person))) {
      if (traces.mayNameOther(flowRow, visitor)) continue
      if (isKnown.get(orgRow, flowRow, visitor, name) !== null) continue
      for (const rows of forget) rows.run(orgRow, flowRow, visitor)
    }
    forgetAlone.run(orgRow, flowRow, name)
    for (const { run_key: key } of found) {
      if (!key.startsWith(pairPrefix)) continue
      const [user, visitor] = pairIn(key)
      const pair: Pair = user === name ? [nameNow, visitor] : [user, nameNow]
      renamePair.run(pairKeyOf(pair), orgRow, flowRow, key)
    }
  }
}

/** Deletes what describes the person, and the events that decide what they are shown: no number depends on these. */
export function* eraseAboutPerson(work: ErasureWork, { name }: Traces): Generator<number> {
  work.step(() => {
    for (const table of ['caused_events', 'people']) {
      const remove = `delete from ${table} where org_id = ? and person = ?`
      work.database.query(remove).run(work.orgRow, name)
    }
    return {}
  })
  yield 1
}

const stepReports = 500

/** Renames the person's reports about steps, which still count but lose their page and message. */
export function* eraseStepReports(work: ErasureWork, { name }: Traces): Generator<number> {
  const { database, orgRow, pseudonyms } = work
  const page = database.query<{ seq: number; step_id: number }, [number, number, string]>(
    `select seq, step_id from step_reports
    where seq > ? and org_id = ? and person = ? order by seq limit ${stepReports}`,
  )
  const rename = database.query(
    `update step_reports set person = ?, url = null, message = null, selector = null,
      snippet_version = null
    where seq = ? and org_id = ?`,
  )
  const renameLatest = database.query(
    'update or replace step_health set person = ? where org_id = ? and step_id = ? and person = ?',
  )
  const next = ({ seq }: { seq: number }) => page.all(seq, orgRow, name)
  for (const rows of pages(next, { seq: 0 }, stepReports)) {
    work.step(() => {
      for (const { seq, step_id } of rows) {
        const now = pseudonyms.nameInStep(step_id, name)
        rename.run(now, seq, orgRow)
        renameLatest.run(now, orgRow, step_id, name)
      }
      return { stepReports: rows.length }
    })
    yield rows.length
  }
}

const lettersPerPage = 500

/** Deletes the person's dead letters, because no number depends on them. */
export function* eraseDeadLetters(work: ErasureWork): Generator<number> {
  const { database, orgRow, person } = work
  const page = database.query<{ seq: number; event: string }, [number, number]>(
    `select seq, event from dead_letters where seq > ? and org_id = ? order by seq limit ${lettersPerPage}`,
  )
  const remove = database.query('delete from dead_letters where seq = ? and org_id = ?')
  const change = database.query('update dead_letters set event = ? where seq = ? and org_id = ?')
  const next = ({ seq }: { seq: number }) => page.all(seq, orgRow)
  for (const rows of pages(next, { seq: 0 }, lettersPerPage)) {
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
  }
}
