import { pages } from '../database/pages.ts'
import type { ErasureWork } from './erasure-work.ts'

const minIn = (column: string, letter: 'u' | 'a') =>
  `(select org_id, id, '${letter}' || ${column} as person from runs)`

/** What has names of people, and the columns by which it is read in the order of an index; the last is the name. */
const sources = [
  ...['ticks', 'progress', 'completions', 'loose_facts', 'checklist_completions'],
  ...['run_people', 'held_out', 'goals'],
]
  .map(table => ({ from: table, columns: ['flow_id', 'person'] }))
  .concat(
    ...['runs', 'people', 'caused_events'].map(from => ({ from, columns: ['person'] })),
    { from: 'step_reports', columns: ['seq', 'person'] },
    { from: minIn('least_user_id', 'u'), columns: ['id', 'person'] },
    { from: minIn('least_anonymous_id', 'a'), columns: ['id', 'person'] },
  )

const pageRows = 2_000

type Row = Record<string, number | string>

/**
 * Finds out who somebody is of whom only a hash is known, from what is stored beside the ledger. Yields the number of
 * names looked at.
 */
export function* nameInTables(work: ErasureWork): Generator<number, string | null> {
  for (const { from, columns } of sources) {
    const key = columns.join(', ')
    const page = work.database.query<Row, (number | string)[]>(
      `select distinct ${key} from ${from}
      where org_id = ? and person is not null and (${key}) > (${columns.map(() => '?').join(', ')})
      order by ${key} limit ${pageRows}`,
    )
    const next = (last: Row) => page.all(work.orgRow, ...columns.map(column => last[column]!))
    const first = Object.fromEntries(columns.map(name => [name, name === 'person' ? '' : 0]))
    for (const rows of pages(next, first, pageRows)) {
      const found = rows.find(({ person }) => work.person(person as string))
      if (found) return found.person as string
      yield rows.length
    }
  }
  return null
}
