import { SeededRandom } from '../../../src/cli/demo/random.ts'
import { progress } from '../../report/progress.ts'
import { apiOf, type Server } from '../../support/binary.ts'
import { until } from '../../support/until.ts'
import { type Tenant, tourOf } from '../clients.ts'
import { Findings } from '../findings.ts'
import { type Entry, type Ledger, none, type Torture } from '../ledger.ts'
import { PoisonedTables } from '../poisoned-tables.ts'
import { ticksItem } from '../requests.ts'
import { Scene } from '../scene.ts'

/** Batches with poison in them, for each way of acknowledging. */
const rounds = { short: 20, long: 500 }

/** Events that arrive at once, so that they share a commit with one that is poison. */
const crowd = { short: 1_000, long: 4_000 }

interface Answer {
  accepted: number
  rejected: number
  results: { id: string; code: string }[]
}

/** Sends poison to one organisation, and collects what was wrong, in sentences. */
class Poisoner {
  readonly wrong: string[] = []
  /** Events that were refused, to be sent again once they are no longer poison. */
  readonly refused: string[] = []
  /** Events that were stored, but whose consequences were refused. */
  followers = 0
  private readonly ask

  constructor(
    private readonly tenant: Tenant,
    server: Server,
    private readonly ack: 'commit' | 'buffer',
  ) {
    this.ask = apiOf(server, tenant.snippetKey)
  }

  newId(): string {
    const id = `event-${this.tenant.diary.newNumber()}`
    return ticksItem(id) ? this.newId() : id
  }

  /**
   * Sends a batch in which some events are poison: those get the verdict `storage`, and all others are kept.
   * In every other one only what follows from the event is poison, which nobody waits for.
   */
  async sendBatch(size: number, poisoned: readonly number[], flowId: string): Promise<void> {
    const events = Array.from({ length: size }, (_, i) => {
      const id = this.newId()
      if (!poisoned.includes(i)) return { id, kind: 'custom', name: 'x', userId: 'user' }
      if (i % 2 === 0) return { id, kind: 'custom', name: 'x', userId: 'poison' }
      return { id, kind: 'flow_started', flowId, userId: `venom-${id}` }
    })
    const { sent, acknowledged } = this.tenant.diary.pages.event
    const bad = poisoned.filter(i => i % 2 === 0).map(i => events[i]!.id)
    this.followers += poisoned.length - bad.length
    const good = events.map(({ id }) => id).filter(id => !bad.includes(id))
    for (const id of good) sent.add(id)
    const response = await this.ask('POST', '/events', { events })
    const answer = (await response.json()) as Answer
    const refused = answer.results?.filter(({ code }) => code === 'storage').map(({ id }) => id)
    const isToldOf = Bun.deepEquals(
      refused?.toSorted(),
      this.ack === 'commit' ? bad.toSorted() : [],
    )
    const status = this.ack === 'commit' && bad.length === size ? 422 : 202
    if (response.status !== status || !isToldOf) {
      this.wrong.push(`a batch was answered by ${response.status}, ${refused?.length} refused`)
    }
    for (const id of good) acknowledged.add(id)
    this.refused.push(...bad)
  }

  /** Sends single events at once, one of which is poison. Returns how long it took, milliseconds. */
  async sendCrowd(size: number, flowId: string): Promise<number> {
    const startedAt = performance.now()
    const poisoned = Math.floor(size / 2)
    await Promise.all(
      Array.from({ length: size }, (_, i) => this.sendBatch(1, i === poisoned ? [0] : [], flowId)),
    )
    return performance.now() - startedAt
  }

  /** Sends reports that are poison. Each gets a 500, which says that it was not kept. */
  async sendReports(): Promise<number> {
    const { flowId, stepId } = await tourOf(this.ask)
    const userId = 'poison'
    const reports: [string, unknown][] = [
      [`/flows/${flowId}/complete`, { userId }],
      [
        `/flows/${flowId}/checklist-progress`,
        { userId, items: [{ key: 'second', completed: true }] },
      ],
      [`/steps/${stepId}/health`, { outcome: 'found', message: 'poison' }],
      [
        `/steps/${stepId}/fingerprint`,
        {
          fingerprint: { matchCount: 1, tag: 'button', id: 'new' },
          url: 'https://app.example/poison',
        },
      ],
    ]
    for (const [path, body] of reports) {
      const { status } = await this.ask('POST', path, body)
      if (status !== 500) this.wrong.push(`${path.split('/').at(-1)} was answered by ${status}`)
    }
    return reports.length
  }

  /** Sends refused events again. They count as new once the database takes them. */
  async sendAgain(): Promise<void> {
    const { sent, acknowledged } = this.tenant.diary.pages.event
    while (this.refused.length > 0) {
      const ids = this.refused.splice(0, 50)
      for (const id of ids) sent.add(id)
      const events = ids.map(id => ({ id, kind: 'custom', name: 'x', userId: 'poison' }))
      const { accepted } = (await (await this.ask('POST', '/events', { events })).json()) as Answer
      if (accepted !== ids.length) this.wrong.push(`${accepted} of ${ids.length} ids were free`)
      for (const id of ids) acknowledged.add(id)
    }
  }
}

async function poisoned(
  scene: Scene,
  ack: 'commit' | 'buffer',
  size: { rounds: number; crowd: number },
): Promise<Entry[]> {
  const { random } = scene
  using tables = new PoisonedTables(scene.place.dataDir)
  const server = await scene.start(['--ack', ack, '--log-level', 'error'])
  const lettersBefore = tables.letters('')
  const [tenant] = scene.tenants
  const poisoner = new Poisoner(tenant!, server, ack)
  const { flowId } = await tourOf(apiOf(server, tenant!.snippetKey))
  tables.poison()
  const clients = scene.work(server, { clients: 2, ack })
  for (let round = 0; round < size.rounds; round++) {
    const length = Math.ceil(random.between(0, 50))
    const places = Array.from({ length }, (_, i) => i)
    const count = random.chance(0.1) ? length : Math.ceil(random.between(0, Math.min(3, length)))
    const bad = places.toSorted(() => random.next() - 0.5).slice(0, count)
    await poisoner.sendBatch(length, bad, flowId)
  }
  const crowdMs = await poisoner.sendCrowd(size.crowd, flowId)
  const reports = await poisoner.sendReports()
  for (const each of clients) await each.stop()
  const sent = poisoner.refused.length + poisoner.followers + reports
  // With ack=buffer the last of them may still be waiting for their commit.
  const count = () => tables.letters('') - lettersBefore
  const letters = await until(count, found => found >= sent, 60_000).catch(count)
  tables.cure()
  const refused = poisoner.refused.length
  await poisoner.sendAgain()
  await scene.place.run([
    'dead-letters',
    'retry',
    '--org',
    tenant!.slug,
    ...tables.stored().map(String),
  ])
  await server.end()
  const told = poisoner.wrong.length > 0 ? `${poisoner.wrong.length}: ${poisoner.wrong[0]}` : 0
  return [
    {
      what: `ack=${ack}: poison events, events whose followers are poison, and reports`,
      value: `${refused}, ${poisoner.followers}, ${reports}`,
    },
    none(`ack=${ack}: letters of stored events that a retry leaves`, tables.stored().length),
    none(`ack=${ack}: of these not in the dead letters`, sent - letters),
    { what: `ack=${ack}: answers other than due`, value: told, isGood: told === 0 },
    {
      what: `ack=${ack}: ${size.crowd} events at once, one of them poison`,
      value: `${Math.round(crowdMs)} ms`,
    },
  ]
}

/** Makes the database refuse rows in the middle of others. */
export async function poison({ isLong, seed }: Torture): Promise<Ledger> {
  const found = new Findings()
  const form = isLong ? 'long' : 'short'
  const size = { rounds: rounds[form], crowd: crowd[form] }
  const entries: Entry[] = []
  {
    await using scene = await Scene.open(new SeededRandom(`poison ${seed}`), found)
    for (const ack of ['commit', 'buffer'] as const) {
      progress(`ack=${ack}`)
      entries.push(...(await poisoned(scene, ack, size)))
    }
    const server = await scene.start()
    scene.check()
    await scene.checkProjections(server)
    await server.end()
  }
  return {
    title: 'Rows that the database refuses',
    entries: [...entries, ...found.entries(false)],
  }
}
