import '../test-clock.ts'
import type { Config } from '../config/settings.ts'
import { shortReasonOf } from '../core/text/reason.ts'
import { armFailpoints, failpoint } from '../failpoints.ts'
import { Storage, type StorageOptions } from '../storage/sqlite/storage.ts'
import { defaultWriterPolicy } from '../storage/sqlite/writer/group-commit.ts'
import { Collector, ownHeap } from './collector.ts'
import { CommitCounters } from './counters.ts'
import { catchUp, type OpenFollowing, openFollowing } from './following.ts'
import { type Log, openLog } from './log.ts'
import { longWorkBeside } from './long-work-thread.ts'
import { NodeWatch } from './node-watch.ts'
import type { Join, Reloaded, Stop, TallyWanted, ThreadReport, ThreadStart } from './protocol.ts'
import { Pulse } from './pulse.ts'
import { systemClock } from './system-clock.ts'
import { Tally } from './tally.ts'

/** The only thread that writes. */

declare const self: Worker

/** How often the thread looks for changes by other processes, and writes presence, milliseconds. */
const watchEveryMs = 100
const writePresenceEveryMs = 2_000
const lookAtLogEveryMs = 1_000
/**
 * How soon the first look for blocks to make and rows to delete is, and the next after one that failed,
 * milliseconds.
 */
const makeBlocksAfterMs = 2_000
const retainAfterMs = 2_000

const report = (message: ThreadReport) => self.postMessage(message)

/**
 * Work that is done in slices.
 *
 * @param work returns the milliseconds after which it wants to go on; null if it has failed
 */
function slices(firstMs: number, work: () => Promise<number | null>) {
  let timer: ReturnType<typeof setTimeout> | null = null
  const after = (pauseMs: number) => {
    timer = setTimeout(async () => {
      const nextMs = await work()
      if (timer) after(nextMs ?? firstMs)
    }, pauseMs)
  }
  after(firstMs)
  return {
    stop() {
      if (timer) clearTimeout(timer)
      timer = null
    },
  }
}

/** What storage is opened with. */
type StorageParts = Pick<
  StorageOptions,
  | 'clock'
  | 'shared'
  | 'bufferBounds'
  | 'policy'
  | 'observer'
  | 'onFault'
  | 'onHealed'
  | 'onDivergence'
> & {
  log: Log
  config: Config
  /** Housekeeping that fails is logged and retried at its next turn. */
  tried<T>(work: () => T | Promise<T>): Promise<T | null>
}

/** How often a node looks for what others have appended, milliseconds. A publish waits at most this long. */
const followEveryMs = 100
/** When, and how often, a node looks for a snapshot that is due, or an erasure left half done; milliseconds. */
const lookAfterMs = 1_000
const lookEveryMs = 60_000
/** How often new events are copied as rows, and when again after a failure; milliseconds. */
const copyEveryMs = 1_000
const copyAgainMs = 10_000

async function openStorage({ log, config, tried, ...parts }: StorageParts) {
  const { data: dataDir, databaseUrl } = config
  const watch = new NodeWatch(parts.shared.node, config, log)
  const opened =
    databaseUrl === null
      ? null
      : await openFollowing(databaseUrl, {
          ...{ node: parts.shared.node, clock: parts.clock, port: config.port },
          work: longWorkBeside({ dataDir, isServed: true }, true),
          onRenewed: () => watch.look(),
        })
  const storage = new Storage({
    ...parts,
    dataDir,
    isLogKept: config.checkpoints === 'litestream',
    retention: { days: config.retentionDays },
    following: opened?.following ?? null,
    onClockDoubt(byMs, since) {
      const what =
        since === 'set' ? 'the clock was set' : 'the clock is far from the newest stored event'
      log.warn({ seconds: Math.round(byMs / 1_000) }, `${what}: nothing old is deleted for an hour`)
    },
  })
  if (opened) await catchUp(storage, dataDir)
  const regularly = (everyMs: number, work: () => unknown) =>
    setInterval(() => tried(work), everyMs)
  const timers = [
    regularly(watchEveryMs, () => storage.watch()),
    regularly(writePresenceEveryMs, () => storage.housekeeping.writePresence()),
    regularly(lookAtLogEveryMs, () => storage.log.look()),
  ]
  const housework = [
    slices(makeBlocksAfterMs, () => tried(() => storage.housekeeping.makeBlocks())),
    slices(retainAfterMs, () => tried(() => storage.housekeeping.retain())),
    ...(opened === null ? [] : sharedHousework(storage, opened, tried, parts.clock, config)),
  ]
  return {
    inbox: storage.inbox,
    /** Sets how many days raw events are kept. */
    retainFor(days: number) {
      storage.housekeeping.retentionDays = days
    },
    giveBack: () => storage.giveBack(),
    /** Ends its periodic work, flushes and closes. */
    async close() {
      for (const timer of timers) clearInterval(timer)
      for (const work of housework) work.stop()
      await storage.close()
      await opened?.member.leave().catch(() => {})
      await opened?.log.close()
    },
  }
}

/** What a node does regularly besides. */
const sharedHousework = (
  storage: Storage,
  { member, log }: OpenFollowing,
  tried: StorageParts['tried'],
  { monotonic }: StorageParts['clock'],
  { eventsTable }: Config,
) => [
  slices(followEveryMs, async () => {
    const at = monotonic()
    await tried(() => storage.follow())
    if (!storage.isRefused || log.clockError !== null) member.followedAt = at
    return followEveryMs
  }),
  slices(lookAfterMs, async () => {
    await tried(() => storage.careForLog())
    return lookEveryMs
  }),
  ...(eventsTable === 'off' ? [] : [slices(copyAgainMs, () => copyEvents(storage, tried))]),
]

const copyEvents = (storage: Storage, tried: StorageParts['tried']) =>
  tried(async () => {
    await storage.copyEvents()
    return copyEveryMs
  })

async function start(message: ThreadStart) {
  const { config, shared } = message
  const { log } = openLog(config, 'storage', message.logMutex)
  armFailpoints(message.failpoints)
  failpoint('storage_start')
  const clock = systemClock(message.madeAt)
  const tally = new Tally<number>(clock.monotonic)
  const counters = new CommitCounters(message.counters, tally)
  const parts: StorageParts = {
    ...{ shared, clock, log, config },
    bufferBounds: { events: config.bufferEvents, bytes: config.bufferBytes },
    policy: { ...defaultWriterPolicy, flushEveryMs: config.flushEveryMs },
    observer: counters,
    onFault(error, what) {
      counters.refused()
      log.warn({ reason: shortReasonOf(error) }, what)
    },
    onHealed: () => log.info('storage takes writes again'),
    onDivergence(error) {
      log.fatal({ reason: shortReasonOf(error) }, 'what is in memory is not what is stored')
      log.flush()
      process.exit(1)
    },
    async tried(work) {
      try {
        return await work()
      } catch (error) {
        log.warn({ reason: shortReasonOf(error) }, 'housekeeping failed')
        return null
      }
    },
  }
  const storage = await openStorage(parts)
  new Pulse(message.pulse).start(clock.monotonic)
  // Under load most of its heap is in use, and collecting all of it often would cost a fifth of the thread's time.
  new Collector(() => counters.commands, Number.POSITIVE_INFINITY, {
    ...ownHeap,
    giveBack() {
      storage.giveBack()
      ownHeap.giveBack()
    },
  }).start()
  report({ type: 'ready' })
  return {
    tally,
    storage,
    reload({ config }: Reloaded) {
      log.level = config.logLevel
      storage.retainFor(config.retentionDays)
    },
    async stop() {
      await storage.close()
      log.flush()
      report({ type: 'stopped' })
    },
  }
}

/** Messages that come before the storage is open wait for that. */
let running: Promise<Awaited<ReturnType<typeof start>>> | null = null

type Message = ThreadStart | Join | Reloaded | TallyWanted | Stop

self.onmessage = async ({ data }: { data: Message }) => {
  try {
    if (data.type === 'start') running = start(data)
    const open = await running
    if (data.type === 'join') open?.storage.inbox.join(data.port)
    else if (data.type === 'reloaded') open?.reload(data)
    else if (data.type === 'tally') data.answer.postMessage(open?.tally.read() ?? [])
    else if (data.type === 'stop') await open?.stop()
  } catch (error) {
    report({ type: 'failed', message: shortReasonOf(error) })
  }
}
