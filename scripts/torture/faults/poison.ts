import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { apiOf, type Server } from '../../support/binary.ts'
import { until } from '../../support/until.ts'
import { type Tenant, tourOf } from '../load/clients.ts'
import { newEventId } from '../load/requests.ts'
import { type Check, none, noProblem } from '../result.ts'
import type { Site } from '../site.ts'
import type { Fault } from './fault.ts'

/** Batches with poison in them, and events that arrive at once, for each way of acknowledging. */
const sizes = { short: { batches: 20, atOnce: 500 }, long: { batches: 500, atOnce: 4_000 } }

/** Triggers that make the database reject a row, as a broken index or one row too many would. */
const rules = [
  ['event_batches', "instr(new.facts, cast('poison' as blob))"],
  ['step_reports', "new.message = 'poison'"],
  ['step_fingerprints', "new.url like '%poison'"],
  // One table further on, so that the projection of a stored event fails.
  ['runs', "new.person like '%venom%'"],
] as const

interface Answer {
  accepted: number
  results: { id: string; code: string }[]
}

/** Sends poison to one organisation, and collects what was wrong, in sentences. */
class Poisoner {
  readonly problems: string[] = []
  /** Events that were rejected, to be sent again once they are no longer poison. */
  readonly rejected: string[] = []
  /** Events that were stored, but whose consequences were rejected. */
  withoutConsequences = 0
  private readonly ask

  constructor(
    private readonly tenant: Tenant,
    server: Server,
    private readonly ack: 'commit' | 'buffer',
  ) {
    this.ask = apiOf(server, tenant.snippetKey)
  }

  /**
   * Sends a batch in which some events are poison: those get the verdict `storage`, and all others are kept.
   * In every other one only what follows from the event is poison, which nobody waits for.
   */
  async sendBatch(size: number, poisoned: ReadonlySet<number>, flowId: string): Promise<void> {
    const { journal } = this.tenant
    const events = Array.from({ length: size }, (_, i) => {
      const id = newEventId(journal)
      if (!poisoned.has(i)) return { id, kind: 'custom', name: 'x', userId: 'user' }
      if (i % 2 === 0) return { id, kind: 'custom', name: 'x', userId: 'poison' }
      return { id, kind: 'flow_started', flowId, userId: `venom-${id}` }
    })
    const bad = events.filter(({ userId }) => userId === 'poison').map(({ id }) => id)
    const good = events.map(({ id }) => id).filter(id => !bad.includes(id))
    this.withoutConsequences += poisoned.size - bad.length
    for (const id of good) journal.items.event.sent.add(id)
    // 503 means that nothing was stored: the server may be busy.
    let response = await this.ask('POST', '/events', { events })
    while (response.status === 503) response = await this.ask('POST', '/events', { events })
    const body = (await response.json()) as Answer
    const rejected = body.results?.filter(({ code }) => code === 'storage').map(({ id }) => id)
    const due = this.ack === 'commit' ? bad : []
    const status = due.length === size ? 422 : 202
    if (response.status !== status || !Bun.deepEquals(rejected?.toSorted(), due.toSorted())) {
      this.problems.push(`a batch was answered by ${response.status}, ${rejected?.length} rejected`)
    }
    for (const id of good) journal.items.event.acknowledged.add(id)
    this.rejected.push(...bad)
  }

  /** Sends reports that are poison. Each gets a 500, which says that it was not stored. */
  async sendReports(): Promise<number> {
    const { flowId, stepId } = await tourOf(this.ask)
    const userId = 'poison'
    const items = [{ key: 'second', completed: true }]
    const fingerprint = { matchCount: 1, tag: 'button', id: 'new' }
    const url = 'https://app.example/poison'
    const reports: [string, unknown][] = [
      [`/flows/${flowId}/complete`, { userId }],
      [`/flows/${flowId}/checklist-progress`, { userId, items }],
      [`/steps/${stepId}/health`, { outcome: 'found', message: 'poison' }],
      [`/steps/${stepId}/fingerprint`, { fingerprint, url }],
    ]
    for (const [path, body] of reports) {
      const { status } = await this.ask('POST', path, body)
      if (status !== 500) this.problems.push(`${path.split('/').at(-1)} was answered by ${status}`)
    }
    return reports.length
  }

  /** Sends rejected events again. They count as new once the database takes them. */
  async sendAgain(): Promise<void> {
    const { sent, acknowledged } = this.tenant.journal.items.event
    while (this.rejected.length > 0) {
      const ids = this.rejected.splice(0, 50)
      for (const id of ids) sent.add(id)
      const events = ids.map(id => ({ id, kind: 'custom', name: 'x', userId: 'poison' }))
      const { accepted } = (await (await this.ask('POST', '/events', { events })).json()) as Answer
      if (accepted !== ids.length) this.problems.push(`${accepted} of ${ids.length} ids were free`)
      for (const id of ids) acknowledged.add(id)
    }
  }
}

async function poisoned(site: Site, ack: 'commit' | 'buffer', isLong: boolean): Promise<Check[]> {
  const { random, place, tenants } = site
  const { batches, atOnce } = sizes[isLong ? 'long' : 'short']
  using database = new Database(join(place.dataDir, 'cairn.db'), { readwrite: true })
  database.run('pragma busy_timeout = 5000')
  const column = (sql: string) => database.query(sql).values().flat().map(Number)
  const deadLetters = () =>
    column("select count(*) from dead_letters where error like '%poisoned%'")[0]!
  const storedOnes = () =>
    column("select seq from dead_letters where json_extract(event, '$.isStored') is not null")
  const server = await site.start(['--ack', ack, '--log-level', 'error'])
  const before = deadLetters()
  const tenant = tenants[0]!
  const poisoner = new Poisoner(tenant, server, ack)
  const { flowId } = await tourOf(apiOf(server, tenant.snippetKey))
  for (const [table, condition] of rules) {
    database.run(`create trigger poison_${table} before insert on ${table}
      when ${condition} begin select raise(abort, 'poisoned'); end`)
  }
  const load = site.load(server, { clients: 2, ack })
  for (let i = 0; i < batches; i++) {
    const length = Math.ceil(random.between(0, 50))
    const places = Array.from({ length }, (_, place) => place).sort(() => random.next() - 0.5)
    const count = random.chance(0.1) ? length : Math.ceil(random.between(0, Math.min(3, length)))
    await poisoner.sendBatch(length, new Set(places.slice(0, count)), flowId)
  }
  // Single events that share a commit with one that is poison.
  const bad = Math.floor(atOnce / 2)
  const poison = (i: number) => new Set(i === bad ? [0] : [])
  await Promise.all(
    Array.from({ length: atOnce }, (_, i) => poisoner.sendBatch(1, poison(i), flowId)),
  )
  const reports = await poisoner.sendReports()
  await load.stop()
  const { rejected, withoutConsequences, problems } = poisoner
  const due = rejected.length + withoutConsequences + reports
  // With ack=buffer the last of them may still be waiting for their commit.
  const found = () => deadLetters() - before
  const letters = await until(found, count => count >= due, 60_000).catch(found)
  for (const [table] of rules) database.run(`drop trigger poison_${table}`)
  await poisoner.sendAgain()
  const retry = ['dead-letters', 'retry', '--org', tenant.slug, ...storedOnes().map(String)]
  await place.run(retry)
  await server.end()
  return [
    {
      what: `ack=${ack}: rejected events, events with rejected consequences, rejected reports`,
      value: `${due - withoutConsequences - reports}, ${withoutConsequences}, ${reports}`,
    },
    none(`ack=${ack}: of these not in the dead letters`, due - letters),
    none(`ack=${ack}: dead letters of stored events that a retry leaves`, storedOnes().length),
    noProblem(`ack=${ack}: responses other than due`, problems),
  ]
}

export const poison: Fault = {
  what: 'rows that the database rejects, in the midst of others',
  longRounds: 1,
  async run(site, isLong) {
    const checks = await poisoned(site, 'commit', isLong)
    return [...checks, ...(await poisoned(site, 'buffer', isLong)), ...(await site.finish())]
  },
}
