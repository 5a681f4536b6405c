import type { Database } from 'bun:sqlite'
import { FlowPositions } from '../../../core/flow/positions.ts'
import type { Beside, FlowRuns, RunColumns } from '../../../modules/analytics/port.ts'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type { InRows } from '../../shared/in-rows.ts'
import {
  type ColumnRow,
  columnRunOf,
  columnsOfRuns,
  personHash,
} from '../../sqlite/engine/column-segments/run-columns.ts'
import type { Postgres, Queries } from '../database/connection.ts'
import { inSlices, pages } from '../database/pages.ts'
import { asDoubles } from '../rows/arrays.ts'

/** Rows that a statement reads, so that the ways there and back count for little. */
const pageRows = 4_096

/** Runs that become columns before others get their turn: a millisecond's work or two. */
const sliceRuns = 512

const numbers = asDoubles(
  'runs',
  ...['id', 'started_at', 'last_at', 'version', 'completed_at', 'dismissed_at'],
)

const inOrder = `(runs.started_at, runs.id) > ($3, $4) and runs.started_at < $5
  order by runs.started_at, runs.id limit ${pageRows}`

const page = `select ${numbers}, runs.person, steps, traits
  from runs where org_id = $1 and flow_id = $2 and ${inOrder}`

const pageWithTicks = `select ${numbers}, runs.person, steps, traits, items,
    (checklist_at is not null)::integer as checklist
  from runs left join progress
    on progress.org_id = $1 and progress.flow_id = $2 and progress.person = runs.person
  where runs.org_id = $1 and runs.flow_id = $2 and ${inOrder}`

/**
 * The runs of a flow as columns, made of their rows.
 *
 * It reads a snapshot, so that no run is missed or counted twice when its start changes meanwhile.
 */
export class RunHistory {
  private readonly hash: (person: string) => bigint

  /** @param copy the node's own, for the seed by which people are hashed */
  constructor(
    private readonly postgres: Postgres,
    copy: Database,
  ) {
    this.hash = personHash(copy)
  }

  /** Runs that started in [from, to), ascending by start. */
  between(
    flow: InRows<FlowRuns>,
    from: number,
    to: number,
    beside?: Beside<number>,
  ): AsyncGenerator<RunColumns> {
    return this.postgres.asOfOneMoment(snapshot => this.read(snapshot, flow, from, to, beside))
  }

  private async *read(
    snapshot: Queries,
    flow: InRows<FlowRuns>,
    from: number,
    to: number,
    beside?: Beside<number>,
  ): AsyncGenerator<RunColumns> {
    const { orgRef: orgRow, flowRef: flowRow } = flow
    const positions = new FlowPositions(flow)
    const ticked = await snapshot.get(
      'select 1 as found from progress where org_id = $1 and flow_id = $2 limit 1',
      ...[orgRow, flowRow],
    )
    const statement = ticked ? pageWithTicks : page
    const next = ({ started_at, id }: Pick<ColumnRow, 'started_at' | 'id'>) =>
      snapshot.all<ColumnRow>(statement, orgRow, flowRow, started_at, id, to)
    const slices = new TimeSlices(true)
    const rows = pages(next, { started_at: from, id: -1 }, pageRows)
    for await (const slice of inSlices(rows, sliceRuns, slices)) {
      const runs = slice.map(row => columnRunOf(row, this.hash))
      yield* columnsOfRuns(runs, positions, beside)
    }
  }
}
