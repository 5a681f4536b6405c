import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '../../scripts/support/until.ts'
import { schemaVersion } from '../../src/storage/postgres/database/migrations.ts'
import { apiOf, briefly, builtBinary, firstFlowOf, Workplace } from '../support/binary.ts'
import { Cluster, type ClusterNode, describe } from '../support/cluster.ts'
import { otherBuild, withSteps } from '../support/other-build.ts'

/** Nodes that are upgraded one after the other behind a balancer, to executables that change the schema. */

/** The next release adds to the schema what nodes read and write. The one after it removes part of that. */
const expands = {
  name: 'moods',
  text: `alter table runs add column mood text;
    create index runs_with_mood on runs (org_id, flow_id, mood) where mood is not null;
    alter table events add column mood text;
    alter table flows add column mood text not null default 'fine';
    alter table dead_letters add column mood text`,
  usableFrom: 0,
}
const contracts = { name: 'no index of moods', text: 'drop index runs_with_mood', usableFrom: 1 }

/** How many callers ask at once, and how many acknowledged events show that a stage was at work. */
const callers = 3
const eventsOfStage = 40

/** Callers of the balancer, who record the answers. */
class Traffic {
  readonly acknowledged = new Set<string>()
  /** How often each answer came. A request whose connection was cut counts as "cut". */
  readonly answers: Record<string, number> = {}
  private isOver = false
  private sent = 0
  private readonly calling: Promise<void>[]

  constructor(
    url: string,
    snippetKey: string,
    private readonly flowId: string,
    private readonly ask = apiOf({ url }, snippetKey),
  ) {
    this.calling = Array.from({ length: callers }, () => this.call())
  }

  /** Waits until `eventsOfStage` more events are acknowledged. */
  async atWork(): Promise<void> {
    const goal = this.acknowledged.size + eventsOfStage
    await until(() => this.acknowledged.size >= goal)
  }

  async end(): Promise<void> {
    this.isOver = true
    await Promise.all(this.calling)
  }

  private async call(): Promise<void> {
    while (!this.isOver) {
      const number = ++this.sent
      const event = this.event(number)
      const status = await this.told('POST', '/events', { events: [event] })
      if (status === 202) this.acknowledged.add(event.id)
      await this.told('GET', '/flows')
      await this.told('GET', `/heartbeat?userId=user-${number}`)
    }
  }

  /** One event begins a run, and another one ends it some time later. */
  private event(number: number) {
    const kind = number % 2 === 0 ? 'flow_completed' : 'flow_started'
    const run = Math.ceil(number / 2)
    return {
      ...{ id: `event ${number}`, kind, flowId: this.flowId },
      ...{ runId: `run ${run}`, userId: `user ${run}` },
    }
  }

  private async told(method: string, path: string, body?: unknown): Promise<number | null> {
    const answer = await this.ask(method, path, body).catch(() => null)
    await answer?.bytes().catch(() => null)
    const what = `${method} ${path.split('?')[0]} ${answer?.status ?? 'cut'}`
    this.answers[what] = (this.answers[what] ?? 0) + 1
    return answer?.status ?? null
  }
}

describe('an upgrade of one node after the other', () => {
  let cluster: Cluster
  /** The builds, each with a folder of its own, in which its commands run. */
  let old: Workplace
  let expanding: Workplace
  let contracting: Workplace
  const programs = new Map<Workplace, string>()
  let snippetKey: string
  let slug: string
  let token: string
  let traffic: Traffic
  beforeAll(async () => {
    const program = await builtBinary()
    cluster = await Cluster.open({ program })
    const placeOf = () => {
      const place = new Workplace(async () => programs.get(place)!, undefined, cluster.env)
      return place
    }
    ;[old, expanding, contracting] = [placeOf(), placeOf(), placeOf()]
    programs.set(old, program)
    const building = Promise.all([
      otherBuild(expanding.path('source'), [withSteps([expands])], 'expanding'),
      otherBuild(contracting.path('source'), [withSteps([expands, contracts])], 'contracting'),
    ])
    ;({ snippetKey, slug } = await old.json(['org', 'create', 'Acme']))
    const limits = ['events', 'flows', 'heartbeat'].flatMap(bucket => [`--${bucket}`, '1000000'])
    await old.json(['org', 'limits', slug, ...limits])
    const scopes = ['flows:write', 'flows:publish'].flatMap(scope => ['--scope', scope])
    ;({ token } = await old.json(['token', 'create', 'CI', ...scopes]))
    const built = await building
    programs.set(expanding, built[0]).set(contracting, built[1])
    await publish('Title 0')
    await cluster.serve(2, briefly)
    const { id } = await firstFlowOf(apiOf(cluster, snippetKey))
    traffic = new Traffic(cluster.url, snippetKey, id)
  }, 300_000)
  afterAll(async () => {
    await traffic?.end()
    for (const place of [old, expanding, contracting]) await place?.close()
    await cluster?.close()
  }, 300_000)

  async function publish(name: string, through?: string): Promise<void> {
    const file = `{ key: tour, name: ${name}, steps: [{ key: hello, kind: modal, title: Hello }] }`
    await Bun.write(old.path('tour.yaml'), file)
    const push = ['flows', 'push', 'tour.yaml', '--publish', ...(through ? ['--url', through] : [])]
    const { status, stderr } = await old.run(push, through ? { CAIRN_TOKEN: token } : {})
    // This also says that no node is named as not knowing of it yet.
    expect([status, stderr]).toEqual([0, ''])
  }
  /** Expects every node to show a publish through the balancer once it is answered, and to store events. */
  async function requireWhole(stage: string): Promise<void> {
    await publish(stage, cluster.url)
    for (const node of cluster.nodes) {
      const ask = apiOf(node, snippetKey)
      const { id: flowId, name } = await firstFlowOf(ask)
      expect(name).toBe(stage)
      const id = `${stage} at ${node.name}`
      const events = [{ id, kind: 'flow_started', flowId, runId: id, userId: 'ada' }]
      const stored = await ask('POST', '/events', { events })
      expect(await stored.json()).toMatchObject({ accepted: 1 })
      traffic.acknowledged.add(id)
      // An export reads all columns, over a connection that may still know the tables as they were.
      expect(await exportedAt(node)).toContain(id)
    }
    await traffic.atWork()
  }
  const exportedAt = async ({ dataDir }: ClusterNode) => {
    const export_ = ['person', 'export', slug, 'ada', '--data', dataDir]
    const { stdout, stderr } = await old.run(export_, { CAIRN_DATABASE_URL: '' })
    return stdout + stderr
  }
  const releases = async (place = old) => {
    const { nodes } = await place.json<{
      nodes: { name: string; release: string; state: string }[]
    }>(['nodes'])
    const there = nodes.filter(({ state }) => state !== 'gone')
    expect(there.filter(({ state }) => state !== 'running')).toEqual([])
    return there.map(({ release }) => release.replace(/.*\+/, '')).toSorted()
  }
  const refused = async (place: Workplace, ...args: string[]) => {
    const { status, stderr } = await place.run(args)
    expect([args, status]).toEqual([args, 1])
    return stderr
  }
  const serveRefused = (place: Workplace) =>
    refused(place, 'serve', '--port', '0', '--management-port', '0', '--data', place.path('x'))
  const schema = async () => {
    const [row] = await cluster.postgres.ask<{ id: number }>(
      'select max(id)::int as id from cairn_migrations',
      cluster.databaseUrl,
    )
    return row!.id - schemaVersion
  }
  const replace = async (number: number, place: Workplace) => {
    expect(await cluster.replace(cluster.nodes[number]!, programs.get(place)!, briefly)).toBe(0)
    await traffic.atWork()
  }

  test('fails no request, loses no event, and takes nothing away that a node still needs', async () => {
    await requireWhole('Of before')
    const [own] = await releases()
    expect(await serveRefused(expanding)).toContain('of an older Cairn: run "cairn migrate"')

    const planned = await expanding.run(['migrate', '--dry-run'])
    expect([planned.status, planned.stderr]).toEqual([0, ''])
    expect(planned.stdout).toMatch(/moods\n.* to become /)
    expect(await schema()).toBe(0)
    expect((await expanding.run(['migrate'])).status).toBe(0)
    expect(await schema()).toBe(1)
    await requireWhole('By old nodes in the new schema')

    // An old node that is started now finds a schema that it can use.
    const third = await old.serve(['--data', old.path('third')])
    expect(await releases()).toEqual([own!, own!, own!])

    await replace(0, expanding)
    await requireWhole('By old and new')
    expect(await serveRefused(contracting)).toContain('of an older Cairn: run "cairn migrate"')
    const name = `:${cluster.nodes[1]!.port} (`
    expect(await refused(contracting, 'migrate')).toContain(name)
    await replace(1, expanding)
    await requireWhole('By new nodes')

    // A killed node does not sign off, so for a while it counts as one that may still answer.
    await third.end('SIGKILL')
    const silent = `:${new URL(third.url).port} (`
    const words =
      /^cairn: nodes of an older release are running, which could not go on: [^,]+; stop them, wait a minute and run this again, nothing was changed\n$/
    const refusal = await refused(contracting, 'migrate')
    expect(refusal).toMatch(words)
    expect(refusal).toContain(silent)
    expect(await schema()).toBe(1)
    // As if the minute were over.
    await cluster.postgres.ask(
      `update nodes set lease_until = lease_until - interval '1 minute'
      where name like '%:${new URL(third.url).port}'`,
      cluster.databaseUrl,
    )
    expect((await contracting.run(['migrate'])).status).toBe(0)
    expect(await schema()).toBe(2)
    await requireWhole('By the newer schema')
    expect(await serveRefused(old)).toContain('a newer Cairn has migrated it: run that one')

    for (const number of [0, 1]) await replace(number, contracting)
    await requireWhole('By the last release')
    expect(await releases(contracting)).toEqual(['contracting', 'contracting'])

    await traffic.end()
    expect(Object.keys(traffic.answers).toSorted()).toEqual([
      ...['GET /flows 200', 'GET /heartbeat 200', 'POST /events 202'],
    ])
    const rows = await cluster.postgres.ask<{ id: string }>(
      'select id from events',
      cluster.databaseUrl,
    )
    expect(rows.map(({ id }) => id).toSorted()).toEqual([...traffic.acknowledged].toSorted())
    expect(await contracting.json(['rebuild'])).toMatchObject({ changed: 0 })
  })
})
