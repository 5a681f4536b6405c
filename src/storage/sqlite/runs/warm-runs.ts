import type { StoredRun } from './stored-run.ts'

/**
 * Runs of a generation, a kilobyte or less each; two generations are kept. With more, the garbage collector
 * has more to go through, and any other run is read by its row in a few microseconds.
 */
const mostOfGeneration = 8_192

/** By flow, then by key, because a text of both would have to be made, and hashed, for each lookup. */
type Generation = Map<number, Map<string, StoredRun>>

/**
 * A text of its own. A text cut from a message would keep all of the message in memory: other people's
 * events, up to a megabyte.
 */
const copied = (text: string | null) => (text === null ? null : Buffer.from(text).toString())

/** Runs as they are stored: those that were read or written last. */
export class WarmRuns {
  private young: Generation = new Map()
  private old: Generation = new Map()
  private youngSize = 0

  get(orgRow: number, flowRow: number, key: string): StoredRun | null {
    const run = this.young.get(flowRow)?.get(key) ?? this.old.get(flowRow)?.get(key)
    return run?.org_id === orgRow ? run : null
  }

  keep(run: StoredRun): void {
    const known = this.get(run.org_id, run.flow_id, run.run_key)
    // The other texts of a run were put together, or come from the database.
    for (const name of ['least_user_id', 'least_anonymous_id'] as const) {
      run[name] = known?.[name] === run[name] ? known[name] : copied(run[name])
    }
    let ofFlow = this.young.get(run.flow_id)
    if (!ofFlow) {
      ofFlow = new Map()
      this.young.set(run.flow_id, ofFlow)
    }
    const before = ofFlow.size
    ofFlow.set(run.run_key, run)
    this.youngSize += ofFlow.size - before
    if (this.youngSize < mostOfGeneration) return
    this.old = this.young
    this.young = new Map()
    this.youngSize = 0
  }

  /** Forgets a run, because the statement that writes it does not say all of it. */
  forget({ flow_id, run_key }: StoredRun): void {
    if (this.young.get(flow_id)?.delete(run_key)) this.youngSize--
    this.old.get(flow_id)?.delete(run_key)
  }

  clear(): void {
    this.young = new Map()
    this.old = new Map()
    this.youngSize = 0
  }
}
