import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { apiOf } from '../../support/binary.ts'
import { newEventId, newItem, tourOf } from '../load.ts'
import { type Site, untilZero } from '../site.ts'
import { type Check, none, noProblem } from '../verdict.ts'

/** Batches with poison in them, and events that arrive at once, for each way of acknowledging. */
const sizes = { short: { batches: 20, atOnce: 500 }, long: { batches: 500, atOnce: 4_000 } }

/** Triggers that make the database reject a row, as a broken index or one row too many would. */
const rules = [
  ['event_ids', "new.id like 'poison%'"],
  ['step_reports', "new.message = 'poison'"],
  ['step_fingerprints', "new.url like '%poison'"],
  // One table further on, so that the projection of a stored event fails.
  ['runs', "new.person like '%venom%'"],
] as const

interface Outcome {
  accepted: number
  duplicates: number
  results: { id: string; code: string }[]
}

async function poisoned(site: Site, ack: 'commit' | 'buffer', isLong: boolean): Promise<Check[]> {
  const { random, place } = site
  const { journal, slug, snippetKey } = site.tenants[0]!
  const { sent, acknowledged } = journal.items.event
  const { batches, atOnce } = sizes[isLong ? 'long' : 'short']
  const server = await site.start(['--ack', ack, '--log-level', 'error'])
  const ask = apiOf(server, snippetKey)
  const tour = await tourOf(ask)
  using database = new Database(join(place.dataDir, 'cairn.db'), { readwrite: true })
  database.run('pragma busy_timeout = 120000')
  const column = (sql: string) => database.query(sql).values().flat().map(Number)
  const deadLetters = () =>
    column("select count(*) from dead_letters where error like '%poisoned%'")[0]!
  const storedOnes = () =>
    column("select seq from dead_letters where json_extract(event, '$.isStored') is not null")
  const before = deadLetters()

  const problems: string[] = []
  /** Events that were rejected, to be sent again once they are no longer poison. */
  const rejected: string[] = []
  /** Events that were stored, but whose consequences were rejected. */
  let withoutConsequences = 0

  /**
   * Sends a request until it has another response than 503, which says that storage was busy. The server closes
   * a connection that is idle for half a minute, just when this may send over it on a very busy machine.
   */
  const post = async (path: string, body: unknown): Promise<Response> => {
    for (;;) {
      const response = await ask('POST', path, body).catch(() => null)
      if (response !== null && response.status !== 503) return response
      await Bun.sleep(20)
    }
  }
  /**
   * Sends a batch in which some events are poison: those get the verdict `storage`, and all others are kept.
   * In every other one only what follows from the event is poison, which nobody waits for.
   */
  const sendBatch = async (size: number, places: ReadonlySet<number>) => {
    const events = Array.from({ length: size }, (_, i) => {
      const id = newEventId(journal)
      if (!places.has(i)) return { id, kind: 'custom', name: 'x', userId: 'user' }
      if (i % 2 === 0) return { id: `poison-${id}`, kind: 'custom', name: 'x', userId: 'user' }
      return { id, kind: 'flow_started', flowId: tour.flowId, userId: `venom-${id}` }
    })
    const bad = events.map(({ id }) => id).filter(id => id.startsWith('poison'))
    const good = events.map(({ id }) => id).filter(id => !bad.includes(id))
    withoutConsequences += places.size - bad.length
    for (const id of good) sent.add(id)
    const response = await post('/events', { events })
    const { results } = (await response.json()) as Outcome
    const found = results?.filter(({ code }) => code === 'storage').map(({ id }) => id)
    const due = ack === 'commit' ? bad : []
    const status = due.length === size ? 422 : 202
    if (response.status !== status || !Bun.deepEquals(found?.toSorted(), due.toSorted())) {
      problems.push(`a batch was answered by ${response.status}, ${found?.length} rejected`)
    }
    for (const id of good) acknowledged.add(id)
    rejected.push(...bad)
  }

  for (const [table, condition] of rules) {
    database.run(`create trigger poison_${table} before insert on ${table}
      when ${condition} begin select raise(abort, 'poisoned'); end`)
  }
  const load = site.load(server, { clients: 2, ack })
  for (let i = 0; i < batches; i++) {
    const length = Math.ceil(random.between(0, 50))
    const places = Array.from({ length }, (_, place) => place).sort(() => random.next() - 0.5)
    const count = random.chance(0.1) ? length : Math.ceil(random.between(0, Math.min(3, length)))
    await sendBatch(length, new Set(places.slice(0, count)))
  }
  // Single events that share a commit with one that is poison.
  const bad = Math.floor(atOnce / 2)
  await Promise.all(
    Array.from({ length: atOnce }, (_, i) => sendBatch(1, new Set(i === bad ? [0] : []))),
  )
  // Reports that are poison: the response says that they were not stored.
  const reports = (['health report', 'fingerprint'] as const).map(kind => {
    const { path, body, names } = newItem(kind, journal, tour)
    return [path, JSON.parse(JSON.stringify(body).replaceAll(names[0]!, 'poison'))] as const
  })
  for (const [path, body] of reports) {
    const { status } = await post(path, body)
    if (status !== 500) problems.push(`${path.split('/').at(-1)} was answered by ${status}`)
  }
  await load.stop()
  const due = rejected.length + withoutConsequences + reports.length
  // Whatever was acknowledged before it was stored, and what follows from events, is then in the tables.
  for (const metric of ['cairn_buffer_events', 'cairn_projection_lag_events']) {
    await untilZero(server, metric)
  }
  // A request that was sent again may have left two.
  const missing = Math.max(0, due - (deadLetters() - before))
  for (const [table] of rules) database.run(`drop trigger poison_${table}`)

  // The ids of rejected events are free: the events are stored once the database takes them.
  const again = rejected.length
  while (rejected.length > 0) {
    const ids = rejected.splice(0, 50)
    for (const id of ids) sent.add(id)
    const events = ids.map(id => ({ id, kind: 'custom', name: 'x', userId: 'user' }))
    const outcome = (await (await post('/events', { events })).json()) as Outcome
    const free = outcome.accepted + outcome.duplicates
    if (free !== ids.length) problems.push(`${free} of ${ids.length} ids were free`)
    for (const id of ids) acknowledged.add(id)
  }
  await place.json(['dead-letters', 'retry', '--org', slug, ...storedOnes().map(String)])
  await server.end()
  return [
    {
      what: `ack=${ack}: rejected events, events with rejected consequences, rejected reports`,
      value: `${again}, ${withoutConsequences}, ${reports.length}`,
    },
    none(`ack=${ack}: of these not in the dead letters`, missing),
    none(`ack=${ack}: dead letters of stored events that a retry leaves`, storedOnes().length),
    noProblem(`ack=${ack}: responses other than due`, problems),
  ]
}

export async function poison(site: Site, isLong: boolean): Promise<Check[]> {
  const checks = await poisoned(site, 'commit', isLong)
  return [...checks, ...(await poisoned(site, 'buffer', isLong)), ...(await site.finish())]
}
