import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { dayMs } from '../../../core/time/durations.ts'
import { NodeState } from '../../shared/node-state.ts'
import type { Queries } from './connection.ts'
import { releaseJobs } from './jobs.ts'

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

/** How many renewals there are between two looks at the database, and after how long a silent node is forgotten. */
const turnsBetweenLooks = 12
const forgetAfterMs = dayMs

/** A condition on a row of `nodes`: the node may still answer from what it knows. */
export const mayAnswer = `lease_until > clock_timestamp() - interval '${graceMs + marginMs} milliseconds'`

export interface NodeOptions {
  queries: Queries
  /** Shown to people. */
  name: string
  /** The version that it runs. */
  release: string
  /** The schema of its own database. */
  schema: number
  /** Epoch milliseconds. */
  startedAt: number
  /** Never steps, milliseconds. The node itself uses it to say whether its lease has run out. */
  monotonic(): number
  /** This machine's clock, to be compared with PostgreSQL's. Left out if a test moves it. */
  now?: (() => number) | undefined
  lease?: LeasePolicy
  /** Where this process sees the node's state. */
  board?: NodeState
  /** Whether others wait for it; not so for a command. */
  isCounted?: boolean
  /** Is called after each renewal. The board has the results. */
  onRenewed?(): void
}

/**
 * This process among the nodes of a cluster. While its lease runs, and for a while after, whoever changes the
 * catalogue assumes that this node may still answer from the old state. Other nodes go by PostgreSQL's clock. The
 * node itself counts from before it asked, and so it stops earlier than they assume.
 */
export class ClusterNode {
  readonly id = randomUUID().replaceAll('-', '')
  private readonly lease: LeasePolicy
  private readonly board: NodeState
  private tookUp = 0
  /** Up to where all erasures are carried out here. */
  erased = 0
  /** The last change taken up that the database knows about. */
  private told = 0
  private telling: Promise<void> | null = null
  /** The change that it must know before it answers, because nobody may have waited for it until then. */
  private mustKnow = Number.POSITIVE_INFINITY
  private readonly stopping = new AbortController()
  private renewing: Promise<void> | null = null

  constructor(private readonly options: NodeOptions) {
    this.lease = options.lease ?? defaultLease
    this.board = options.board ?? new NodeState()
    this.board.leasedUntil = Number.NEGATIVE_INFINITY
    this.board.answersUntil = Number.NEGATIVE_INFINITY
  }

  /** Registers, and renews the lease from now on. */
  async join(): Promise<void> {
    await this.renew()
    this.renewing = this.keepRenewing()
  }

  /** Whether it may answer from what it knows of the catalogue. */
  get isCurrent(): boolean {
    return this.options.monotonic() < this.board.answersUntil
  }

  private get isLeased(): boolean {
    return this.options.monotonic() < this.board.leasedUntil
  }

  /** The whole node knows about a change now. */
  takeUp(change: number): void {
    this.tookUp = Math.max(this.tookUp, change)
    this.board.tookUp = this.tookUp
  }

  /** Tells those who wait for this node what it has taken up; does nothing if they know. */
  async tell(): Promise<void> {
    while (this.told < this.tookUp) {
      this.telling ??= this.renew().finally(() => {
        this.telling = null
      })
      await this.telling
    }
  }

  /** Says that it is running. A node that had no lease must first take up what it missed. */
  async renew(): Promise<void> {
    const { queries, name, release, schema, startedAt, monotonic, now } = this.options
    const { board, lease, tookUp } = this
    const [askedAt, askedAtByWall] = [monotonic(), now?.()]
    const seen = (await queries.get<{ nodes: number; connections: number; at: number }>(
      `insert into cairn_nodes (id, name, release, schema, started_at, took_up, erased, lease_until)
      values ($1, $2, $3, $4, $5, $6, $8, clock_timestamp() + $7 * interval '1 millisecond')
      on conflict (id) do update set
        took_up = greatest(cairn_nodes.took_up, excluded.took_up),
        erased = excluded.erased, lease_until = excluded.lease_until
      returning
        (select count(*) + 1 from cairn_nodes as other
          where other.id <> $1 and other.lease_until > clock_timestamp())::float8 as nodes,
        (select sum(numbackends) from pg_stat_database)::float8 as connections,
        (extract(epoch from clock_timestamp()) * 1000)::float8 as at`,
      this.id,
      name,
      release,
      schema,
      startedAt,
      tookUp,
      lease.leaseMs,
      this.erased,
    ))!
    this.told = Math.max(this.told, tookUp)
    const tookMs = monotonic() - askedAt
    if (!this.isLeased) {
      // In a statement of its own: whoever makes a change after it sees the lease, and waits for this node.
      const clock = await queries.get<{ seq: number }>('select seq from cairn_clock')
      this.mustKnow = clock!.seq
    }
    // The node may have left meanwhile.
    if (this.stopping.signal.aborted) return
    board.leasedUntil = Math.max(board.leasedUntil, askedAt + lease.leaseMs)
    if (this.tookUp >= this.mustKnow) board.answersUntil = board.leasedUntil + graceMs
    board.nodes = seen.nodes
    board.connections = seen.connections
    if (askedAtByWall !== undefined) board.clockAhead = apart(askedAtByWall, seen.at, tookMs)
    this.options.onRenewed?.()
  }

  /** Measures the database, and deletes rows of nodes that were killed long ago. */
  private async lookAround(): Promise<void> {
    const { queries } = this.options
    const size = await queries.get<{ bytes: number }>(
      'select pg_database_size(current_database())::float8 as bytes',
    )
    this.board.databaseBytes = size!.bytes
    await queries.run(
      `delete from cairn_nodes where lease_until < clock_timestamp() - $1 * interval '1 millisecond'`,
      forgetAfterMs,
    )
  }

  /** Leaves the cluster, so that nobody waits for this node. */
  async leave(): Promise<void> {
    this.stopping.abort()
    this.board.leasedUntil = Number.NEGATIVE_INFINITY
    this.board.answersUntil = Number.NEGATIVE_INFINITY
    await this.renewing
    const { queries } = this.options
    await releaseJobs(queries, this.id)
    await queries.run('delete from cairn_nodes where id = $1', this.id)
  }

  private async keepRenewing(): Promise<void> {
    const { signal } = this.stopping
    for (let turn = 0; !signal.aborted; turn++) {
      if (turn % turnsBetweenLooks === 0) this.lookAround().catch(() => {})
      await sleep(this.lease.renewMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
      // A renewal that hangs is not waited for, because the next one may get a connection that works.
      // One that fails shows: the lease runs out, and `follow` reports the same database.
      const renewal = this.renew().catch(() => {})
      await Promise.race([
        renewal,
        sleep(this.lease.leaseMs, undefined, { signal, ref: false }),
      ]).catch(() => {})
    }
  }
}

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
