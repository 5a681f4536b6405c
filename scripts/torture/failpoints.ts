import { SeededRandom } from '../../src/cli/demo/random.ts'
import { type Failpoint, failpoints as places } from '../../src/failpoints.ts'
import { progress } from '../report/progress.ts'
import { apiOf, metricOf, type Server, tourFile, Workplace, withTour } from '../support/binary.ts'
import { writeOlder } from '../support/older-schema.ts'
import { textsIn } from '../support/stored.ts'
import { until } from '../support/until.ts'
import { tourOf } from './load/clients.ts'
import type { Responses } from './load/journal.ts'
import type { Part } from './parts.ts'
import type { Check } from './result.ts'
import { Site } from './site.ts'

const actions = ['exit', 'error'] as const
type Action = (typeof actions)[number]

/** How long catching up may take, milliseconds. */
const patienceMs = 60_000

const armed = (point: Failpoint, action: Action, passes = '') => ({
  CAIRN_FAILPOINTS: `${point}=${action}${passes}`,
})

/**
 * How many items are acknowledged while a point acts: enough commits, because each takes one request of each
 * client with 45 items at most.
 */
const itemsDuring = 800
const itemsAfter = 100

/** What came of an action. */
interface Outcome {
  story: string
  /** The point has acted, and the program did what it should. */
  isOk: boolean
  /** The server that goes on, if it did not end. */
  server?: Server | undefined
}

const endOf = (status: unknown) => (status === undefined ? 'it went on' : `it ended with ${status}`)

const storyOf = ({ counts, deadLetters }: Responses) => {
  const statuses = [...counts]
    .toSorted(([a], [b]) => (a ?? 999) - (b ?? 999))
    .map(([status, count]) => `${count} × ${status ?? 'no response'}`)
  const letters = deadLetters > 0 ? `, ${deadLetters} to the dead letters` : ''
  return `${statuses.join(', ')}${letters}`
}

/** From the third pass on, so that something is stored; errors often enough to produce dead letters. */
const passesOf = { exit: '@3', error: '@3*20' }

/** Under load: the process ends, or goes on by itself. */
async function underLoad(site: Site, point: Failpoint, action: Action): Promise<Outcome> {
  const isFatal =
    point !== 'http_request' &&
    (action === 'exit' || (point === 'after_commit' && action === 'error'))
  const server = await site.start([], armed(point, action, passesOf[action]))
  const load = site.load(server)
  const ended = await Promise.race([server.child.exited, site.until(itemsDuring)])
  await load.stop()
  const responses = site.takeResponses()
  const buffer = () => metricOf(server, 'cairn_buffer_events')
  // What a dead thread had handed over is committed a moment later.
  const isEmpty = (events: number) => events === 0
  const buffered = ended === undefined ? await until(buffer, isEmpty, patienceMs).catch(buffer) : 0
  const hasActed = {
    exit: isFatal || server.stdout.includes('an HTTP thread has died'),
    error: isFatal || responses.failed > 0 || responses.deadLetters > 0,
  }[action]
  const end = endOf(ended)
  // A 503 says that nothing was kept. It is the response if a transaction fails as a whole, for which no
  // command is to blame (that would be a 500). If a thread is gone, nobody can know.
  const failsWhole = action === 'error' && (point === 'before_begin' || point === 'before_commit')
  const isAnsweredRightly =
    responses.counts.has(503) === failsWhole && !(failsWhole && responses.counts.has(500))
  return {
    story: `${storyOf(responses)}; ${end}${buffered > 0 ? `, with ${buffered} events stuck` : ''}`,
    isOk: hasActed && ended === (isFatal ? 1 : undefined) && buffered === 0 && isAnsweredRightly,
    server: ended === undefined ? server : undefined,
  }
}

/** Starts a server with a failpoint in its start; status is undefined if it serves. */
async function startArmed(place: Workplace, point: Failpoint, action: Action, passes = '') {
  const server = await place.start([], armed(point, action, passes))
  const ready = server.ready.catch(() => server.child.exited)
  return { server, status: await Promise.race([server.child.exited, ready]) }
}

/** When the storage thread starts: there is no server. */
async function atStart(site: Site, point: Failpoint, action: Action): Promise<Outcome> {
  const { server, status } = await startArmed(site.place, point, action)
  if (status === undefined) await server.end()
  return { story: endOf(status), isOk: status === 1 }
}

/** After the responses: none of them fails, and what follows from the events is there in the end. */
async function behind(site: Site, point: Failpoint, action: Action): Promise<Outcome> {
  const server = await site.start([], armed(point, action, action === 'exit' ? '' : '*3'))
  const load = site.load(server)
  const ended = await Promise.race([server.child.exited, site.until(itemsDuring)])
  const isFatal = action === 'exit'
  const status = ended ?? (isFatal ? await server.child.exited : undefined)
  await load.stop()
  const responses = site.takeResponses()
  const lag = () => metricOf(server, 'cairn_projection_lag_events')
  if (status === undefined) await until(lag, events => events === 0, patienceMs)
  const end = endOf(status)
  return {
    story: `${storyOf(responses)}; ${end}`,
    isOk: isFatal
      ? status === 1
      : status === undefined && responses.failed + responses.deadLetters === 0,
    server: status === undefined ? server : undefined,
  }
}

/**
 * At a start after an end under load, while what was acknowledged last is read again. The server ends
 * before anything is projected, because a kill at a random moment would sometimes leave nothing to read.
 */
async function inReplay(site: Site, point: Failpoint, action: Action): Promise<Outcome> {
  const server = await site.start([], armed('before_projection', 'exit'))
  const load = site.load(server)
  await server.child.exited
  await load.stop()
  site.takeResponses()
  return atStart(site, point, action)
}

/**
 * At a stop. A reader in the middle of the log lets only half of it be written back, so a crash then
 * finds the database as it is in the middle of a checkpoint.
 */
async function atStop(site: Site, point: Failpoint, action: Action): Promise<Outcome> {
  const server = await site.start([], armed(point, action))
  const load = site.load(server)
  await site.until(itemsAfter)
  const reader = site.place.reading()
  if (action === 'exit') {
    reader.run('begin')
    reader.query('select count(*) from event_batches').get()
  }
  await site.until(itemsAfter)
  await load.stop()
  const status = await server.end()
  reader.close()
  const isLeftOut = server.stdout.includes('the last checkpoint was left out')
  const isOk = action === 'exit' ? status === 1 : status === 0 && isLeftOut
  return { story: endOf(status), isOk }
}

/** During a command to the server: callers see the old version, and the next attempt succeeds. */
async function inPublication(site: Site, point: Failpoint, action: Action): Promise<Outcome> {
  const { place, tenants } = site
  const { slug, snippetKey } = tenants[0]!
  let server = await site.start([], armed(point, action, '*1'))
  const load = site.load(server)
  const version = async () => (await tourOf(apiOf(server, snippetKey))).version
  const before = await version()
  await Bun.write(place.path('next.yaml'), `name: Tour after ${point} ${action}\n${tourFile}`)
  const publish = ['flows', 'push', 'next.yaml', '--publish', '--org', slug]
  const { status } = await place.run(publish)
  const ended = action === 'exit' ? await server.child.exited : undefined
  await load.stop()
  if (action === 'exit') server = await site.start()
  const during = await version()
  const again = await place.run(publish)
  const after = await version()
  return {
    story: `${storyOf(site.takeResponses())}; ${endOf(ended)}; version ${before}, then ${during}, published again ${after}`,
    isOk:
      status === 1 &&
      ended === (action === 'exit' ? 1 : undefined) &&
      during === before &&
      again.status === 0 &&
      after === before + 1,
    server,
  }
}

/** At a start on an older schema: the step leaves no trace, and the next start goes on. */
async function inMigration(_: Site, point: Failpoint, action: Action): Promise<Outcome> {
  await using place = new Workplace()
  writeOlder(place.dataDir, 1)
  const schema = () => {
    using database = place.reading()
    return database.query<{ id: number }, []>('select max(id) as id from migrations').get()!.id
  }
  // The second pass is in the second step that is due.
  const { status } = await startArmed(place, point, action, '@2*1')
  const left = schema()
  await place.serve()
  const story = `${endOf(status)}; schema ${left} was left, then ${schema()}`
  return { story, isOk: status === 1 && left === 2 && schema() > left }
}

/** At a start on a restored database that still has an erased person: the next start goes on. */
async function inErasure(_: Site, point: Failpoint, action: Action): Promise<Outcome> {
  await using place = new Workplace()
  const { slug, snippetKey } = await withTour(place)
  const userId = 'person-to-erase'
  const first = await place.serve()
  const event = { kind: 'custom', name: 'x', userId }
  await apiOf(first, snippetKey)('POST', '/events', { events: [event] })
  await first.end()
  const database = place.path('cairn-data/cairn.db')
  const older = await Bun.file(database).bytes()
  await place.run(['person', 'erase', slug, userId, '--yes'])
  await Bun.write(database, older)
  const isThere = () => textsIn(place.dataDir, [userId]).length > 0
  const wasThere = isThere()
  const { server, status } = await startArmed(place, point, action)
  // A lack of room for that is no reason not to serve.
  const isWarned = server.stderr.includes('may still hold what was erased')
  if (status === undefined) await server.end()
  const next = await place.serve()
  await next.end()
  const isErased = wasThere && !isThere()
  return {
    story: `${endOf(status)}; then ${isErased ? 'nothing' : 'something'} was left of the person`,
    isOk: isErased && (action === 'exit' ? status === 1 : status === undefined && isWarned),
  }
}

const situations: Record<Exclude<Failpoint, 'before_log_commit'>, typeof underLoad> = {
  storage_start: atStart,
  http_request: underLoad,
  before_begin: underLoad,
  between_rows: underLoad,
  before_commit: underLoad,
  after_commit: underLoad,
  before_projection: behind,
  during_projection: behind,
  during_replay: inReplay,
  during_checkpoint: atStop,
  during_publish: inPublication,
  migration_step: inMigration,
  during_erasure: inErasure,
}

/** Fails, restarts what has ended, as a service manager does, without the failpoint, and compares. */
async function checkOf(site: Site, point: Failpoint, action: Action): Promise<Check> {
  const outcome = await situations[point as keyof typeof situations](site, point, action)
  const server = outcome.server ?? (await site.start())
  const load = site.load(server)
  await site.until(itemsAfter)
  await load.stop()
  const isWhole = site.compare()
  await site.kill(server)
  site.takeResponses()
  const kept = isWhole ? '' : '; what is stored is not what was acknowledged'
  return {
    what: `${point} ${action}`,
    value: `${outcome.story}${kept}`,
    isOk: outcome.isOk && isWhole,
  }
}

/** Makes the executable fail at every point in every way, under load; it must recover. */
export const failpoints: Part = {
  what: 'made to fail at each moment of a write, a checkpoint, a publication, a start, …',
  async run({ seed }) {
    await using site = await Site.open(new SeededRandom(`failpoints ${seed}`))
    const checks: Check[] = []
    const points = Object.keys(places) as Failpoint[]
    for (const point of points) {
      for (const action of actions) {
        progress(`${point} ${action}`)
        checks.push(await checkOf(site, point, action))
      }
    }
    return {
      title: 'Failed at every point',
      checks: [...checks, ...(await site.finish())],
      notes: points.map(point => `\`${point}\`: ${places[point]}.`),
    }
  },
}
