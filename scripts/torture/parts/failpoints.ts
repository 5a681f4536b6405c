import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { SeededRandom } from '../../../src/cli/demo/random.ts'
import { type Failpoint, failpoints as places } from '../../../src/failpoints.ts'
import { progress } from '../../report/progress.ts'
import {
  apiOf,
  firstFlowOf,
  metricOf,
  type Server,
  tourFile,
  Workplace,
} from '../../support/binary.ts'
import { writeOlder } from '../../support/older-schema.ts'
import { storedEvents } from '../../support/stored.ts'
import { until } from '../../support/until.ts'
import type { Answers } from '../diary.ts'
import { Findings } from '../findings.ts'
import type { Entry, Ledger, Torture } from '../ledger.ts'
import { Scene } from '../scene.ts'

type Action = 'exit' | 'error' | 'delay'
const allActions: readonly Action[] = ['exit', 'error', 'delay']
/** Without delays, because a thread that only stands still for a while has never broken anything. */
const quickActions: readonly Action[] = ['exit', 'error']

const delayMs = 300

/** How long catching up may take, milliseconds. */
const patienceMs = 60_000

const armed = (point: Failpoint, action: Action, passes = '') => ({
  CAIRN_FAILPOINTS: `${point}=${action === 'delay' ? `delay:${delayMs}` : action}${passes}`,
})

/**
 * How many items are acknowledged while a point acts. A commit takes one request of each client, with 45 items
 * at most, so there are enough commits.
 */
const itemsStruck = 1_500
const itemsAfter = 200

/** What came of an action. */
interface Outcome {
  story: string
  /** The point has acted, and the program did what it should. */
  isAsPromised: boolean
  /** The server that goes on, if it did not end. */
  server: Server | null
}

const storyOf = ({ counts, slowestMs, buried }: Answers) => {
  const told = [...counts]
    .toSorted(([a], [b]) => (a ?? 999) - (b ?? 999))
    .map(([status, count]) => `${count} × ${status ?? 'no answer'}`)
  const letters = buried > 0 ? `, ${buried} to the dead letters` : ''
  return `${told.join(', ')}${letters}, slowest ${Math.round(slowestMs)} ms`
}

/** From the third pass on, so that something is stored; errors often enough to produce dead letters. */
const passesOf = { exit: '@3', error: '@3*20', delay: '@3*3' }

/** Under load: the process ends, or goes on by itself. */
async function underLoad(scene: Scene, point: Failpoint, action: Action): Promise<Outcome> {
  const isFatal =
    point !== 'http_request' &&
    (action === 'exit' || (point === 'after_commit' && action === 'error'))
  const server = await scene.start([], armed(point, action, passesOf[action]))
  const clients = scene.work(server)
  const ended = await Promise.race([server.child.exited, scene.until(itemsStruck)])
  await Promise.all(clients.map(each => each.stop()))
  const answers = scene.takeAnswers()
  const buffer = () => metricOf(server, 'cairn_buffer_events')
  // What a dead thread had handed over is committed a moment later.
  const isEmpty = (events: number) => events === 0
  const buffered = ended === undefined ? await until(buffer, isEmpty, patienceMs).catch(buffer) : 0
  const hasActed = {
    exit: isFatal || server.stdout.includes('an HTTP thread has died'),
    error: isFatal || answers.refused > 0 || answers.buried > 0,
    delay: answers.slowestMs >= delayMs,
  }[action]
  const end = ended === undefined ? 'it went on' : `it ended with ${ended}`
  // A 503 says that nothing was kept. It is the answer if a transaction fails as a whole, for which no
  // command is to blame (that would be a 500). If a thread is gone, nobody can know.
  const failsWhole = action === 'error' && (point === 'before_begin' || point === 'before_commit')
  const isTold = answers.counts.has(503) === failsWhole && !(failsWhole && answers.counts.has(500))
  return {
    story: `${storyOf(answers)}; ${end}${buffered > 0 ? `, with ${buffered} events stuck` : ''}`,
    isAsPromised: hasActed && ended === (isFatal ? 1 : undefined) && buffered === 0 && isTold,
    server: ended === undefined ? server : null,
  }
}

/** Starts a server with a failpoint in its start. Returns how it ended, or undefined if it serves. */
async function startArmed(place: Workplace, point: Failpoint, action: Action, passes = '') {
  const startedAt = performance.now()
  const server = await place.start([], armed(point, action, passes))
  const ready = server.ready.catch(() => server.child.exited)
  const status = await Promise.race([server.child.exited, ready])
  const ms = Math.round(performance.now() - startedAt)
  return { server, status, ms, isLate: status === undefined && ms >= delayMs }
}

/** When the storage thread starts: there is no server, or it comes later. */
async function atStart(scene: Scene, point: Failpoint, action: Action): Promise<Outcome> {
  const { server, status, ms, isLate } = await startArmed(scene.place, point, action)
  if (status === undefined) {
    return { story: `it served after ${ms} ms`, isAsPromised: action === 'delay' && isLate, server }
  }
  const isAsPromised = action !== 'delay' && status === 1
  return { story: `it ended with ${status}`, isAsPromised, server: null }
}

/** After the answers: none of them fails, and what follows from the events is there in the end. */
async function behind(scene: Scene, point: Failpoint, action: Action): Promise<Outcome> {
  const server = await scene.start([], armed(point, action, action === 'exit' ? '' : '*3'))
  const clients = scene.work(server)
  const ended = await Promise.race([server.child.exited, scene.until(itemsStruck)])
  const isFatal = action === 'exit'
  const status = ended ?? (isFatal ? await server.child.exited : undefined)
  await Promise.all(clients.map(each => each.stop()))
  const answers = scene.takeAnswers()
  const lag = () => metricOf(server, 'cairn_projection_lag_events')
  if (status === undefined) await until(lag, events => events === 0, patienceMs)
  const end = status === undefined ? 'it went on' : `it ended with ${status}`
  return {
    story: `${storyOf(answers)}; ${end}`,
    isAsPromised: isFatal
      ? status === 1
      : status === undefined && answers.refused + answers.buried === 0,
    server: status === undefined ? server : null,
  }
}

/**
 * At a start after an end under load, while what was acknowledged last is read again. The server ends
 * before anything is projected, because a kill at a random moment would sometimes leave nothing to read.
 */
async function inReplay(scene: Scene, point: Failpoint, action: Action): Promise<Outcome> {
  const server = await scene.start([], armed('before_projection', 'exit'))
  const clients = scene.work(server)
  await server.child.exited
  await Promise.all(clients.map(each => each.stop()))
  scene.takeAnswers()
  return atStart(scene, point, action)
}

/**
 * At a stop. A reader in the middle of the log lets only half of it be written back, so a crash then
 * finds the database as it is in the middle of a checkpoint.
 */
async function atStop(scene: Scene, point: Failpoint, action: Action): Promise<Outcome> {
  const server = await scene.start([], armed(point, action))
  const clients = scene.work(server)
  await scene.until(itemsAfter)
  const reader = scene.place.reading()
  if (action === 'exit') {
    reader.run('begin')
    reader.query('select count(*) from event_batches').get()
  }
  await scene.until(itemsAfter)
  await Promise.all(clients.map(each => each.stop()))
  const startedAt = performance.now()
  const status = await server.end()
  const ms = Math.round(performance.now() - startedAt)
  reader.close()
  const isLeftOut = server.stdout.includes('the last checkpoint was left out')
  const isAsPromised = {
    exit: status === 1,
    error: status === 0 && isLeftOut,
    delay: status === 0 && ms >= delayMs,
  }[action]
  return { story: `it ended with ${status} after ${ms} ms`, isAsPromised, server: null }
}

/** During a command to the server: callers see either the old version or the next, each complete. */
async function inPublication(scene: Scene, point: Failpoint, action: Action): Promise<Outcome> {
  const { place, tenants } = scene
  const { slug, snippetKey } = tenants[0]!
  let server = await scene.start([], armed(point, action, '*1'))
  let clients = scene.work(server)
  const seen = () => firstFlowOf(apiOf(server, snippetKey))
  const before = await seen()
  await Bun.write(`${place.folder}/next.yaml`, `name: Tour after ${point} ${action}\n${tourFile}`)
  const publish = ['flows', 'push', 'next.yaml', '--publish', '--org', slug]
  const startedAt = performance.now()
  const { status } = await place.run(publish)
  const ms = Math.round(performance.now() - startedAt)
  const ended = action === 'exit' ? await server.child.exited : undefined
  if (action === 'exit') {
    await Promise.all(clients.map(each => each.stop()))
    server = await scene.start()
    clients = scene.work(server)
  }
  const during = await seen()
  const again = await place.run(publish)
  const after = await seen()
  await Promise.all(clients.map(each => each.stop()))
  const isPublished = action === 'delay'
  const isAsPromised =
    status === (isPublished ? 0 : 1) &&
    ended === (action === 'exit' ? 1 : undefined) &&
    during.version === before.version + Number(isPublished) &&
    (during.name === after.name) === isPublished &&
    again.status === 0 &&
    after.version === before.version + 1
  const versions = `version ${before.version}, then ${during.version}, published again ${after.version}`
  return {
    story: `${storyOf(scene.takeAnswers())}; the command ended with ${status} after ${ms} ms; ${versions}`,
    isAsPromised,
    server,
  }
}

/** At a start on what the first release left: the step leaves no trace, and the next start goes on. */
async function inMigration(_: Scene, point: Failpoint, action: Action): Promise<Outcome> {
  await using place = new MigratedPlace()
  const { server, status, ms, isLate } = await startArmed(place, point, action, '@2*1')
  const left = place.schema
  const next = status === undefined ? server : await place.serve()
  const isReady = (await fetch(`${next.managementUrl}/readyz`)).status === 200
  const hasActed = action === 'delay' ? isLate : status === 1
  // The second pass is in the second step that is due.
  const isWhole = action === 'delay' || left === 2
  const end = status === undefined ? `it served after ${ms} ms` : `it ended with ${status}`
  return {
    story: `${end}; schema ${left} was left, then ${place.schema}`,
    isAsPromised: hasActed && isWhole && isReady,
    server: null,
  }
}

/** At a start on a restored database that still has an erased person: the next start goes on. */
async function inErasure(_: Scene, point: Failpoint, action: Action): Promise<Outcome> {
  await using place = new MigratedPlace()
  await place.run(['migrate', '--no-copy'])
  const { slug, userId } = place.somebody()
  const older = await Bun.file(place.database).bytes()
  await place.run(['person', 'erase', slug, userId, '--yes'])
  await Bun.write(place.database, older)
  const isThere = async () => Buffer.from(await Bun.file(place.database).bytes()).includes(userId)
  const wasThere = await isThere()
  const { server, status, ms, isLate } = await startArmed(place, point, action)
  // A lack of room for that is no reason not to serve.
  const isWarned = server.stderr.includes('may still hold what was erased')
  if (status === undefined) await server.end()
  const next = await place.serve()
  const isReady = (await fetch(`${next.managementUrl}/readyz`)).status === 200
  const hasActed = {
    exit: status === 1,
    error: status === undefined && isWarned,
    delay: isLate,
  }[action]
  const isErased = wasThere && !(await isThere())
  const warned = isWarned ? ' with a warning' : ''
  const end = status === undefined ? `it served${warned} after ${ms} ms` : `it ended with ${status}`
  return {
    story: `${end}; then ${isErased ? 'nothing was left of them' : 'something was left of them'}`,
    isAsPromised: hasActed && isErased && isReady,
    server: null,
  }
}

/** A place in which the first release has left its data. */
class MigratedPlace extends Workplace {
  readonly database = join(this.dataDir, 'cairn.db')

  constructor() {
    super()
    writeOlder(this.dataDir, 1)
  }

  /** One of the people who have reported something. */
  somebody(): { slug: string; userId: string } {
    using database = new Database(this.database)
    const [[slug]] = database.query('select slug from organisations').values() as [[string]]
    return { slug, userId: storedEvents(database).flatMap(event => event.userId ?? [])[0]! }
  }

  get schema(): number {
    using database = new Database(this.database)
    return database.query<{ id: number }, []>('select max(id) as id from migrations').get()!.id
  }
}

const strikes: Record<Failpoint, typeof underLoad> = {
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

/** Strikes, restarts what has ended, as a service manager does, without the fault, and checks. */
async function row(scene: Scene, point: Failpoint, action: Action): Promise<Entry> {
  const outcome = await strikes[point](scene, point, action)
  const server = outcome.server ?? (await scene.start())
  const clients = scene.work(server)
  await scene.until(itemsAfter)
  await Promise.all(clients.map(each => each.stop()))
  const isWhole = scene.check()
  await scene.kill(server)
  scene.takeAnswers()
  const kept = isWhole ? '' : '; what is stored is not what was acknowledged'
  return {
    what: `${point} ${action}`,
    value: `${outcome.story}${kept}`,
    isGood: outcome.isAsPromised && isWhole,
  }
}

/** Makes the executable fail at every point in every way, under load, and checks that it recovers. */
export async function failpoints({ isLong, seed }: Torture): Promise<Ledger> {
  const found = new Findings()
  const entries: Entry[] = []
  const points = Object.keys(places) as Failpoint[]
  {
    await using scene = await Scene.open(new SeededRandom(`failpoints ${seed}`), found)
    for (const point of points) {
      for (const action of isLong ? allActions : quickActions) {
        progress(`${point} ${action}`)
        entries.push(await row(scene, point, action))
      }
    }
    const server = await scene.start()
    await scene.checkProjections(server)
    await server.end()
  }
  return {
    title: 'Failed at every point',
    entries: [...entries, ...found.entries(isLong)],
    notes: points.map(point => `\`${point}\`: ${places[point]}.`),
  }
}
