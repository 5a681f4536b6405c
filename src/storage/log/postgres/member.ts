import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { dayMs } from '../../../core/time/durations.ts'
import type { NodeList } from '../../interfaces/operations.ts'
import type { NodeState } from '../../shared/node-state.ts'
import { type Member, maxApartMs } from '../log.ts'
import type { Queries } from './connection.ts'
import {
  apart,
  defaultLease,
  graceMs,
  type LeasePolicy,
  namesBehind,
  nodesSeen,
  othersKnow,
} from './nodes.ts'

/** How often to look whether other nodes have erased somebody, milliseconds. */
const lookMs = 100

/** How long a job is held without being renewed, milliseconds. */
const jobMs = 15_000

/** How many renewals there are between two looks at the database, and after how long a silent node is forgotten. */
const turnsBetweenLooks = 12
const forgetAfterMs = dayMs

interface NodeOptions {
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
  state: NodeState
  /** Whether others wait for it; not so for a command. */
  isCounted?: boolean
}

/**
 * This process among the nodes of a cluster. While its lease runs, and for a while after, whoever changes the
 * catalogue assumes that this node may still answer from the old state. Other nodes go by PostgreSQL's clock. The
 * node itself counts from before its request, and so it stops earlier than they assume.
 */
export class Node implements Member {
  private readonly id = randomUUID().replaceAll('-', '')
  private readonly lease: LeasePolicy
  private readonly state: NodeState
  private tookUp = 0
  /** Up to where all erasures and rebuilds are carried out here. */
  private erased = 0
  /** The last change taken up that other nodes know about. */
  private reported = 0
  private telling: Promise<void> | null = null
  /** The change that it must know before it answers, because nobody may have waited for it until then. */
  private mustKnow = Number.POSITIVE_INFINITY
  /** The last change that this node itself has made, and the last of these that all nodes know. */
  private made = 0
  private settled = 0
  private readonly stopping = new AbortController()
  private renewing: Promise<void> | null = null

  constructor(private readonly options: NodeOptions) {
    this.lease = options.lease ?? defaultLease
    this.state = options.state
    this.state.leasedUntil = Number.NEGATIVE_INFINITY
    this.state.answersUntil = Number.NEGATIVE_INFINITY
  }

  private get isCounted(): boolean {
    return this.options.isCounted ?? true
  }

  /** Registers, and renews the lease from now on. */
  async join(): Promise<void> {
    if (!this.isCounted) return
    await this.renew()
    this.renewing = this.keepRenewing()
  }

  private get isLeased(): boolean {
    return this.options.monotonic() < this.state.leasedUntil
  }

  knows(seq: number, isChange: boolean): void {
    this.tookUp = Math.max(this.tookUp, seq)
    this.state.tookUp = this.tookUp
    if (!this.isCounted) return
    const mayAnswer = this.options.monotonic() < this.state.answersUntil
    // It is known whether or not this fails: the next renewal tells.
    if (isChange || !mayAnswer) this.tell().catch(() => {})
  }

  async othersKnow(seq: number): Promise<void> {
    this.made = Math.max(this.made, seq)
    const isKnown = await othersKnow(this.options.queries, seq, this.lease)
    if (isKnown) this.settled = Math.max(this.settled, seq)
  }

  hasDone(seq: number, isWaitedFor: boolean): void {
    this.erased = seq
    // The next renewal tells, too.
    if (this.isCounted && isWaitedFor) this.renew().catch(() => {})
  }

  async othersHaveDone(seq: number): Promise<void> {
    if (this.isCounted) await this.renew()
    for (;;) {
      const behind = await this.options.queries.get(
        'select from cairn_nodes where erased < $1 and lease_until > clock_timestamp() limit 1',
        seq,
      )
      if (behind === null) return
      await Bun.sleep(lookMs)
    }
  }

  /** A job is free once its time has run out by PostgreSQL's clock, so a node that died keeps it for no longer. */
  async holds(job: string): Promise<boolean> {
    // A node whose clock is ahead would delete what others still keep.
    const mayGoByTime = Math.abs(this.state.clockAhead ?? 0) <= maxApartMs
    if (!this.isCounted || !mayGoByTime) return false
    const held = await this.options.queries.run(
      `insert into cairn_jobs (name, holder, until)
      values ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
      on conflict (name) do update set holder = excluded.holder, until = excluded.until
      where cairn_jobs.holder = excluded.holder or cairn_jobs.until < clock_timestamp()`,
      job,
      this.id,
      jobMs,
    )
    return held === 1
  }

  async releases(job: string): Promise<void> {
    await this.options.queries.run(
      'delete from cairn_jobs where holder = $1 and name = $2',
      this.id,
      job,
    )
  }

  all(): Promise<NodeList> {
    return nodesSeen(this.options.queries)
  }

  async behind(): Promise<readonly string[]> {
    const { made, settled, lease } = this
    return made <= settled ? [] : namesBehind(this.options.queries, made, lease)
  }

  /** When it was last found that nothing is left to take up, by the monotonic clock. */
  set followedAt(moment: number) {
    this.state.followedAt = moment
  }

  /** Tells those who wait for this node what it has taken up; does nothing if they know. */
  private async tell(): Promise<void> {
    while (this.reported < this.tookUp) {
      this.telling ??= this.renew().finally(() => {
        this.telling = null
      })
      await this.telling
    }
  }

  /** Says that it is running. A node that had no lease must first take up what it missed. */
  private async renew(): Promise<void> {
    const { queries, name, release, schema, startedAt, monotonic, now } = this.options
    const { state, lease, tookUp } = this
    const [sentAt, sentAtByWall] = [monotonic(), now?.()]
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
    this.reported = Math.max(this.reported, tookUp)
    const tookMs = monotonic() - sentAt
    if (!this.isLeased) {
      // In a statement of its own: whoever makes a change after it sees the lease, and waits for this node.
      const clock = await queries.get<{ seq: number }>('select seq from cairn_clock')
      this.mustKnow = clock!.seq
    }
    // The node may have left meanwhile.
    if (this.stopping.signal.aborted) return
    state.leasedUntil = Math.max(state.leasedUntil, sentAt + lease.leaseMs)
    if (this.tookUp >= this.mustKnow) state.answersUntil = state.leasedUntil + graceMs
    state.nodes = seen.nodes
    state.connections = seen.connections
    if (sentAtByWall !== undefined) state.clockAhead = apart(sentAtByWall, seen.at, tookMs)
  }

  /** Measures the database, and deletes rows of nodes that were killed long ago. */
  private async lookAround(): Promise<void> {
    const { queries } = this.options
    const size = await queries.get<{ bytes: number }>(
      'select pg_database_size(current_database())::float8 as bytes',
    )
    this.state.databaseBytes = size!.bytes
    await queries.run(
      `delete from cairn_nodes where lease_until < clock_timestamp() - $1 * interval '1 millisecond'`,
      forgetAfterMs,
    )
  }

  /** Leaves the cluster, so that nobody waits for this node, or for the time of its jobs to run out. */
  async leave(): Promise<void> {
    if (!this.isCounted) return
    this.stopping.abort()
    this.state.leasedUntil = Number.NEGATIVE_INFINITY
    this.state.answersUntil = Number.NEGATIVE_INFINITY
    await this.renewing
    const { queries } = this.options
    await queries.run('delete from cairn_jobs where holder = $1', this.id)
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
