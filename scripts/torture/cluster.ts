import { SeededRandom } from '../../src/cli/demo/random.ts'
import { progress } from '../report/progress.ts'
import { apiOf, type Server, Workplace, withUnlimitedTour } from '../support/binary.ts'
import { FakeClock, fakeTimeLibrary } from '../support/fake-clock.ts'
import { Pgbouncer, pgbouncerProgram } from '../support/pgbouncer.ts'
import { PostgresServer } from '../support/postgres.ts'
import { isCommit, TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { Valkey, valkeyProgram } from '../support/valkey.ts'
import { tourOf } from './load/clients.ts'
import type { Tour } from './load/requests.ts'
import type { Part } from './parts.ts'
import { none } from './result.ts'

/** How long it may take until a node acknowledges again, on a busy machine; milliseconds. */
const patienceMs = 120_000

/** How long a standby hangs at most, milliseconds: longer than a node waits for a commit and then looks for it. */
const hangsForMs = 25_000

/** What became of an event that was sent. */
type Outcome = 'acknowledged' | 'rejected' | 'unknown'

/** How many clients send to each node, and how many events must be acknowledged before and after a fault. */
const clientsOfNode = 3
const eventsBefore = 20
const eventsAfter = 20

/** What people do in a run, in this order; both steps are the flow's first. */
const kinds = ['flow_started', 'step_viewed', 'step_completed', 'flow_completed'] as const

/** How many runs are under way at once. Each gets events through either node. */
const openRuns = 20

/** One in so many runs is begun by a visitor who becomes a user in the middle of it, but none of the first ones. */
const runsOfVisitor = 7
const runsOfUsers = 100

/** Stages of a commit at which a node is made to end. */
const stages = ['before_begin', 'between_rows', 'before_commit', 'after_commit'] as const

/** What the nodes run on. PgBouncer, the limits server and a clock of one's own only if the machine has them. */
interface Setup {
  place: Workplace
  postgres: PostgresServer
  proxy: TcpProxy
  pgbouncer: Pgbouncer | null
  valkey: Valkey | null
  clock: FakeClock | null
  database: string
  snippetKey: string
}

/** How many connections PgBouncer has for everything that a node does: so few that somebody always waits. */
const poolSize = 2

/** How far the nodes' clocks may be apart without a warning, milliseconds. */
const clocksApartMs = 50_000

/**
 * Two nodes over one PostgreSQL, which they reach through a proxy, and clients that record what became of
 * each event. The second node goes through PgBouncer as well, and has a clock of its own.
 */
class Nodes implements AsyncDisposable {
  readonly found = {
    rounds: 0,
    acknowledged: 0,
    rejected: 0,
    unknown: 0,
    lost: 0,
    twice: 0,
    /** Rejected with 503, and stored nevertheless. */
    storedThoughRejected: 0,
    /** Acknowledged while commits waited for a standby that hung. */
    acknowledgedTooEarly: 0,
    /** Acknowledged, but not on the standby for which commits had waited. */
    missingOnStandby: 0,
    /** How often a flow's numbers differed from what its events say. */
    wrongNumbers: 0,
    cuts: 0,
  }
  private readonly outcomes = new Map<string, Outcome>()
  private nodes: Server[] = []
  private tour: Tour = { flowId: '', stepId: '' }
  private sent = 0

  private constructor(
    private readonly setup: Setup,
    private readonly random: SeededRandom,
    private readonly isLong: boolean,
  ) {}

  static async open(random: SeededRandom, isLong: boolean): Promise<Nodes> {
    const postgres = await PostgresServer.open('fsync=on')
    const proxy = await TcpProxy.open(postgres.port)
    const pgbouncer = pgbouncerProgram ? await Pgbouncer.open(proxy.port, poolSize) : null
    const valkey = valkeyProgram ? await Valkey.open('--maxmemory-policy', 'noeviction') : null
    const place = new Workplace()
    const library = fakeTimeLibrary()
    const clock = library ? new FakeClock(library, place.folder) : null
    const url = await postgres.newDatabase()
    const { snippetKey } = await withUnlimitedTour(place)
    const { status, stderr } = await place.run(['move'], { CAIRN_DATABASE_URL: url })
    if (status !== 0) throw new Error(`cairn move failed: ${stderr}`)
    const database = new URL(url).pathname.slice(1)
    const setup = { place, postgres, proxy, pgbouncer, valkey, clock, database, snippetKey }
    const nodes = new Nodes(setup, random, isLong)
    nodes.nodes = [await nodes.startNode(0), await nodes.startNode(1)]
    nodes.tour = await tourOf(apiOf(nodes.nodes[0]!, snippetKey))
    return nodes
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { place, pgbouncer, valkey, proxy, postgres } = this.setup
    for (const one of [place, pgbouncer, valkey, proxy, postgres]) await one?.close()
  }

  private startNode(number: number, failpoints = ''): Promise<Server> {
    const { place, postgres, proxy, pgbouncer, valkey, clock, database } = this.setup
    const isSecond = number === 1
    const way = isSecond && pgbouncer ? pgbouncer : proxy
    const env = {
      CAIRN_DATABASE_URL: way.through(postgres.url(database)),
      ...(valkey ? { CAIRN_LIMITS_URL: valkey.url } : {}),
      ...(isSecond ? clock?.env : {}),
      CAIRN_FAILPOINTS: failpoints,
    }
    return place.serve(['--data', place.path(`node-${number}`), '--threads', '1'], env)
  }

  /** What is done to the nodes, by name. Each fault ends before it resolves. */
  get faults(): Record<string, () => Promise<unknown>> {
    return {
      'a node killed': async () => {
        await this.nodes[0]!.end('SIGKILL')
        this.nodes[0] = await this.startNode(0)
      },
      'a node that ends at a stage of a commit': async () => {
        await this.nodes[0]!.end()
        const stage = this.random.pick(stages)
        const dying = await this.startNode(0, `${stage}=exit@${this.random.pick([3, 5, 8])}`)
        this.nodes[0] = dying
        await Promise.race([dying.child.exited, Bun.sleep(10_000)])
        await dying.end('SIGKILL')
        this.nodes[0] = await this.startNode(0)
      },
      'PostgreSQL killed': async () => {
        await this.setup.postgres.kill()
        await this.setup.postgres.start()
      },
      'PostgreSQL killed, and its standby promoted': async () => {
        const standby = await this.followed()
        await this.replaceBy(standby)
      },
      'a standby that commits wait for hung': async () => {
        const standby = await this.hang()
        standby.signal('SIGCONT')
        await this.more(eventsAfter)
        await this.compare(standby)
        await this.setup.postgres.ask('alter system reset synchronous_standby_names')
        await this.setup.postgres.reloadStandbys()
        await standby.close()
      },
      'a standby that commits wait for hung, and PostgreSQL killed': async () => {
        const standby = await this.hang()
        await this.setup.postgres.kill()
        standby.signal('SIGCONT')
        await this.replaceBy(standby)
      },
      'PostgreSQL stopped for some seconds': async () => {
        this.setup.postgres.signal('SIGSTOP')
        await this.waitUpTo(9_000)
        this.setup.postgres.signal('SIGCONT')
      },
      'the network gone for some seconds': async () => {
        this.setup.proxy.freeze()
        await this.waitUpTo(9_000)
        this.setup.proxy.thaw()
      },
      'all connections cut': async () => this.setup.proxy.cutAll(),
      'all back ends terminated': () =>
        this.setup.postgres.ask(
          `select pg_terminate_backend(pid) from pg_stat_activity
        where datname is not null and pid <> pg_backend_pid()`,
        ),
      'commits cut before they arrive': () => this.cutCommits('before'),
      'commits cut before their response': () => this.cutCommits('after'),
      'a node stopped in the middle of its work': async () => {
        this.nodes[0]!.child.kill('SIGSTOP')
        await this.waitUpTo(8_000)
        this.nodes[0]!.child.kill('SIGCONT')
      },
      ...this.ofLimits(this.setup.valkey),
      ...this.ofClock(this.setup.clock),
    }
  }

  private ofLimits(valkey: Valkey | null): Record<string, () => Promise<unknown>> {
    if (valkey === null) return {}
    return {
      'the limits server killed': async () => {
        await valkey.kill()
        await this.more(eventsBefore)
        await valkey.start()
      },
      'the limits server stopped': async () => {
        valkey.signal('SIGSTOP')
        await this.more(eventsBefore)
        valkey.signal('SIGCONT')
      },
    }
  }

  private ofClock(clock: FakeClock | null): Record<string, () => Promise<unknown>> {
    if (clock === null) return {}
    return {
      "a node's clock set": async () => {
        clock.set(this.random.between(-clocksApartMs, clocksApartMs))
        await this.more(eventsBefore)
        clock.set(0)
      },
    }
  }

  /** Makes commits wait for a standby, and waits for some: what is acknowledged by then is on the standby. */
  private async followed(): Promise<PostgresServer> {
    const { postgres } = this.setup
    const standby = await postgres.standby('standby', { settings: ['fsync=on'] })
    await postgres.waitFor('standby')
    await this.more(eventsBefore)
    return standby
  }

  /** Makes the standby the database from now on. */
  private async replaceBy(standby: PostgresServer): Promise<void> {
    const { postgres, proxy } = this.setup
    await postgres.kill()
    await standby.ask('select pg_promote()')
    this.setup.postgres = standby
    proxy.lead(standby.port)
    await postgres.close()
  }

  /** Makes the standby hang for some seconds, during which nothing may be acknowledged. It goes on hanging. */
  private async hang(): Promise<PostgresServer> {
    const standby = await this.followed()
    standby.signal('SIGSTOP')
    // What the standby had confirmed by then may still be on its way to callers.
    await Bun.sleep(1_000)
    const before = this.acknowledged.length
    await this.waitUpTo(hangsForMs)
    this.found.acknowledgedTooEarly += this.acknowledged.length - before
    return standby
  }

  /** Everything that was acknowledged must be on the standby too. */
  private async compare(standby: PostgresServer): Promise<void> {
    const { postgres, database } = this.setup
    const { acknowledged } = this
    const [end] = await postgres.ask<{ lsn: string }>('select pg_current_wal_lsn()::text as lsn')
    const reached = `select where pg_last_wal_replay_lsn() >= '${end!.lsn}'`
    await until(async () => (await standby.ask(reached)).length > 0)
    const rows = await standby.ask<{ id: string }>('select id from events', standby.url(database))
    const there = new Set(rows.map(({ id }) => id))
    this.found.missingOnStandby += acknowledged.filter(id => !there.has(id)).length
  }

  private async cutCommits(how: 'before' | 'after'): Promise<void> {
    const goal = this.setup.proxy.cuts[how] + 5
    this.setup.proxy.cutAt = sent =>
      isCommit(sent) && this.setup.proxy.cuts[how] < goal && this.random.chance(0.5) ? how : null
    await until(() => this.setup.proxy.cuts[how] >= goal, Boolean, patienceMs)
    this.setup.proxy.cutAt = () => null
    this.found.cuts += 5
  }

  /** Sends to both nodes, causes the fault meanwhile, and compares what is stored with what became of it. */
  async round(fault: string): Promise<void> {
    let isOver = false
    const clients = this.nodes.flatMap((_, i) =>
      Array.from({ length: clientsOfNode }, async () => {
        while (!isOver) await this.send(i)
      }),
    )
    await this.more(eventsBefore)
    await this.faults[fault]!()
    await this.more(eventsAfter)
    isOver = true
    await Promise.all(clients)
    await this.check()
    this.found.rounds++
  }

  /** In the short form faults last for less long, which hits fewer timeouts. */
  private waitUpTo(ms: number): Promise<void> {
    return Bun.sleep(this.random.between(500, this.isLong ? ms : 1_500))
  }

  private async more(events: number): Promise<void> {
    const goal = this.acknowledged.length + events
    await until(() => this.acknowledged.length >= goal, Boolean, patienceMs)
  }

  private get acknowledged(): string[] {
    return [...this.outcomes].filter(([, outcome]) => outcome === 'acknowledged').map(([id]) => id)
  }

  private async send(node: number): Promise<void> {
    const id = `event ${++this.sent}`
    const body = { events: [{ id, ...this.nextEvent(), occurredAt: Date.now() }] }
    const status = await apiOf(this.nodes[node]!, this.setup.snippetKey)(
      'POST',
      '/events',
      body,
    ).then(
      response => response.status,
      () => null,
    )
    this.outcomes.set(id, status === 202 ? 'acknowledged' : status === 503 ? 'rejected' : 'unknown')
    if (status !== 202) await Bun.sleep(20)
  }

  private nextEvent() {
    const place = this.sent % openRuns
    const turn = Math.floor(this.sent / openRuns)
    const kind = kinds[turn % kinds.length]!
    const run = Math.floor(turn / kinds.length) * openRuns + place
    const { flowId, stepId } = this.tour
    const isOfVisitor = run >= runsOfUsers && run % runsOfVisitor === 0
    const isVisitor = isOfVisitor && turn % kinds.length < 2
    return {
      ...{ kind, flowId, runId: `run ${run}` },
      ...(isVisitor ? { anonymousId: `visitor ${run}` } : { userId: `user ${run}` }),
      ...(kind.startsWith('step') && { stepId }),
    }
  }

  /** Checks the events of all rounds, because what was rejected must not turn up later either. */
  private async check(): Promise<void> {
    const { postgres, database } = this.setup
    const url = postgres.url(database)
    const rows = await postgres.ask<{ id: string }>('select id from events', url)
    const stored = new Set(rows.map(({ id }) => id))
    const count = (wanted: Outcome, isMeant = (_id: string) => true) =>
      [...this.outcomes].filter(([id, outcome]) => outcome === wanted && isMeant(id)).length
    Object.assign(this.found, {
      twice: rows.length - stored.size,
      acknowledged: count('acknowledged'),
      rejected: count('rejected'),
      unknown: count('unknown'),
      lost: count('acknowledged', id => !stored.has(id)),
      storedThoughRejected: count('rejected', id => stored.has(id)),
    })
    const { changed } = await this.setup.place.json<{ changed: number }>(['rebuild'], {
      CAIRN_DATABASE_URL: url,
    })
    this.found.wrongNumbers += changed
  }
}

/** How many rounds the long form has; the short form has each kind of fault once. */
const longRounds = 200

/** Nodes over PostgreSQL, where one thing after another fails in the middle of their work. */
export const cluster: Part = {
  what: 'nodes over PostgreSQL: killed, stopped, cut off, also in the middle of a commit',
  async run({ isLong, seed }) {
    await using nodes = await Nodes.open(new SeededRandom(`cluster ${seed}`), isLong)
    const names = Object.keys(nodes.faults)
    const rounds = isLong ? longRounds : names.length
    for (let done = 0; done < rounds; done++) {
      const fault = names[done % names.length]!
      progress(`${done + 1} of ${rounds}: ${fault}`)
      await nodes.round(fault)
    }
    const { found } = nodes
    return {
      title: `Two nodes over PostgreSQL, ${found.rounds} rounds of ${names.length} kinds of fault`,
      checks: [
        { what: 'events acknowledged', value: found.acknowledged },
        { what: 'rejected (503)', value: found.rejected },
        { what: 'without a response that says what became of them', value: found.unknown },
        { what: 'commits cut in the middle', value: found.cuts },
        none('acknowledged events that are not there', found.lost),
        none('acknowledged while a standby hung that commits wait for', found.acknowledgedTooEarly),
        none('acknowledged events that such a standby does not have', found.missingOnStandby),
        none('events that are there twice', found.twice),
        none('events that were rejected and are there', found.storedThoughRejected),
        none('rebuilds that found other numbers than the events say', found.wrongNumbers),
      ],
    }
  },
}
