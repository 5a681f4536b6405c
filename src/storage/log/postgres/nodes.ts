import { setTimeout as sleep } from 'node:timers/promises'
import type { Node, NodeList } from '../../interfaces/operations.ts'
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

/** How often to check whether all nodes have taken up a change, and for how long at most; milliseconds. */
const lookMs = 20
const patienceMs = 5_000

/** How long to wait for the database to give the names, milliseconds. */
const namesWithinMs = 1_000

/**
 * The nodes that may still answer from before a change of the catalogue, by name: those whose lease runs, or ran
 * out so recently that they go on without one.
 */
const nodesBehind = (queries: Queries, change: number, { leaseMs, renewMs }: LeasePolicy) =>
  queries.all<{ name: string; isHeard: boolean }>(
    `select name, lease_until > clock_timestamp() + $2 * interval '1 millisecond' as "isHeard"
    from cairn_nodes
    where took_up < $1 and ${mayAnswer}
    order by name, id`,
    change,
    Math.max(0, leaseMs - 2 * renewMs),
  )

/**
 * Makes a change of the catalogue wait for the other nodes before it is answered, so that every request after the
 * answer sees it.
 *
 * @returns whether all know it; false once it is no use to wait any longer, and \`namesBehind\` tells for which
 */
export async function othersKnow(
  queries: Queries,
  change: number,
  lease: LeasePolicy,
): Promise<boolean> {
  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline) {
    // However the check ends, a committed change is answered.
    const late = sleep(deadline - performance.now(), null, { ref: false })
    const lagging = nodesBehind(queries, change, lease).catch(() => null)
    const behind = await Promise.race([lagging, late])
    if (behind?.length === 0) return true
    // A node that was not heard from lately will not take up the change while somebody waits.
    if (behind && !behind.some(({ isHeard }) => isHeard)) return false
    await sleep(lookMs)
  }
  return false
}

/** The nodes that may still answer from before a change, by name; \`unknown\` if the database does not say. */
export async function namesBehind(
  queries: Queries,
  change: number,
  lease: LeasePolicy,
): Promise<string[]> {
  const unknown = ['unknown']
  const names = nodesBehind(queries, change, lease).then(behind => behind.map(({ name }) => name))
  const late = sleep(namesWithinMs, unknown, { ref: false })
  return Promise.race([names, late]).catch(() => unknown)
}

/** For this long a silent node may still answer from what it knows, so it is worth an alarm. */
const silentForMs = 60_000

interface NodeRow extends Omit<Node, 'state' | 'silentSeconds' | 'jobs'> {
  isLeased: boolean
  silentMs: number
  jobs: string
}

function stateOf({ isLeased, silentMs, change }: NodeRow, lastChange: number): Node['state'] {
  if (!isLeased) return silentMs <= silentForMs ? 'silent' : 'gone'
  return change < lastChange ? 'behind' : 'running'
}

/**
 * All nodes that were heard from lately, by name, with the jobs that each holds; by PostgreSQL's clock. A node
 * whose place another of the same name has taken is left out.
 */
export async function nodesSeen(queries: Queries): Promise<NodeList> {
  const rows = await queries.all<NodeRow>(
    `select name, release, started_at as "startedAt", took_up as change,
      lease_until > clock_timestamp() as "isLeased",
      greatest(0, extract(epoch from clock_timestamp() - lease_until) * 1000 + $1)::float8
        as "silentMs",
      (select coalesce(json_agg(cairn_jobs.name order by cairn_jobs.name), '[]')::text from cairn_jobs
        where holder = cairn_nodes.id and until > clock_timestamp()) as jobs
    from cairn_nodes
    where lease_until > clock_timestamp() or not exists (
      select 1 from cairn_nodes as other
      where other.name = cairn_nodes.name and other.lease_until > cairn_nodes.lease_until)
    order by name, started_at`,
    defaultLease.leaseMs,
  )
  const clock = await queries.get<{ changed: number }>(
    'select changed::float8 as changed from cairn_clock',
  )
  const lastChange = clock!.changed
  return {
    isShared: true,
    change: lastChange,
    nodes: rows.map(row => ({
      name: row.name,
      release: row.release,
      startedAt: row.startedAt,
      state: stateOf(row, lastChange),
      silentSeconds: Math.round(row.silentMs / 100) / 10,
      change: Math.min(row.change, lastChange),
      jobs: JSON.parse(row.jobs),
    })),
  }
}
