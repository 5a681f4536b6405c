import { Database } from 'bun:sqlite'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { SeededRandom } from '../../../src/cli/demo/random.ts'
import { progress } from '../../report/progress.ts'
import { builtBinary, type Server, Workplace, withUnlimitedTour } from '../../support/binary.ts'
import { FakeClock, fakeTimeLibrary } from '../../support/fake-clock.ts'
import { Pgbouncer, pgbouncerProgram } from '../../support/pgbouncer.ts'
import { PostgresServer, postgresPrograms } from '../../support/postgres.ts'
import { type Followed, followedBy, rowsOf } from '../../support/stored.ts'
import { isCommit, TcpProxy } from '../../support/tcp-proxy.ts'
import { until } from '../../support/until.ts'
import { Journal, kinds } from '../journal.ts'
import { type Load, startClients, startEditors, type Tenant } from '../load.ts'
import {
  addCounts,
  type Check,
  none,
  noProblem,
  type ProblemCounts,
  problemNames,
  problemsIn,
  some,
  sumOf,
} from '../verdict.ts'

/** How many rounds the long form has. */
const longRounds = 200

/** What the short form has, once each: the faults that are peculiar to two commits and a log. */
const shortForm: ReadonlySet<string> = new Set([
  'a node that ends at before_log_commit',
  'a node that ends at before_commit',
  'a standby promoted that lacks the last commits',
  'commits cut before their response',
  'an old copy of a directory put back',
])

/** How long a standby hangs at most, milliseconds: longer than a node waits for a commit and then looks for it. */
const hangsForMs = 25_000

/** How many items must be acknowledged before, during and after a fault. */
const someItems = 30

/** Stages at which a node is made to end: two before PostgreSQL commits, and one between the two commits. */
const stages = ['between_rows', 'before_log_commit', 'before_commit'] as const

/** How many connections PgBouncer has for everything that a node does: so few that somebody always waits. */
const poolSize = 2

/** How far the nodes' clocks may be apart without a warning, milliseconds. */
const clocksApartMs = 50_000

/** Half of a round trip to a database that is far away, milliseconds. */
const farAwayMs = 20

/** What the nodes run on. PgBouncer and a clock of one's own only if the machine has them. */
interface Setup {
  place: Workplace
  postgres: PostgresServer
  proxy: TcpProxy
  pgbouncer: Pgbouncer | null
  clock: FakeClock | null
  database: string
  tenant: Tenant
}

/**
 * Two nodes that follow the log of one PostgreSQL, which they reach through a proxy. The second node goes through
 * PgBouncer as well, and has a clock of its own.
 */
class Nodes implements AsyncDisposable {
  readonly problems: ProblemCounts = {}
  readonly found = {
    comparisons: 0,
    acknowledgedTooEarly: 0,
    changed: 0,
    cuts: 0,
    ended: 0,
    restarts: 0,
  }
  /** Tables that the databases of two nodes at the same position have differently. */
  readonly differences: string[] = []
  private nodes: Server[] = []
  private readonly directories: readonly string[]
  private load: Load | null = null

  private constructor(
    private readonly setup: Setup,
    private readonly random: SeededRandom,
    private readonly isLong: boolean,
  ) {
    const { place } = setup
    this.directories = [place.dataDir, place.path('node-1')]
  }

  static async open(random: SeededRandom, isLong: boolean): Promise<Nodes> {
    const postgres = await PostgresServer.open('fsync=on')
    const proxy = await TcpProxy.open(postgres.port)
    const pgbouncer = pgbouncerProgram ? await Pgbouncer.open(proxy.port, poolSize) : null
    const url = proxy.through(await postgres.emptyDatabase())
    // Commands go through the proxy as well, because another server takes the database over in some rounds.
    const place = new Workplace(builtBinary, undefined, { CAIRN_DATABASE_URL: url })
    const library = fakeTimeLibrary()
    const clock = library ? new FakeClock(library, place.folder) : null
    const organisation = await withUnlimitedTour(place)
    const scopes = ['flows:read', 'flows:write', 'flows:publish']
    const { token } = await place.json<{ token: string }>([
      ...['token', 'create', 'CI', '--org', organisation.slug, '--scope', ...scopes],
    ])
    const tenant = { ...organisation, token, journal: new Journal() }
    const database = new URL(url).pathname.slice(1)
    const nodes = new Nodes(
      { place, postgres, proxy, pgbouncer, clock, database, tenant },
      random,
      isLong,
    )
    nodes.nodes = [await nodes.startNode(0), await nodes.startNode(1)]
    return nodes
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { place, pgbouncer, proxy, postgres } = this.setup
    for (const one of [place, pgbouncer, proxy, postgres]) await one?.close()
  }

  get journal(): Journal {
    return this.setup.tenant.journal
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
    return place.serve(['--data', this.directories[number]!], env)
  }

  /** Starts a node again that has ended by itself, as a service manager does. */
  private async supervise(): Promise<void> {
    for (const [i, { child }] of this.nodes.entries()) {
      if (child.exitCode === null) continue
      this.found.restarts++
      this.nodes[i] = await this.startNode(i)
    }
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
      ...Object.fromEntries(
        stages.map(stage => [`a node that ends at ${stage}`, () => this.endAt(stage)]),
      ),
      'PostgreSQL killed': async () => {
        await setup.postgres.kill()
        await setup.postgres.start()
      },
      'PostgreSQL killed, and its standby promoted': async () => {
        await this.replaceBy(await this.followed())
      },
      'a standby promoted that lacks the last commits': () => this.forkHistory(),
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
      'a database that is far away': async () => {
        proxy.delayMs = farAwayMs
        await this.more()
        proxy.delayMs = 0
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
      'an old copy of a directory put back': () =>
        this.replaceDirectory(async directory => {
          const copy = `${directory}-copy`
          cpSync(directory, copy, { recursive: true, filter: path => !path.endsWith('.sock') })
          this.nodes[1] = await this.startNode(1)
          await this.more()
          await this.nodes[1].end('SIGKILL')
          rmSync(directory, { recursive: true })
          cpSync(copy, directory, { recursive: true })
          rmSync(copy, { recursive: true })
        }),
      'a directory emptied': () =>
        this.replaceDirectory(async directory => rmSync(directory, { recursive: true })),
      ...(clock && {
        "a node's clock set": async () => {
          clock.set(this.random.between(-clocksApartMs, clocksApartMs))
          await this.more()
          clock.set(0)
        },
      }),
    }
  }

  /** Replaces a node by one that ends by itself in the middle of its work, and that by another. */
  private async endAt(stage: (typeof stages)[number]): Promise<void> {
    await this.nodes[0]!.end()
    const dying = await this.startNode(0, `${stage}=exit@${this.random.pick([30, 40, 55])}`)
    this.nodes[0] = dying
    await Promise.race([dying.child.exited, Bun.sleep(20_000)])
    if (dying.child.exitCode === 70) this.found.ended++
    await dying.end('SIGKILL')
    this.nodes[0] = await this.startNode(0)
  }

  private async replaceDirectory(replace: (directory: string) => Promise<void>): Promise<void> {
    await this.nodes[1]!.end(this.random.pick(['SIGTERM', 'SIGKILL']))
    await replace(this.directories[1]!)
    this.nodes[1] = await this.startNode(1)
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
    await standby.ask('select case when pg_is_in_recovery() then pg_promote() end')
    this.setup.postgres = standby
    proxy.lead(standby.port)
    await postgres.close()
  }

  /** Promotes a standby that no commit waits for, while the nodes go on with its primary for a while. */
  private async forkHistory(): Promise<void> {
    const { postgres } = this.setup
    await this.load!.stop()
    const standby = await postgres.standby('standby', { settings: ['fsync=on'] })
    const [end] = await postgres.ask<{ lsn: string }>('select pg_current_wal_lsn()::text as lsn')
    const hasAll = `select where pg_last_wal_replay_lsn() >= '${end!.lsn}'`
    await until(async () => (await standby.ask(hasAll)).length > 0)
    await standby.ask('select pg_promote()')
    const { journal } = this
    const acknowledged = new Map(
      kinds.map(kind => [kind, new Set(journal.items[kind].acknowledged)]),
    )
    const published = new Set(journal.publications.filter(({ version }) => version !== null))
    this.startLoad()
    await this.more()
    await this.load!.stop()
    // What came after the promotion is lost, as whoever has no synchronous standby is told.
    for (const kind of kinds) {
      const items = journal.items[kind]
      for (const name of items.sent.difference(acknowledged.get(kind)!)) {
        items.acknowledged.delete(name)
        items.unsure.add(name)
      }
    }
    for (const one of journal.publications) if (!published.has(one)) one.version = null
    journal.recentEvents = []
    await this.replaceBy(standby)
    this.startLoad()
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

  private async cutCommits(how: 'before' | 'after'): Promise<void> {
    const { proxy } = this.setup
    const goal = proxy.cuts[how] + 5
    proxy.cutAt = sent =>
      isCommit(sent) && proxy.cuts[how] < goal && this.random.chance(0.5) ? how : null
    await until(() => proxy.cuts[how] >= goal)
    proxy.cutAt = () => null
    this.found.cuts += 5
  }

  /** Sends to both nodes, and publishes at both. */
  private startLoad(): void {
    const { nodes, random } = this
    const { tenant, place } = this.setup
    // A node is another process after some faults.
    const servers = nodes.map((_, i) => ({
      get url() {
        return nodes[i]!.url
      },
    }))
    const loads = servers.map(server => startClients(tenant, server, { random, clients: 3 }))
    loads.push(startEditors(tenant, place, servers[1]!, { random, restMs: 100 }))
    this.load = { stop: async () => void (await Promise.all(loads.map(load => load.stop()))) }
  }

  /** Sends to both nodes, causes the fault meanwhile, and compares what is stored with the journal. */
  async round(fault: string): Promise<void> {
    this.startLoad()
    await this.more()
    await this.faults[fault]!()
    await this.more()
    await this.load!.stop()
    await this.compare(fault)
  }

  /** Waits until both nodes have everything, and compares them with each other and with the journal. */
  private async compare(fault: string): Promise<void> {
    const [first, second] = await until(
      () => this.settled(),
      both => both.length === 2,
    )
    for (const [table, hash] of first!.hashes) {
      if (second!.hashes.get(table) === hash) continue
      this.differences.push(`${table} after ${fault}`)
      this.showDifference(table)
    }
    this.found.comparisons++
    using database = this.reading(0)
    const found = problemsIn(database, this.setup.tenant)
    if (sumOf(found) > 0) progress(`after ${fault}: ${JSON.stringify(found)}`)
    addCounts(this.problems, found)
  }

  /** Shows some of the rows that only one node has, because the databases are deleted at the end. */
  private showDifference(table: string): void {
    const [first, second] = [0, 1].map(number => {
      using database = this.reading(number)
      return new Set(rowsOf(database, table))
    })
    for (const [name, rows] of [
      ['first', first!.difference(second!)],
      ['second', second!.difference(first!)],
    ] as const) {
      progress(`${table}: ${rows.size} rows only at the ${name} node`)
      for (const row of [...rows].slice(0, 3)) progress(`  ${row}`)
    }
  }

  /** What the databases hold, once they are where the log is; nothing before that. */
  private async settled(): Promise<Followed[]> {
    await this.supervise()
    const { postgres, database } = this.setup
    const [clock] = await postgres.ask<{ position: string }>(
      "select concat(seq, ' ', mark) as position from cairn_clock",
      postgres.url(database),
    )
    return [0, 1].flatMap(number => {
      using database = this.reading(number)
      const followed = followedBy(database)
      return followed.isProjected && followed.position === clock!.position ? followed : []
    })
  }

  private reading(number: number): Database {
    return new Database(join(this.directories[number]!, 'cairn.db'), { readonly: true })
  }

  /** Computes the projections of both nodes anew. */
  async rebuild(): Promise<void> {
    const { changed } = await this.setup.place.json<{ changed: number }>(['rebuild'])
    this.found.changed += changed
    await this.compare('a rebuild')
  }

  /** In the short form faults last for less long, which hits fewer timeouts. */
  private waitUpTo(ms: number): Promise<void> {
    return Bun.sleep(this.random.between(500, this.isLong ? ms : 1_500))
  }

  private async more(): Promise<void> {
    const goal = this.journal.acknowledged + someItems
    await until(async () => {
      await this.supervise()
      return this.journal.acknowledged >= goal
    })
  }
}

export const missingForCluster = () => (postgresPrograms === null ? 'PostgreSQL' : null)

/** Nodes over PostgreSQL, where one thing after another fails in the middle of their work. */
export async function cluster(random: SeededRandom, isLong: boolean): Promise<Check[]> {
  await using nodes = await Nodes.open(random, isLong)
  const names = Object.keys(nodes.faults).filter(name => isLong || shortForm.has(name))
  const rounds = isLong ? longRounds : names.length
  for (let i = 0; i < rounds; i++) {
    const fault = names[i % names.length]!
    progress(`${i + 1} of ${rounds}: ${fault}`)
    await nodes.round(fault)
  }
  await nodes.rebuild()
  const { found, problems, journal, differences } = nodes
  const count = (status: number | null) => journal.responses.counts.get(status) ?? 0
  return [
    { what: 'items acknowledged', value: journal.acknowledged },
    {
      what: 'requests rejected (503), and without a response',
      value: `${count(503)}, ${count(null)}`,
    },
    { what: 'commits cut in the middle', value: found.cuts },
    { what: 'nodes that ended by themselves and were started again', value: found.restarts },
    some('nodes that ended in the middle of an append', found.ended),
    some('times that the nodes were compared with each other and the journal', found.comparisons),
    ...Object.entries(problems).map(([name, items]) =>
      none(problemNames[name as keyof ProblemCounts], items),
    ),
    noProblem('tables that differ between nodes', differences),
    none('acknowledged while a standby hung that commits wait for', found.acknowledgedTooEarly),
    none('flows that a rebuild changed', found.changed),
    noProblem('responses that contradict an earlier one', journal.contradictions),
  ]
}
