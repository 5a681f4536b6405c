import { asRows, type Queries } from '../database/connection.ts'
import { type RowChange, writeRows } from '../rows/tables.ts'
import { RunNumberBlock } from '../writer/run-numbers.ts'
import { isBeyondRuns } from './state.ts'

/** Writes what a scratch has changed, and notes of which flows more is kept now than their runs say. */
export async function writeChanges(queries: Queries, changes: readonly RowChange[]): Promise<void> {
  const joined = changes.filter(({ table, content }) => content && isBeyondRuns(table))
  const flows = new Map(
    joined.map(({ key: { org_id, flow_id } }) => [flow_id, { org_id, flow_id }]),
  )
  const noted =
    flows.size === 0
      ? []
      : [
          queries.run(
            `insert into joined_flows
            select * from json_populate_recordset(null::joined_flows, $1::text::json)
            on conflict do nothing`,
            asRows([...flows.values()]),
          ),
        ]
  await Promise.all([...noted, ...writeRows(queries, changes)])
}

/** Runs under numbers that no run ever had: those of a database of this process are its own. */
export async function renumbered(
  transaction: Queries,
  changes: readonly RowChange[],
): Promise<RowChange[]> {
  const isRun = ({ table, content }: RowChange) => table.name === 'runs' && content !== null
  const numbers = new RunNumberBlock(transaction)
  await numbers.provide(changes.filter(isRun).length)
  return changes.map(change =>
    isRun(change) ? { ...change, content: { ...change.content, id: numbers.next() } } : change,
  )
}
