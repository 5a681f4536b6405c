import { shortReasonOf } from '../core/text/reason.ts'
import { armFailpoints, failpoint } from '../failpoints.ts'
import { Storage } from '../storage/sqlite/storage.ts'
import { defaultWriterPolicy } from '../storage/sqlite/writer/writer.ts'
import { Collector, ownHeap } from './collector.ts'
import { CommitCounters } from './counters.ts'
import { openLog } from './log.ts'
import type { Join, Reloaded, Stop, TallyWanted, ThreadReport, ThreadStart } from './protocol.ts'
import { Pulse } from './pulse.ts'
import { systemClock } from './system-clock.ts'
import { Tally } from './tally.ts'

/** The thread that alone writes. */

declare const self: Worker

/** How often a change by another process is looked for, and presence is written, milliseconds. */
const watchEveryMs = 100
const writePresenceEveryMs = 2_000
const lookAtLogEveryMs = 1_000
/** The first look for what to seal and what to delete, and the next after one that failed, milliseconds. */
const sealAfterMs = 2_000
const retainAfterMs = 2_000

const report = (message: ThreadReport) => self.postMessage(message)

/**
 * Work that is done in slices.
 *
 * @param work answers after how many milliseconds it wants to go on; null where it has failed
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

function start(message: ThreadStart) {
  const { name, config, shared } = message
  const { log } = openLog(config, name, message.logMutex)
  armFailpoints(message.failpoints)
  failpoint('storage_start')
  const clock = systemClock(message.madeAt)
  const tally = new Tally<number>(clock.monotonic)
  const counters = new CommitCounters(message.counters, tally)
  const storage = new Storage({
    dataDir: config.data,
    shared,
    clock,
    bufferBounds: { events: config.bufferEvents, bytes: config.bufferBytes },
    isLogKept: config.checkpoints === 'litestream',
    policy: { ...defaultWriterPolicy, flushEveryMs: config.flushEveryMs },
    retention: { days: config.retentionDays },
    observer: counters,
    onClockSet(byMs) {
      log.warn(
        { seconds: Math.round(byMs / 1_000) },
        'the clock was set: nothing old is deleted for an hour',
      )
    },
    onFault(error, what) {
      counters.refused()
      log.warn({ reason: shortReasonOf(error) }, what)
    },
    onHealed: () => log.info('storage takes writes again'),
    onDivergence(error) {
      log.fatal({ reason: shortReasonOf(error) }, 'a commit could not be noted in memory')
      log.flush()
      process.exit(1)
    },
  })
  /** Housekeeping that fails is logged and tried again at its next turn. */
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
    slices(sealAfterMs, () => tried(() => storage.housekeeping.seal())),
    slices(retainAfterMs, () => tried(() => storage.housekeeping.retain())),
  ]
  new Pulse(message.pulse).start(clock.monotonic)
  // Under load most of what it holds is in use: to look through it often would cost a fifth of its time.
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
      storage.housekeeping.retentionDays = config.retentionDays
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      for (const work of housework) work.stop()
      await storage.close()
      log.flush()
      report({ type: 'stopped' })
    },
  }
}

let running: ReturnType<typeof start> | null = null

type Message = ThreadStart | Join | Reloaded | TallyWanted | Stop

self.onmessage = async ({ data }: { data: Message }) => {
  try {
    if (data.type === 'start') running = start(data)
    else if (data.type === 'join') running?.storage.join(data.port)
    else if (data.type === 'reloaded') running?.reload(data)
    else if (data.type === 'tally') data.answer.postMessage(running?.tally.read() ?? [])
    else await running?.stop()
  } catch (error) {
    report({ type: 'failed', message: shortReasonOf(error) })
  }
}
