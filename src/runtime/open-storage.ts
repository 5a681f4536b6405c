import type { Config } from '../config/settings.ts'
import { shortReasonOf } from '../core/text/reason.ts'
import type { Clock } from '../core/time/clock.ts'
import { failpoint } from '../failpoints.ts'
import type { LiveState } from '../storage/shared/live-state.ts'
import { Storage } from '../storage/sqlite/storage.ts'
import { defaultWriterPolicy } from '../storage/sqlite/writer/group-commit.ts'
import { CheckpointsBeside } from './checkpoints.ts'
import type { CommitCounters } from './counters.ts'
import { catchUp, type OpenFollowing, openFollowing } from './following.ts'
import type { Log } from './log.ts'
import { longWorkBeside } from './long-work-thread.ts'

/** How often storage looks for changes by other processes, and writes presence, milliseconds. */
const watchEveryMs = 100
const writePresenceEveryMs = 2_000
const lookAtLogEveryMs = 1_000
/**
 * How soon the first look for blocks to make and rows to delete is, and the next after one that failed,
 * milliseconds.
 */
const makeBlocksAfterMs = 2_000
const retainAfterMs = 2_000

/** How often a node looks for what others have appended, milliseconds. A publish waits at most this long. */
const followEveryMs = 100
/** When, and how often, a node looks for a snapshot that is due, or an erasure left half done; milliseconds. */
const lookAfterMs = 1_000
const lookEveryMs = 60_000
/** How often new events are copied as rows, and when again after a failure; milliseconds. */
const copyEveryMs = 1_000
const copyAgainMs = 10_000

/** What storage is opened with. */
export interface StorageParts {
  config: Config
  clock: Clock
  log: Log
  live: LiveState
  counters: CommitCounters
  /** Nothing more may be written: memory or disk is not what it should be. */
  onLost(): void
}

export type OpenStorage = Awaited<ReturnType<typeof openStorage>>

/** Opens the storage of a server, and does from then on what storage has to do regularly. */
export async function openStorage({ config, clock, log, live, counters, onLost }: StorageParts) {
  failpoint('storage_start')
  const { data: dataDir, databaseUrl } = config
  const opened =
    databaseUrl === null
      ? null
      : await openFollowing(databaseUrl, {
          ...{ node: live.node, clock, port: config.port },
          work: longWorkBeside({ dataDir, isServed: true }, true),
        })
  const checkpoints = new CheckpointsBeside(dataDir)
  const storage = new Storage({
    ...{ live, clock, dataDir },
    policy: { ...defaultWriterPolicy, flushEveryMs: config.flushEveryMs },
    isLogKept: config.checkpoints === 'litestream',
    checkpoint: () => checkpoints.write(),
    retention: { days: config.retentionDays },
    following: opened,
    observer: counters,
    onFault(error, what) {
      counters.refused()
      log.warn({ reason: shortReasonOf(error) }, what)
    },
    onHealed: () => log.info('storage takes writes again'),
    onDivergence(error) {
      log.fatal({ reason: shortReasonOf(error) }, 'nothing more can be written safely')
      onLost()
    },
    onClockDoubt(byMs, since) {
      const what =
        since === 'set' ? 'the clock was set' : 'the clock is far from the newest stored event'
      log.warn({ seconds: Math.round(byMs / 1_000) }, `${what}: nothing old is deleted for an hour`)
    },
  })
  if (opened) await catchUp(storage, dataDir)
  /** Housekeeping that fails is logged and retried at its next turn. */
  const tried = async <T>(work: () => T | Promise<T>): Promise<T | null> => {
    try {
      return await work()
    } catch (error) {
      log.warn({ reason: shortReasonOf(error) }, 'housekeeping failed')
      return null
    }
  }
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
    ...(opened === null ? [] : sharedHousework(storage, opened, tried, clock, config)),
  ]
  return {
    storage,
    /** Sets how many days raw events are kept. */
    retainFor(days: number) {
      storage.housekeeping.retentionDays = days
    },
    /** Ends its periodic work, flushes and closes. */
    async close() {
      for (const timer of timers) clearInterval(timer)
      for (const work of housework) work.stop()
      await storage.log.finish()
      await checkpoints.end()
      await storage.close()
      await opened?.member.leave().catch(() => {})
      await opened?.log.close()
    },
  }
}

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

type Tried = <T>(work: () => T | Promise<T>) => Promise<T | null>

/** What a node does regularly besides. */
const sharedHousework = (
  storage: Storage,
  { member, log }: OpenFollowing,
  tried: Tried,
  { monotonic }: Clock,
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

const copyEvents = (storage: Storage, tried: Tried) =>
  tried(async () => {
    await storage.copyEvents()
    return copyEveryMs
  })
