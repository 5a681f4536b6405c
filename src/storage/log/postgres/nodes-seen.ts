import type { NodeSeen, NodesSeen } from '../../../modules/operations/port.ts'
import type { Queries } from './connection.ts'
import { defaultLease } from './nodes.ts'

/**
 * All nodes that were heard from lately, by name, with the jobs that each holds; by PostgreSQL's clock. A node
 * whose place another of the same name has taken is left out.
 */
export async function nodesSeen(queries: Queries): Promise<NodesSeen> {
  const rows = await queries.all<Omit<NodeSeen, 'jobs'> & { jobs: string }>(
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
  return {
    change: clock!.changed,
    nodes: rows.map(({ jobs, ...node }) => ({
      ...node,
      change: Math.min(node.change, clock!.changed),
      jobs: JSON.parse(jobs),
    })),
  }
}
