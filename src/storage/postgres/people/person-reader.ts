import { personOf } from '../../../core/event/event.ts'
import type { PersonIds } from '../../../core/event/stored-event.ts'
import type { FlowHistory } from '../../../core/flow/decision.ts'
import { historyOf, type PastRun } from '../../../core/run/past-run.ts'
import { Readers } from '../../sqlite/readers.ts'
import { mostPastRuns } from '../../sqlite/runs/past-runs.ts'
import type { Queries } from '../database/connection.ts'
import { Scratch } from '../projections/scratch.ts'
import { readCaused, readProgress, type State } from '../projections/state.ts'
import { arrayOf } from '../rows/arrays.ts'

/** A person's runs in flows, as `pastRunsReader` reads them. */
const pastRuns = `select k.flow_id, r.* from unnest($2::text::bigint[]) as k (flow_id)
  cross join lateral (
    select run_key as key, started_at as "startedAt", completed_at as "completedAt",
      dismissed_at as "dismissedAt"
    from runs where org_id = $1 and flow_id = k.flow_id and person = $3
    order by started_at desc limit ${mostPastRuns}
  ) r`

/** What is kept of one person, as their browser asks for it, read by the same code as in a server alone. */
export class PersonReader {
  private readonly scratch: Scratch
  private readonly readers: Readers

  constructor(private readonly queries: Queries) {
    this.scratch = new Scratch(() => ({ versions: [] }), {
      next() {
        throw new Error('Nothing is written here')
      },
    })
    this.readers = new Readers(this.scratch.database)
  }

  async progress(orgRow: number, flowRow: number, ids: PersonIds) {
    const person = personOf(ids.userId, ids.anonymousId)
    const rows = await readProgress(this.queries, [{ org_id: orgRow, flow_id: flowRow, person }])
    return this.read([rows], () => this.readers.progress(orgRow, flowRow, ids))
  }

  async histories(
    orgRow: number,
    flowRows: readonly number[],
    { userId, anonymousId }: PersonIds,
  ): Promise<ReadonlyMap<number, FlowHistory>> {
    const runs = await this.queries.all<PastRun & { flow_id: number }>(
      pastRuns,
      ...[orgRow, arrayOf(flowRows), personOf(userId, anonymousId)],
    )
    const runsOf = Map.groupBy(runs, ({ flow_id }) => flow_id)
    return new Map(runsOf.entries().map(([flowRow, own]) => [flowRow, historyOf(own)]))
  }

  async caused(orgRow: number, ids: PersonIds) {
    const person = personOf(ids.userId, ids.anonymousId)
    const rows = await readCaused(this.queries, [{ org_id: orgRow, person }])
    return this.read([new Map([['caused_events', rows]])], () => this.readers.caused(orgRow, ids))
  }

  /** See `ChecklistReader.version`. It tells an erased person nothing that it does not tell others. */
  async version(orgRow: number, { userId, anonymousId }: PersonIds): Promise<string> {
    const changed = await this.queries.get<{ seq: number }>(
      'select seq from person_changes where org_id = $1 and person = $2',
      orgRow,
      personOf(userId, anonymousId),
    )
    return (changed?.seq ?? 0).toString(36)
  }

  /** Relies on the readers doing all of their work in the turn in which they are called. */
  private read<T>(states: readonly State[], read: () => Promise<T>): Promise<T> {
    let answer!: Promise<T>
    this.scratch.work(states, () => {
      answer = read()
    })
    return answer
  }
}
