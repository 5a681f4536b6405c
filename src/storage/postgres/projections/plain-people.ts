import { least, mergeRuns, type RunState, versionAt } from '../../../core/run/run.ts'
import type { PersonInFlow } from '../../sqlite/checklists/checklist-progress.ts'
import type { Fact, HistoryOf } from '../../sqlite/projections/facts.ts'
import { type JoinedRun, personOfFact } from '../../sqlite/projections/joined-facts.ts'
import { isSame, ownRun, ownStateOf, type StoredRun } from '../../sqlite/runs/stored-run.ts'
import type { MovedTable, Row, RowChange } from '../rows/tables.ts'
import type { RunNumbers } from './scratch.ts'

/** Which people are plain: all who are not entangled. */
export interface PlainState {
  /** By `nameIn`. */
  entangled: ReadonlySet<string>
  /** Runs of plain people that are involved and already stored. */
  runs: readonly StoredRun[]
}

/** One name for a flow and a person in it, or a flow and the key of a run. */
export const nameIn = (flowRow: number, of: string) => `${flowRow} ${of}`

/**
 * Projects events without a scratch, for people for whom nothing counts in a flow but what their runs' own
 * events say. Most people are plain in this way. A run's row is joined with what its new events say, and the
 * first report of a person stands. Others are entangled: with somebody who is in the same run, or by ticks and
 * events without a run.
 */
export class PlainPeople {
  private readonly runs: Map<string, StoredRun>
  private readonly changed = new Map<string, StoredRun>()
  private readonly completions = new Map<string, Row & { reported_at: number }>()
  private readonly heldOut = new Map<string, Row & { at: number }>()

  constructor(
    private readonly state: PlainState,
    private readonly historyOf: HistoryOf,
    private readonly numbers: RunNumbers,
  ) {
    this.runs = new Map(state.runs.map(run => [nameIn(run.flow_id, run.run_key), run]))
  }

  has(flowRow: number, person: string): boolean {
    return !this.state.entangled.has(nameIn(flowRow, person))
  }

  /** See `Projector.projectJoined`. */
  projectJoined(runs: readonly JoinedRun[], others: readonly Fact[]): PersonInFlow[] {
    const completers: PersonInFlow[] = []
    for (const run of runs) this.join(run)
    for (const fact of others) {
      if (fact.kind === 'flow_completed') completers.push(this.complete(fact))
      if (fact.kind === 'flow_held_out') this.holdOut(fact)
    }
    return completers
  }

  /** @param tables by their names */
  changes(tables: ReadonlyMap<string, MovedTable>): RowChange[] {
    const runs = [...this.changed.values()].map(run => ({ ...run, has_loose: 0 }))
    const of = (name: string, rows: Iterable<Row>) => {
      const table = tables.get(name)!
      return Array.from(rows, content => ({ table, key: content, content }))
    }
    return [
      ...of('runs', runs),
      ...of('completions', this.completions.values()),
      ...of('held_out', this.heldOut.values()),
    ]
  }

  private join({ orgRow, flowRow, key, person, state }: JoinedRun): void {
    const name = nameIn(flowRow, key)
    const stored = this.runs.get(name)
    const own: RunState = stored ? mergeRuns(state, ownStateOf(stored)) : state
    const version = own.namedVersion ?? this.versionAt(orgRow, flowRow, own.startedAt)
    const names = stored ?? {
      ...{ id: this.numbers.next(), org_id: orgRow, flow_id: flowRow, run_key: key, person },
    }
    const run = ownRun(names, own, version)
    if (stored && run.started_at === stored.started_at && isSame(stored, run)) return
    this.runs.set(name, run)
    this.changed.set(name, run)
  }

  private complete(fact: Fact): PersonInFlow {
    const { orgRow, flowRow, occurredAt } = fact
    const person = personOfFact(fact)
    const name = nameIn(flowRow, person)
    const reportedAt = least(this.completions.get(name)?.reported_at ?? null, occurredAt)!
    const row = { org_id: orgRow, flow_id: flowRow, person, reported_at: reportedAt }
    this.completions.set(name, row)
    return { orgRow, flowRow, person }
  }

  /** Counts for the version that the event names, or else for the one that was published then. */
  private holdOut(fact: Fact): void {
    const { orgRow, flowRow, flowVersion, occurredAt } = fact
    const version = flowVersion ?? this.versionAt(orgRow, flowRow, occurredAt)
    const person = personOfFact(fact)
    const name = nameIn(flowRow, `${version} ${person}`)
    const at = least(this.heldOut.get(name)?.at ?? null, occurredAt)!
    this.heldOut.set(name, { org_id: orgRow, flow_id: flowRow, person, version, at })
  }

  private versionAt(orgRow: number, flowRow: number, at: number): number {
    return versionAt(this.historyOf(orgRow, flowRow).versions, at)
  }
}
