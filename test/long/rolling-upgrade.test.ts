import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { followedBy, storedEvents } from '../../scripts/support/stored.ts'
import { until } from '../../scripts/support/until.ts'
import { apiOf, briefly, builtBinary, firstFlowOf, Workplace } from '../support/binary.ts'
import { Cluster, type ClusterNode, describe } from '../support/cluster.ts'
import { otherBuild, withStep } from '../support/other-build.ts'

/** Nodes that are upgraded one after the other behind a balancer, to an executable whose databases differ. */

/** The next release adds to what all nodes share (flows, dead letters) and to what each projects (runs). */
const moods = withStep(
  `alter table runs add column mood text;
  create index runs_with_mood on runs (org_id, flow_id, mood) where mood is not null;
  alter table flows add column mood text not null default 'fine';
  alter table dead_letters add column mood text;`,
)

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
  let later: Workplace
  let laterProgram = ''
  let snippetKey: string
  let slug: string
  let token: string
  let traffic: Traffic
  beforeAll(async () => {
    const program = await builtBinary()
    cluster = await Cluster.open({ program })
    old = new Workplace(async () => program, undefined, cluster.env)
    later = new Workplace(async () => laterProgram, undefined, cluster.env)
    const building = otherBuild(later.path('source'), [moods], 'later')
    ;({ snippetKey, slug } = await old.json(['org', 'create', 'Acme']))
    const buckets = ['events', 'flows', 'heartbeat']
    const limits = Object.fromEntries(buckets.map(bucket => [bucket, 1_000_000]))
    await old.json(['api', 'PATCH', '/settings', '--body', JSON.stringify({ limits })])
    const scopes = ['flows:write', 'flows:publish'].flatMap(scope => ['--scope', scope])
    ;({ token } = await old.json(['token', 'create', 'CI', ...scopes]))
    laterProgram = await building
    await publish('Title 0')
    await cluster.serve(2, briefly)
    const { id } = await firstFlowOf(apiOf(cluster, snippetKey))
    traffic = new Traffic(cluster.url, snippetKey, id)
  }, 300_000)
  afterAll(async () => {
    await traffic?.end()
    for (const place of [old, later]) await place?.close()
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
  const atNode = ({ dataDir }: ClusterNode, ...args: string[]) =>
    old.run([...args, '--data', dataDir], { CAIRN_DATABASE_URL: '' })
  /** Expects every node to show a publish through the balancer once it is answered, and each other's events. */
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
      for (const other of cluster.nodes) {
        expect((await atNode(other, 'person', 'export', 'ada', '--org', slug)).stdout).toContain(id)
      }
    }
    await traffic.atWork()
  }
  const releases = async (place = old) => {
    const { nodes } = await place.json<{
      nodes: { name: string; release: string; state: string }[]
    }>(['nodes'])
    const there = nodes.filter(({ state }) => state !== 'gone')
    expect(there.filter(({ state }) => state !== 'running')).toEqual([])
    return there.map(({ release }) => release.replace(/.*\+/, '')).toSorted()
  }
  const serveRefused = async (place: Workplace, dataDir: string) => {
    const ports = ['--port', '0', '--management-port', '0']
    const { status, stderr } = await place.run(['serve', ...ports, '--data', dataDir])
    expect(status).not.toBe(0)
    return stderr
  }
  const upgrade = async (node: ClusterNode) => {
    expect(await cluster.replace(node, laterProgram, briefly)).toBe(0)
    await traffic.atWork()
  }
  /** What the nodes hold, once both are where the log is. */
  const settled = async () => {
    const [clock] = await cluster.postgres.ask<{ position: string }>(
      "select concat(seq, ' ', mark) as position from cairn_clock",
      cluster.databaseUrl,
    )
    return cluster.nodes.flatMap(({ dataDir }) => {
      using database = new Database(join(dataDir, 'cairn.db'), { readonly: true })
      const followed = followedBy(database)
      return followed.isProjected && followed.position === clock!.position ? followed : []
    })
  }

  test('fails no request, loses no event, and leaves both nodes with the same data', async () => {
    const [first, second] = cluster.nodes as [ClusterNode, ClusterNode]
    await requireWhole('By old nodes')
    const [own] = await releases()

    await upgrade(first)
    await requireWhole('By old and new')
    // A node of the old release may still join with an empty directory, and one of the new one too.
    const joining = await Promise.all(
      [old, later].map(place => place.serve(['--data', place.path('joining')])),
    )
    expect(await releases()).toEqual([own!, own!, 'later', 'later'].toSorted())
    for (const node of joining) {
      expect(await firstFlowOf(apiOf(node, snippetKey))).toMatchObject({ name: 'By old and new' })
      expect(await node.end()).toBe(0)
    }
    // A directory that was upgraded is nothing for the old release.
    expect(await serveRefused(old, later.path('joining'))).toContain('newer')

    // Whoever is erased is in no snapshot from then on, so none is left that the old release can begin with.
    const eves = { id: 'of eve', kind: 'custom', name: 'x', userId: 'eve' }
    await apiOf(second, snippetKey)('POST', '/events', { events: [eves] })
    const erased = await atNode(first, 'person', 'erase', 'eve', '--org', slug, '--yes', '--json')
    expect(JSON.parse(erased.stdout)).toMatchObject({ erased: { events: 1 } })
    for (const node of cluster.nodes) {
      const gone = await atNode(node, 'person', 'export', 'eve', '--org', slug)
      expect(gone.stderr).toContain('no data for this person')
    }
    expect(await serveRefused(old, old.path('too-late'))).toContain('by a newer release: run that')

    await upgrade(second)
    await requireWhole('By new nodes')
    expect(await releases(later)).toEqual(['later', 'later'])

    await traffic.end()
    expect(Object.keys(traffic.answers).toSorted()).toEqual([
      ...['GET /flows 200', 'GET /heartbeat 200', 'POST /events 202'],
    ])
    const [one, other] = await until(settled, both => both.length === 2)
    expect(other!.hashes).toEqual(one!.hashes)
    using database = new Database(join(first.dataDir, 'cairn.db'), { readonly: true })
    const ids = storedEvents(database).map(({ id }) => id)
    const [ofEve = ''] = ids.filter(id => id.startsWith('erased-'))
    traffic.acknowledged.add(ofEve)
    expect(ids.toSorted()).toEqual([...traffic.acknowledged].toSorted())
    expect(JSON.parse((await atNode(first, 'rebuild', '--json')).stdout)).toMatchObject({
      changed: 0,
    })
  })
})
