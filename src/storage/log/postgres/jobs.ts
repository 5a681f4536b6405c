import type { NodeBoard } from '../../shared/node-board.ts'
import type { Queries } from './connection.ts'

/**
 * Takes a job that one node does at a time, or goes on holding it. The job is free once its time has run out by
 * PostgreSQL's clock, so a node that died keeps it for no longer than that.
 *
 * @param holder the node's id
 * @param forMs for how long, milliseconds; to be renewed well before that
 * @returns how often others have asked for it to be done soon; null if another node holds it
 */
async function takeJob(
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

/** As `takeJob`, for a job that nobody asks for. @returns whether the holder has it now */
export const holdJob = async (...args: Parameters<typeof takeJob>): Promise<boolean> =>
  (await takeJob(...args)) !== null

/** Gives a job up, or all that a node holds, so that another need not wait for its time to run out. */
export async function releaseJobs(queries: Queries, holder: string, name?: string): Promise<void> {
  await queries.run(
    'delete from cairn_jobs where holder = $1 and name = coalesce($2, name)',
    holder,
    name ?? null,
  )
}

/**
 * How far a node's clock may be from PostgreSQL's if the node is to do what depends on the time, milliseconds:
 * one that is ahead would delete what others still keep.
 */
const mostApartMs = 60_000

export const mayGoByTime = ({ clockAhead }: Pick<NodeBoard, 'clockAhead'>): boolean =>
  Math.abs(clockAhead ?? 0) <= mostApartMs

/** How long a job is held without being renewed, milliseconds. */
const heldMs = 15_000

/** One node's part in a job that is done by one node at a time, from the node's copy. */
export class SharedJob {
  private since: number | null = null
  private asked = 0

  /** @param monotonic the time by the clock that the board is written with */
  constructor(
    private readonly queries: Queries,
    private readonly name: string,
    private readonly board: Pick<NodeBoard, 'id' | 'followedAt' | 'clockAhead'>,
    private readonly monotonic: () => number,
  ) {}

  /**
   * Takes the job, or goes on holding it. To be called every second or so.
   *
   * @returns whether it is to be done soon, because it has just come to this node or another has asked for it
   */
  async hold(): Promise<boolean> {
    const asked = mayGoByTime(this.board)
      ? await takeJob(this.queries, this.name, this.board.id, heldMs).catch(() => null)
      : null
    if (asked === null) {
      this.since = null
      return false
    }
    const isSoon = this.since === null || asked > this.asked
    this.since ??= this.monotonic()
    this.asked = asked
    return isSoon
  }

  /** Whether this node holds it, and the copy has everything that the holder before has done. */
  get isOurs(): boolean {
    return this.since !== null && this.board.followedAt >= this.since
  }

  /** Asks the holder to do the job soon. */
  async ask(): Promise<void> {
    await this.queries.run('update cairn_jobs set asked = asked + 1 where name = $1', this.name)
  }

  release(): Promise<void> {
    this.since = null
    return releaseJobs(this.queries, this.board.id, this.name)
  }
}
