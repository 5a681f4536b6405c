import { asRows, type Queries } from '../database/connection.ts'
import { type RowChange, writeRows } from '../rows/tables.ts'
import { takeSegmentsAway } from '../segments/segments.ts'
import { RunNumberBlock } from '../writer/run-numbers.ts'
import { isBeyondRuns } from './state.ts'

/**
 * Writes changes of people and runs, and notes the flows of which more is kept now than their runs say.
 *
 * @param isBeyondSegments whether no segment can contain the change, as it is stored or as it will be
 */
export async function writeChanges(
  queries: Queries,
  changes: readonly RowChange[],
  isBeyondSegments: (change: RowChange) => boolean = () => false,
): Promise<void> {
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
  const told = changes.filter(change => !isBeyondSegments(change))
  const progress = told.filter(({ table }) => table.name === 'progress')
  // Before the rows are written, because it looks up where runs have started until now.
  const takenAway = takeSegmentsAway(queries, told.filter(isRun), progress)
  await Promise.all([takenAway, ...noted, ...writeRows(queries, changes)])
}

const isRun = ({ table }: RowChange) => table.name === 'runs'

/** Gives runs numbers that no run ever had, because a database of this process has numbers of its own. */
export async function renumbered(
  transaction: Queries,
  changes: readonly RowChange[],
): Promise<RowChange[]> {
  const isKept = (change: RowChange) => isRun(change) && change.content !== null
  const numbers = new RunNumberBlock(transaction)
  await numbers.provide(changes.filter(isKept).length)
  return changes.map(change =>
    isKept(change) ? { ...change, content: { ...change.content, id: numbers.next() } } : change,
  )
}
