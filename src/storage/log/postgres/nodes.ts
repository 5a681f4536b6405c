import type { Queries } from './connection.ts'

/** How long a node counts as running after it was last heard from, and how often it renews; milliseconds. */
export interface LeasePolicy {
  leaseMs: number
  renewMs: number
}

export const defaultLease: LeasePolicy = { leaseMs: 15_000, renewMs: 5_000 }

/**
 * How long a node goes on answering from what it knows after its lease has run out, milliseconds: the database
 * may be down for a moment, and it is best to show flows meanwhile.
 */
export const graceMs = 30_000

/** How much longer others assume that it may answer, milliseconds, because clocks do not run equally fast. */
const marginMs = 1_000

/** A condition on a row of `nodes`: the node may still answer from what it knows. */
const mayAnswer = `lease_until > clock_timestamp() - interval '${graceMs + marginMs} milliseconds'`

/** At least how far a clock is ahead of another one, which was read within some time after it; milliseconds. */
export function apart(before: number, other: number, withinMs: number): number {
  const [least, most] = [before - other, before + withinMs + 1 - other]
  return least > 0 ? least : Math.min(0, most)
}

/** A node that does not know about a change yet. */
export interface NodeBehind {
  name: string
  tookUp: number
  /** Whether it was heard from lately, so that it may take up the change at any moment. */
  isHeard: boolean
}

/**
 * The nodes that may still answer from before a change of the catalogue, by name: those whose lease runs, or ran
 * out so recently that they go on without one.
 */
export const nodesBehind = (
  queries: Queries,
  change: number,
  { leaseMs, renewMs } = defaultLease,
): Promise<NodeBehind[]> =>
  queries.all<NodeBehind>(
    `select name, took_up as "tookUp",
      lease_until > clock_timestamp() + $2 * interval '1 millisecond' as "isHeard"
    from cairn_nodes
    where took_up < $1 and ${mayAnswer}
    order by name, id`,
    change,
    Math.max(0, leaseMs - 2 * renewMs),
  )
