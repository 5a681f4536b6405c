import type { SeededRandom } from '../../../src/cli/demo/random.ts'
import { progress } from '../../report/progress.ts'
import { type Server, Workplace, withUnlimitedTour } from '../../support/binary.ts'
import { FakeClock, fakeTimeLibrary } from '../../support/fake-clock.ts'
import { Pgbouncer, pgbouncerProgram } from '../../support/pgbouncer.ts'
import { PostgresServer, postgresPrograms } from '../../support/postgres.ts'
import { isCommit, TcpProxy } from '../../support/tcp-proxy.ts'
import { until } from '../../support/until.ts'
import { Journal } from '../journal.ts'
import { startClients } from '../load.ts'
import {
  addCounts,
  type Check,
  compareEvents,
  none,
  noProblem,
  type ProblemCounts,
  problemNames,
} from '../verdict.ts'

/** How many rounds the long form has; the short form has each kind of fault once. */
const longRounds = 200

/** How long a standby hangs at most, milliseconds: longer than a node waits for a commit and then looks for it. */
const hangsForMs = 25_000

/** How many events must be acknowledged before, during and after a fault. */
const someEvents = 30

/** Stages of a commit at which a node is made to end. */
const stages = ['before_begin', 'between_rows', 'before_commit', 'after_commit'] as const

/** How many connections PgBouncer has for everything that a node does: so few that somebody always waits. */
const poolSize = 2

/** How far the nodes' clocks may be apart without a warning, milliseconds. */
const clocksApartMs = 50_000

/** What the nodes run on. PgBouncer and a clock of one's own only if the machine has them. */
interface Setup {
  place: Workplace
  postgres: PostgresServer
  proxy: TcpProxy
  pgbouncer: Pgbouncer | null
  clock: FakeClock | null
  database: string
  snippetKey: string
}

/**
 * Two nodes over one PostgreSQL, which they reach through a proxy. The second node goes through PgBouncer as
 * well, and has a clock of its own.
 */
class Nodes implements AsyncDisposable {
  readonly journal = new Journal()
  readonly problems: ProblemCounts = {}
  readonly found = { changed: 0, acknowledgedTooEarly: 0, missingOnStandby: 0, cuts: 0 }
  private nodes: Server[] = []

  private constructor(
    private readonly setup: Setup,
    private readonly random: SeededRandom,
    private readonly isLong: boolean,
  ) {}

  static async open(random: SeededRandom, isLong: boolean): Promise<Nodes> {
    const postgres = await PostgresServer.open('fsync=on')
    const proxy = await TcpProxy.open(postgres.port)
    const pgbouncer = pgbouncerProgram ? await Pgbouncer.open(proxy.port, poolSize) : null
    const place = new Workplace()
    const library = fakeTimeLibrary()
    const clock = library ? new FakeClock(library, place.folder) : null
    const url = await postgres.newDatabase()
    const { snippetKey } = await withUnlimitedTour(place)
    await place.json(['move'], { CAIRN_DATABASE_URL: url })
    const database = new URL(url).pathname.slice(1)
    const setup = { place, postgres, proxy, pgbouncer, clock, database, snippetKey }
    const nodes = new Nodes(setup, random, isLong)
    nodes.nodes = [await nodes.startNode(0), await nodes.startNode(1)]
    return nodes
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { place, pgbouncer, proxy, postgres } = this.setup
    for (const one of [place, pgbouncer, proxy, postgres]) await one?.close()
  }

  private startNode(number: number, failpoints = ''): Promise<Server> {
    const { place, postgres, proxy, pgbouncer, clock, database } = this.setup
    const isSecond = number === 1
    const path = isSecond && pgbouncer ? pgbouncer : proxy
    const env = {
      CAIRN_DATABASE_URL: path.through(postgres.url(database)),
      ...(isSecond ? clock?.env : {}),
      CAIRN_FAILPOINTS: failpoints,
    }
    return place.serve(['--data', place.path(`node-${number}`), '--threads', '1'], env)
  }

  /** What is done to the nodes, by name. Each fault ends before it resolves. */
  get faults(): Record<string, () => Promise<unknown>> {
    const { setup } = this
    const { proxy, clock } = setup
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
        await setup.postgres.kill()
        await setup.postgres.start()
      },
      'PostgreSQL killed, and its standby promoted': async () => {
        await this.replaceBy(await this.followed())
      },
      'a standby that commits wait for hung': async () => {
        const standby = await this.hang()
        standby.signal('SIGCONT')
        await this.more()
        await this.compareStandby(standby)
        await setup.postgres.ask('alter system reset synchronous_standby_names')
        await setup.postgres.reloadStandbys()
        await standby.close()
      },
      'a standby that commits wait for hung, and PostgreSQL killed': async () => {
        const standby = await this.hang()
        await setup.postgres.kill()
        standby.signal('SIGCONT')
        await this.replaceBy(standby)
      },
      'PostgreSQL stopped for some seconds': async () => {
        setup.postgres.signal('SIGSTOP')
        await this.waitUpTo(9_000)
        setup.postgres.signal('SIGCONT')
      },
      'the network gone for some seconds': async () => {
        proxy.freeze()
        await this.waitUpTo(9_000)
        proxy.thaw()
      },
      'all connections cut': async () => proxy.cutAll(),
      'all back ends terminated': () =>
        setup.postgres.ask(
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
      ...(clock && {
        "a node's clock set": async () => {
          clock.set(this.random.between(-clocksApartMs, clocksApartMs))
          await this.more()
          clock.set(0)
        },
      }),
    }
  }

  /** Makes commits wait for a standby, and waits for some: what is acknowledged by then is on the standby. */
  private async followed(): Promise<PostgresServer> {
    const { postgres } = this.setup
    const standby = await postgres.standby('standby', { settings: ['fsync=on'] })
    await postgres.waitFor('standby')
    await this.more()
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
    let before: number
    do {
      before = this.journal.acknowledged
      await Bun.sleep(1_000)
    } while (this.journal.acknowledged > before)
    await this.waitUpTo(hangsForMs)
    this.found.acknowledgedTooEarly += this.journal.acknowledged - before
    return standby
  }

  /** Everything that was acknowledged must be on the standby too. */
  private async compareStandby(standby: PostgresServer): Promise<void> {
    const { postgres, database } = this.setup
    const acknowledged = new Set(this.journal.items.event.acknowledged)
    const [end] = await postgres.ask<{ lsn: string }>('select pg_current_wal_lsn()::text as lsn')
    const reached = `select where pg_last_wal_replay_lsn() >= '${end!.lsn}'`
    await until(async () => (await standby.ask(reached)).length > 0)
    const ids = new Set((await eventsIn(standby, database)).map(({ id }) => id))
    this.found.missingOnStandby += acknowledged.difference(ids).size
  }

  private async cutCommits(how: 'before' | 'after'): Promise<void> {
    const { proxy } = this.setup
    const goal = proxy.cuts[how] + 5
    proxy.cutAt = sent =>
      isCommit(sent) && proxy.cuts[how] < goal && this.random.chance(0.5) ? how : null
    await until(() => proxy.cuts[how] >= goal)
    proxy.cutAt = () => null
    this.found.cuts += 5
  }

  /** Sends to both nodes, causes the fault meanwhile, and compares what is stored with the journal. */
  async round(fault: string): Promise<void> {
    const { nodes, setup, random, journal } = this
    const loads = nodes.map((_, i) => {
      // A node is another process after some faults.
      const server = {
        get url() {
          return nodes[i]!.url
        },
      }
      return startClients({ ...setup, journal }, server, { random, clients: 3, only: 'event' })
    })
    await this.more()
    await this.faults[fault]!()
    await this.more()
    await Promise.all(loads.map(load => load.stop()))
    const { postgres, database, place } = this.setup
    addCounts(this.problems, compareEvents(await eventsIn(postgres, database), journal))
    const { changed } = await place.json<{ changed: number }>(['rebuild'], {
      CAIRN_DATABASE_URL: postgres.url(database),
    })
    this.found.changed += changed
  }

  /** In the short form faults last for less long, which hits fewer timeouts. */
  private waitUpTo(ms: number): Promise<void> {
    return Bun.sleep(this.random.between(500, this.isLong ? ms : 1_500))
  }

  private async more(): Promise<void> {
    const goal = this.journal.acknowledged + someEvents
    await until(() => this.journal.acknowledged >= goal)
  }
}

const eventsIn = (postgres: PostgresServer, database: string) =>
  postgres.ask<{ id: string; source: string; userId: string | null }>(
    'select id, source, user_id as "userId" from events',
    postgres.url(database),
  )

export const missingForCluster = () => (postgresPrograms === null ? 'PostgreSQL' : null)

/** Nodes over PostgreSQL, where one thing after another fails in the middle of their work. */
export async function cluster(random: SeededRandom, isLong: boolean): Promise<Check[]> {
  await using nodes = await Nodes.open(random, isLong)
  const names = Object.keys(nodes.faults)
  const rounds = isLong ? longRounds : names.length
  for (let i = 0; i < rounds; i++) {
    const fault = names[i % names.length]!
    progress(`${i + 1} of ${rounds}: ${fault}`)
    await nodes.round(fault)
  }
  const { found, problems, journal } = nodes
  const count = (status: number | null) => journal.responses.counts.get(status) ?? 0
  return [
    { what: 'events acknowledged', value: journal.acknowledged },
    {
      what: 'requests rejected (503), and without a response',
      value: `${count(503)}, ${count(null)}`,
    },
    { what: 'commits cut in the middle', value: found.cuts },
    ...Object.entries(problems).map(([name, items]) =>
      none(problemNames[name as keyof ProblemCounts], items),
    ),
    none('acknowledged while a standby hung that commits wait for', found.acknowledgedTooEarly),
    none('acknowledged events that such a standby does not have', found.missingOnStandby),
    none('flows that rebuilds changed', found.changed),
    noProblem('responses that contradict an earlier one', journal.contradictions),
  ]
}
