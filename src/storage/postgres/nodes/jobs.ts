import type { NodeBoard } from '../../shared/node-board.ts'
import type { Queries } from '../database/connection.ts'

/**
 * Takes a job that one node does at a time, or goes on holding it. It is free once its time has run out by
 * PostgreSQL's clock, so a node that died keeps it for no longer than that.
 *
 * @param holder the node's id
 * @param forMs for how long; to be renewed well before
 * @returns how often others have asked for it to be done soon; null where it is another's
 */
async function takeJob(
  queries: Queries,
  name: string,
  holder: string,
  forMs: number,
): Promise<number | null> {
  const held = await queries.get<{ asked: number }>(
    `insert into jobs (name, holder, until)
    values ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
    on conflict (name) do update set holder = excluded.holder, until = excluded.until
    where jobs.holder = excluded.holder or jobs.until < clock_timestamp()
    returning asked`,
    name,
    holder,
    forMs,
  )
  return held?.asked ?? null
}

/** As `takeJob`, where nobody asks for it. @returns whether it is the holder's now */
export const holdJob = async (...args: Parameters<typeof takeJob>): Promise<boolean> =>
  (await takeJob(...args)) !== null

/** Gives a job up, or all that a node holds, so that another need not wait for its time to run out. */
export async function releaseJobs(queries: Queries, holder: string, name?: string): Promise<void> {
  await queries.run(
    'delete from jobs where holder = $1 and name = coalesce($2, name)',
    holder,
    name ?? null,
  )
}

/**
 * How far a node's clock may be from PostgreSQL's for it to do what goes by the time, milliseconds: one that is
 * ahead would delete what others still keep.
 */
const mostApartMs = 60_000

export const mayGoByTime = ({ clockAhead }: Pick<NodeBoard, 'clockAhead'>): boolean =>
  Math.abs(clockAhead ?? 0) <= mostApartMs

/** How long a job is held without a further word, milliseconds. */
const heldMs = 15_000

/** A job that is done from the node's copy by one node at a time, as one of them takes part in it. */
export class SharedJob {
  private since: number | null = null
  private asked = 0

  /** @param monotonic of the clock that the board is written by */
  constructor(
    private readonly queries: Queries,
    private readonly name: string,
    private readonly board: Pick<NodeBoard, 'id' | 'followedAt' | 'clockAhead'>,
    private readonly monotonic: () => number,
  ) {}

  /**
   * Takes it, or goes on holding it. To be called every second or so.
   *
   * @returns whether it is to be done soon: it has just come to this node, or another has asked for it
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

  /** Whether it is this node's, and the copy tells of all that the one before has done. */
  get isOurs(): boolean {
    return this.since !== null && this.board.followedAt >= this.since
  }

  /** Has whoever holds it do it soon. */
  async ask(): Promise<void> {
    await this.queries.run('update jobs set asked = asked + 1 where name = $1', this.name)
  }

  release(): Promise<void> {
    this.since = null
    return releaseJobs(this.queries, this.board.id, this.name)
  }
}
