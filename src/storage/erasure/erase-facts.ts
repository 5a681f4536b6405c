import { firstFreeRow, noteReplacedRows } from '../hash-index/row-index.ts'
import type { ErasureWork } from './erasure-work.ts'
import { isPerson } from './person-matcher.ts'
import { RowScrubber } from './row-scrubber.ts'

/** What is known of people beside their runs: the person's rows get the names that their runs have. */

const pageRows = 2_000

interface PersonInFlow {
  flow_id: number
  person: string
}

/** Tables whose rows are found by a flow and the person. */
const tablesByPerson = { ticks: 'ticks', progress: 'progress', looseFacts: 'loose_facts' } as const

/** All people of an organisation that a table knows of, in the order of its key. */
function* peopleIn(work: ErasureWork, table: string): Generator<PersonInFlow[]> {
  const page = work.database.query<PersonInFlow, [number, number, string]>(
    `select flow_id, person from ${table}
    where org_id = ? and (flow_id, person) > (?, ?)
    group by flow_id, person order by flow_id, person limit ${pageRows}`,
  )
  for (let last: PersonInFlow = { flow_id: 0, person: '' }; ; ) {
    const people = page.all(work.orgRow, last.flow_id, last.person)
    yield people
    if (people.length < pageRows) return
    last = people.at(-1)!
  }
}

/** Ticks, progress and loose facts. */
export function* eraseFacts(work: ErasureWork): Generator<number> {
  const { database, orgRow } = work
  for (const [kind, table] of Object.entries(tablesByPerson)) {
    const rename = database.query(
      `update or replace ${table} set person = ?
      where org_id = ? and flow_id = ? and person = ?`,
    )
    for (const page of peopleIn(work, table)) {
      for (const { flow_id: flowRow, person } of page.filter(({ person }) =>
        isPerson(work.person, person),
      )) {
        work.step(() => {
          const { changes } = rename.run(work.nameIn(flowRow, person), orgRow, flowRow, person)
          return { [kind]: changes }
        })
      }
      yield page.length
    }
  }
}

/** Completions, which are found by a hash index and so written anew. */
export function* eraseCompletions(work: ErasureWork): Generator<number> {
  const { database, orgRow } = work
  const index = new RowScrubber(database, { person: 'completions_by_person' })
  const flows = database.query<{ id: number }, [number]>('select id from flows where org_id = ?')
  const page = database.query<{ id: number; person: string }, [number, number, number]>(
    `select id, person from completions
    where org_id = ? and flow_id = ? and id > ? order by id limit ${pageRows}`,
  )
  const rename = database.query(
    'update completions set id = ?, person = ? where id = ? and org_id = ?',
  )
  for (const { id: flowRow } of flows.all(orgRow)) {
    for (let after = 0; ; ) {
      const rows = page.all(orgRow, flowRow, after)
      const own = rows.filter(({ person }) => isPerson(work.person, person))
      if (own.length > 0) {
        work.step(() => {
          for (const { id, person } of own) {
            const name = work.nameIn(flowRow, person)
            rename.run(firstFreeRow(database, 'completions'), name, id, orgRow)
            index.forget(flowRow, { person }, id)
          }
          noteReplacedRows(database)
          return { completions: own.length }
        })
      }
      yield rows.length
      if (rows.length < pageRows) break
      after = rows.at(-1)!.id
    }
  }
}

/** What the person reported of steps: it counts on, without a page or a message. */
export function* eraseStepReports(work: ErasureWork): Generator<number> {
  const { database, orgRow } = work
  const page = database.query<{ seq: number; step_id: number; person: string }, [number, number]>(
    `select seq, step_id, person from step_reports
    where seq > ? and org_id = ? and person is not null order by seq limit ${pageRows}`,
  )
  const rename = database.query(
    `update step_reports set person = ?, url = null, message = null, selector = null,
      snippet_version = null
    where seq = ? and org_id = ?`,
  )
  const renameLatest = database.query(
    'update or replace step_health set person = ? where org_id = ? and step_id = ? and person = ?',
  )
  for (let after = 0; ; ) {
    const rows = page.all(after, orgRow)
    const own = rows.filter(({ person }) => isPerson(work.person, person))
    if (own.length > 0) {
      work.step(() => {
        for (const { seq, step_id, person } of own) {
          const name = `${person[0]}${work.pseudonyms.personOfStep(step_id)}`
          rename.run(name, seq, orgRow)
          renameLatest.run(name, orgRow, step_id, person)
        }
        return { stepReports: own.length }
      })
    }
    yield rows.length
    if (rows.length < pageRows) return
    after = rows.at(-1)!.seq
  }
}
