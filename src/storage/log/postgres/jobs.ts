import type { NodeState } from '../../shared/node-state.ts'
import { maxApartMs } from '../log.ts'
import type { Queries } from './connection.ts'

/**
 * Takes a job that one node does at a time, or goes on holding it. The job is free once its time has run out by
 * PostgreSQL's clock, so a node that died keeps it for no longer than that.
 *
 * @param holder the node's id
 * @param forMs for how long, milliseconds; to be renewed well before that
 * @returns how often others have asked for it to be done soon; null if another node holds it
 */
export async function takeJob(
  queries: Queries,
  name: string,
  holder: string,
  forMs: number,
): Promise<number | null> {
  const held = await queries.get<{ asked: number }>(
    `insert into cairn_jobs (name, holder, until)
    values ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
    on conflict (name) do update set holder = excluded.holder, until = excluded.until
    where cairn_jobs.holder = excluded.holder or cairn_jobs.until < clock_timestamp()
    returning asked`,
    name,
    holder,
    forMs,
  )
  return held?.asked ?? null
}

/** Gives a job up, or all that a node holds, so that another need not wait for its time to run out. */
export async function releaseJobs(queries: Queries, holder: string, name?: string): Promise<void> {
  await queries.run(
    'delete from cairn_jobs where holder = $1 and name = coalesce($2, name)',
    holder,
    name ?? null,
  )
}

/** A node whose clock is ahead would delete what others still keep. */
export const mayGoByTime = ({ clockAhead }: Pick<NodeState, 'clockAhead'>): boolean =>
  Math.abs(clockAhead ?? 0) <= maxApartMs

/** Asks whichever node holds a job to do it soon. */
export async function askForJob(queries: Queries, name: string): Promise<void> {
  await queries.run('update cairn_jobs set asked = asked + 1 where name = $1', name)
}
