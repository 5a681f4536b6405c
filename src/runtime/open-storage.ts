import type { Config } from '../config/settings.ts'
import { shortReasonOf } from '../core/reason.ts'
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
const blocksAfterMs = 2_000
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
    onError(error, what) {
      counters.refused()
      log.warn({ reason: shortReasonOf(error) }, what)
    },
    onHealed: () => log.info('storage accepts writes again'),
    onDivergence(error) {
      log.fatal({ reason: shortReasonOf(error) }, 'no more writes are safe')
      onLost()
    },
    onClockDoubt(byMs, since) {
      const what =
        since === 'set' ? 'the clock was changed' : 'the clock is far from the newest stored event'
      log.warn(
        { seconds: Math.round(byMs / 1_000) },
        `${what}: nothing is deleted by retention for an hour`,
      )
    },
  })
  if (opened) await catchUp(storage, dataDir)
  const { housekeeping } = storage
  const jobs = [
    again(watchEveryMs, () => storage.watch()),
    again(writePresenceEveryMs, () => housekeeping.writePresence()),
    again(lookAtLogEveryMs, () => storage.log.look()),
    again(blocksAfterMs, () => housekeeping.makeBlocks()),
    again(retainAfterMs, () => housekeeping.retain()),
    ...(opened === null ? [] : sharedJobs(storage, opened, clock, config)),
  ]
  const stops = jobs.map(job => repeat(job, log))
  return {
    storage,
    /** Sets how many days raw events are kept. */
    retainFor(days: number) {
      storage.housekeeping.retentionDays = days
    },
    /** Ends its periodic work, flushes and closes. */
    async close() {
      for (const stop of stops) stop()
      await storage.log.finish()
      await checkpoints.end()
      await storage.close()
      await opened?.member.leave().catch(() => {})
      await opened?.log.close()
    },
  }
}

interface Job {
  firstMs: number
  /** When again if the work does not say. */
  againMs: number
  /** @returns after how many milliseconds it wants to go on, if it says */
  work(): Promise<unknown>
}

const again = (againMs: number, work: Job['work'], firstMs = againMs): Job => ({
  ...{ firstMs, againMs, work },
})

/** Does work again and again; what fails is logged, and tried again at its next turn. @returns ends it */
function repeat({ firstMs, againMs, work }: Job, log: Log): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null
  const turn = async () => {
    const pauseMs = await work().catch(error =>
      log.warn({ reason: shortReasonOf(error) }, 'housekeeping failed'),
    )
    if (timer) timer = setTimeout(turn, typeof pauseMs === 'number' ? pauseMs : againMs)
  }
  timer = setTimeout(turn, firstMs)
  return () => {
    if (timer) clearTimeout(timer)
    timer = null
  }
}

/** What a node does regularly besides. */
function sharedJobs(
  storage: Storage,
  { member, log }: OpenFollowing,
  { monotonic }: Clock,
  { eventsTable }: Config,
): Job[] {
  const follow = async () => {
    const at = monotonic()
    await storage.follow()
    if (!storage.isRejecting || log.clockError !== null) member.followedAt = at
  }
  const copyEvents = async () => {
    await storage.copyEvents()
    return copyEveryMs
  }
  return [
    again(followEveryMs, follow),
    again(lookEveryMs, () => storage.careForLog(), lookAfterMs),
    ...(eventsTable === 'off' ? [] : [again(copyAgainMs, copyEvents)]),
  ]
}
