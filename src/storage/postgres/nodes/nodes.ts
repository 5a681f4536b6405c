import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { dayMs } from '../../../core/time/durations.ts'
import { NodeBoard } from '../../shared/node-board.ts'
import type { Queries } from '../database/connection.ts'
import { schemaVersion } from '../database/migrations.ts'
import { releaseJobs } from './jobs.ts'

/** How long a node is counted as running since its last word, and how often it gives one; milliseconds. */
export interface LeasePolicy {
  leaseMs: number
  renewMs: number
}

export const defaultLease: LeasePolicy = { leaseMs: 15_000, renewMs: 5_000 }

/**
 * How long a node goes on answering by what it knows once its lease has run out, milliseconds: the database
 * may be away for a moment, and flows are best shown meanwhile.
 */
export const graceMs = 30_000

/** So much longer others count it as one that may answer: clocks do not run equally fast. */
const marginMs = 1_000

/** Of a row of `nodes`: it may still answer by what it knows. */
export const mayAnswer = `lease_until > clock_timestamp() - interval '${graceMs + marginMs} milliseconds'`

/** What a node is called that the operator gives no name. */
export const ownName = (): string => `${hostname()} ${process.pid}`

export interface NodeOptions {
  queries: Queries
  /** For people. */
  name: string
  /** The version that it runs. */
  release: string
  /** Epoch milliseconds. */
  startedAt: number
  /** Never steps, milliseconds: by it the node itself says whether its lease has run out. */
  monotonic(): number
  /** This machine's clock, to be compared with PostgreSQL's. Left out where a test moves it. */
  now?: (() => number) | undefined
  lease?: LeasePolicy
  /** Where the threads of this process see how it stands. */
  board?: NodeBoard
  /** Is told why a renewal has failed; the next one follows anyway. */
  onFault?(error: unknown): void
  /** Is told after each renewal; the board says what of. */
  onRenewed?(): void
}

/** A node as others see it. */
export interface LiveNode {
  id: string
  name: string
  release: string
  startedAt: number
  /** The last change of the catalogue that all of it knows of. */
  tookUp: number
}

/**
 * This process among the nodes of a cluster. While its lease runs, and for a while after it, whoever changes
 * the catalogue counts it as one that may answer by what was before. PostgreSQL's clock decides for others;
 * the node itself counts from before it asked, and so stops earlier than they do.
 */
export class ClusterNode {
  readonly id = randomUUID().replaceAll('-', '')
  private readonly lease: LeasePolicy
  private readonly board: NodeBoard
  private tookUp = 0
  /** How much of that stands in the database. */
  private told = 0
  private telling: Promise<void> | null = null
  /** The change that it must know of before it answers: nobody may have waited for it until then. */
  private mustKnow = Number.POSITIVE_INFINITY
  private readonly stopping = new AbortController()
  private renewing: Promise<void> | null = null

  constructor(private readonly options: NodeOptions) {
    this.lease = options.lease ?? defaultLease
    this.board = options.board ?? new NodeBoard(NodeBoard.memory())
    this.board.id = this.id
    this.board.leasedUntil = Number.NEGATIVE_INFINITY
    this.board.answersUntil = Number.NEGATIVE_INFINITY
  }

  /** Registers, and renews the lease from now on. */
  async join(): Promise<void> {
    await this.renew()
    this.renewing = this.keepRenewing()
  }

  /** Whether it may answer by what it knows of the catalogue. */
  get isCurrent(): boolean {
    return this.options.monotonic() < this.board.answersUntil
  }

  private get isLeased(): boolean {
    return this.options.monotonic() < this.board.leasedUntil
  }

  /** All of it knows of a change now. */
  takeUp(change: number): void {
    this.tookUp = Math.max(this.tookUp, change)
    this.board.tookUp = this.tookUp
  }

  /** Tells those who wait for it what it has taken up; nothing where they know. */
  async tell(): Promise<void> {
    while (this.told < this.tookUp) {
      this.telling ??= this.renew().finally(() => {
        this.telling = null
      })
      await this.telling
    }
  }

  /** Says that it is running. What has gone by while it had no lease is to be taken up first. */
  async renew(): Promise<void> {
    const { queries, name, release, startedAt, monotonic, now } = this.options
    const { board, lease, tookUp } = this
    const [askedAt, askedAtByWall] = [monotonic(), now?.()]
    const seen = (await queries.get<{ nodes: number; connections: number; at: number }>(
      `insert into nodes (id, name, release, schema, started_at, took_up, lease_until)
      values ($1, $2, $3, $4, $5, $6, clock_timestamp() + $7 * interval '1 millisecond')
      on conflict (id) do update set
        took_up = greatest(nodes.took_up, excluded.took_up), lease_until = excluded.lease_until
      returning
        (select count(*) + 1 from nodes as other
          where other.id <> $1 and other.lease_until > clock_timestamp())::float8 as nodes,
        (select sum(numbackends) from pg_stat_database)::float8 as connections,
        (extract(epoch from clock_timestamp()) * 1000)::float8 as at`,
      this.id,
      name,
      release,
      schemaVersion,
      startedAt,
      tookUp,
      lease.leaseMs,
    ))!
    this.told = Math.max(this.told, tookUp)
    const tookMs = monotonic() - askedAt
    if (!this.isLeased) {
      // In a statement of its own: who makes a change after it sees the lease, and waits for this node.
      const clock = await queries.get<{ seq: number }>('select seq from catalogue_clock')
      this.mustKnow = clock!.seq
    }
    // It may have left meanwhile.
    if (this.stopping.signal.aborted) return
    board.leasedUntil = Math.max(board.leasedUntil, askedAt + lease.leaseMs)
    if (this.tookUp >= this.mustKnow) board.answersUntil = board.leasedUntil + graceMs
    board.nodes = seen.nodes
    board.connections = seen.connections
    if (askedAtByWall !== undefined) board.clockAhead = apart(askedAtByWall, seen.at, tookMs)
    this.options.onRenewed?.()
  }

  /** Nobody waits for it any more. */
  async leave(): Promise<void> {
    this.stopping.abort()
    this.board.leasedUntil = Number.NEGATIVE_INFINITY
    this.board.answersUntil = Number.NEGATIVE_INFINITY
    await this.renewing
    const { queries } = this.options
    await releaseJobs(queries, this.id)
    await queries.run('delete from nodes where id = $1', this.id)
  }

  private async keepRenewing(): Promise<void> {
    const { signal } = this.stopping
    while (!signal.aborted) {
      await sleep(this.lease.renewMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
      // One that hangs is not waited for: the next may get a connection that works.
      const renewal = this.renew().catch(error => this.options.onFault?.(error))
      await Promise.race([
        renewal,
        sleep(this.lease.leaseMs, undefined, { signal, ref: false }),
      ]).catch(() => {})
    }
  }
}

/** How far a clock is ahead of another one, at least, that was read within some time after it; milliseconds. */
export function apart(before: number, other: number, withinMs: number): number {
  const [least, most] = [before - other, before + withinMs + 1 - other]
  return least > 0 ? least : Math.min(0, most)
}

/** The nodes that are running, by name. Rows of those that went without a word are deleted after a day. */
export async function liveNodes(queries: Queries, forgetAfterMs = dayMs): Promise<LiveNode[]> {
  await queries.run(
    `delete from nodes where lease_until < clock_timestamp() - $1 * interval '1 millisecond'`,
    forgetAfterMs,
  )
  return queries.all<LiveNode>(
    `select id, name, release, started_at as "startedAt", took_up as "tookUp" from nodes
    where lease_until > clock_timestamp() order by name, id`,
  )
}

/** A node that does not know of a change yet. */
export interface NodeBehind {
  name: string
  tookUp: number
  /** Whether it has given a word of late, and so may take it up at any moment. */
  isHeard: boolean
}

/**
 * The nodes that may still answer by what was before a change of the catalogue, by name: those whose lease
 * runs, or has run out so lately that they go on without one.
 */
export const nodesBehind = (
  queries: Queries,
  change: number,
  { leaseMs, renewMs } = defaultLease,
): Promise<NodeBehind[]> =>
  queries.all<NodeBehind>(
    `select name, took_up as "tookUp",
      lease_until > clock_timestamp() + $2 * interval '1 millisecond' as "isHeard"
    from nodes
    where took_up < $1 and ${mayAnswer}
    order by name, id`,
    change,
    Math.max(0, leaseMs - 2 * renewMs),
  )
