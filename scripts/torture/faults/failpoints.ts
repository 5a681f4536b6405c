import type { Failpoint } from '../../../src/failpoints.ts'
import { progress } from '../../report/progress.ts'
import { apiOf, type Server, tourFile, Workplace, withTour } from '../../support/binary.ts'
import { textsIn } from '../../support/stored.ts'
import type { Responses } from '../journal.ts'
import { tourOf } from '../load.ts'
import { type Site, untilZero } from '../site.ts'
import type { Check } from '../verdict.ts'

const actions = ['exit', 'error'] as const
type Action = (typeof actions)[number]

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
  const statuses = [...counts].map(([status, count]) => `${count} × ${status ?? 'no response'}`)
  return `${statuses.toSorted().join(', ')}; dead letters: ${deadLetters}`
}

/** Starts a server with an armed failpoint and puts it under load until it ends or has acknowledged enough. */
async function loaded(site: Site, point: Failpoint, action: Action, passes: string) {
  const server = await site.start([], armed(point, action, passes))
  const load = site.load(server)
  const ended = await Promise.race([server.child.exited, site.until(itemsDuring)])
  return { server, load, ended: ended === undefined ? undefined : Number(ended) }
}

/** Under load: the process ends, or goes on by itself. */
async function underLoad(site: Site, point: Failpoint, action: Action): Promise<Outcome> {
  const isFatal = action === 'exit' || point === 'after_commit' || point === 'before_sync'
  // That of the failpoint itself, and 1 if the server ends because of an error.
  const status = action === 'exit' ? 70 : 1
  // From the third pass on, so that something is stored; errors often enough to produce dead letters.
  const { server, load, ended } = await loaded(
    site,
    point,
    action,
    action === 'exit' ? '@3' : '@3*20',
  )
  await load.stop()
  const responses = site.takeResponses()
  // What waits is committed a moment later.
  if (ended === undefined) await untilZero(server, 'cairn_buffer_events')
  const hasActed = isFatal || responses.failed > 0 || responses.deadLetters > 0
  // A 503 says that nothing was kept. It is the response if a transaction fails as a whole, for which no
  // command is to blame (that would be a 500). If a thread is gone, nobody can know.
  const failsAsAWhole =
    action === 'error' && (point === 'before_begin' || point === 'before_commit')
  const isAnsweredRightly =
    responses.counts.has(503) === failsAsAWhole && !(failsAsAWhole && responses.counts.has(500))
  return {
    story: `${storyOf(responses)}; ${endOf(ended)}`,
    isOk: hasActed && ended === (isFatal ? status : undefined) && isAnsweredRightly,
    server: ended === undefined ? server : undefined,
  }
}

/** After the responses: none of them fails, and what follows from the events is there in the end. */
async function afterResponses(site: Site, point: Failpoint, action: Action): Promise<Outcome> {
  const isFatal = action === 'exit'
  const { server, load, ended } = await loaded(site, point, action, isFatal ? '' : '*3')
  const status = ended ?? (isFatal ? await server.child.exited : undefined)
  await load.stop()
  const responses = site.takeResponses()
  if (status === undefined) await untilZero(server, 'cairn_projection_lag_events')
  const hasFailed = responses.failed + responses.deadLetters > 0
  return {
    story: `${storyOf(responses)}; ${endOf(status)}`,
    isOk: isFatal ? status === 70 : status === undefined && !hasFailed,
    server: status === undefined ? server : undefined,
  }
}

/**
 * At a start after an end under load, while what was acknowledged last is read again. The server ends
 * before anything is projected, because a kill at a random moment would sometimes leave nothing to read.
 */
async function inReplay(site: Site, point: Failpoint, action: Action): Promise<Outcome> {
  const { server, load } = await loaded(site, 'before_projection', 'exit', '')
  await server.child.exited
  await load.stop()
  site.takeResponses()
  const next = await site.place.start([], armed(point, action))
  const status = await next.child.exited
  return { story: endOf(status), isOk: status === (action === 'exit' ? 70 : 1) }
}

/**
 * At a stop. A reader in the middle of the log lets only half of it be written back, so a crash then
 * finds the database as it is in the middle of a checkpoint.
 */
async function atStop(site: Site, point: Failpoint, action: Action): Promise<Outcome> {
  const server = await site.start([], armed(point, action))
  const load = site.load(server)
  await site.until(itemsAfter)
  using reader = site.place.reading()
  if (action === 'exit') {
    reader.run('begin')
    reader.query('select count(*) from event_batches').get()
  }
  await site.until(itemsAfter)
  await load.stop()
  const status = await server.end()
  const isLeftOut = server.stdout.includes('the last checkpoint was skipped')
  const isOk = action === 'exit' ? status === 70 : status === 0 && isLeftOut
  return { story: endOf(status), isOk }
}

/** During a command to the server: callers see the old version, and the next attempt succeeds. */
async function inPublication(site: Site, point: Failpoint, action: Action): Promise<Outcome> {
  const { place, tenants } = site
  const { slug, snippetKey } = tenants[0]!
  const isFatal = action === 'exit'
  let server = await site.start([], armed(point, action, '*1'))
  const load = site.load(server)
  const version = async () => (await tourOf(apiOf(server, snippetKey))).version
  const before = await version()
  await Bun.write(place.path('next.yaml'), `name: Tour after ${point} ${action}\n${tourFile}`)
  const publish = ['flows', 'push', 'next.yaml', '--publish', '--org', slug]
  const { status } = await place.run(publish)
  const ended = isFatal ? await server.child.exited : undefined
  await load.stop()
  if (isFatal) server = await site.start()
  const during = await version()
  const again = await place.run(publish)
  const after = await version()
  const isKept = during === before && after === before + 1
  return {
    story: `${storyOf(site.takeResponses())}; ${endOf(ended)}; version ${before}, then ${during}, published again ${after}`,
    isOk: status === 1 && ended === (isFatal ? 70 : undefined) && again.status === 0 && isKept,
    server,
  }
}

/** At a start on a restored database that still has an erased person: the next start goes on. */
async function inErasure(_: Site, point: Failpoint, action: Action): Promise<Outcome> {
  await using place = new Workplace()
  const { slug, snippetKey } = await withTour(place)
  const userId = 'person-to-erase'
  const first = await place.serve()
  const events = [{ kind: 'custom', name: 'x', userId }]
  await apiOf(first, snippetKey)('POST', '/events', { events })
  await first.end()
  const database = place.path('cairn-data/cairn.db')
  const older = await Bun.file(database).bytes()
  await place.run(['person', 'erase', userId, '--org', slug, '--yes'])
  await Bun.write(database, older)
  const wasThere = textsIn(place.dataDir, [userId]).length > 0
  const server = await place.start([], armed(point, action))
  const serves = await server.ready.then(
    () => true,
    () => false,
  )
  // A lack of room for that is no reason not to serve.
  const isWarned = server.stderr.includes('may still hold what was erased')
  const status = await server.end()
  await (await place.serve()).end()
  const isErased = wasThere && textsIn(place.dataDir, [userId]).length === 0
  return {
    story: `${endOf(status)}; then ${isErased ? 'nothing' : 'something'} was left of the person`,
    isOk: isErased && (action === 'exit' ? status === 1 : serves && isWarned),
  }
}

/** The points that tests of the executable do not reach. */
const situations = {
  http_request: underLoad,
  before_begin: underLoad,
  between_rows: underLoad,
  before_commit: underLoad,
  before_sync: underLoad,
  after_commit: underLoad,
  before_projection: afterResponses,
  during_projection: afterResponses,
  during_replay: inReplay,
  during_checkpoint: atStop,
  during_publish: inPublication,
  during_erasure: inErasure,
} satisfies Partial<Record<Failpoint, typeof underLoad>>

/** Fails, restarts what has ended, as a service manager does, without the failpoint, and compares. */
async function checkOf(site: Site, point: keyof typeof situations, action: Action): Promise<Check> {
  const outcome = await situations[point](site, point, action)
  const server = outcome.server ?? (await site.start())
  const load = site.load(server)
  await site.until(itemsAfter)
  await load.stop()
  const isIntact = site.compare()
  await site.kill(server)
  site.takeResponses()
  const difference = isIntact ? '' : '; what is stored is not what was acknowledged'
  return {
    what: `${point} ${action}`,
    value: `${outcome.story}${difference}`,
    isOk: outcome.isOk && isIntact,
  }
}

export async function failpoints(site: Site): Promise<Check[]> {
  const checks: Check[] = []
  for (const point of Object.keys(situations) as (keyof typeof situations)[]) {
    for (const action of actions) {
      progress(`${point} ${action}`)
      checks.push(await checkOf(site, point, action))
    }
  }
  return [...checks, ...(await site.finish())]
}
