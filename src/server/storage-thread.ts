import { systemClock } from '../core/clock.ts'
import { shortReasonOf } from '../core/reason.ts'
import { Storage } from '../storage/storage.ts'
import { defaultWriterPolicy } from '../storage/writer.ts'
import { CommitCounters } from './commit-counters.ts'
import { failAt } from './failpoints.ts'
import { openLog } from './log.ts'
import type { Join, Reloaded, Stop, TallyWanted, ThreadReport, ThreadStart } from './protocol.ts'
import { Pulse } from './pulse.ts'
import { Tally } from './tally.ts'

/** The thread that alone writes. */

declare const self: Worker

/** How often a change by another process is looked for, and presence is written, milliseconds. */
const watchEveryMs = 100
const writePresenceEveryMs = 2_000
/** The first look for runs to seal, and the next after one that failed, milliseconds. */
const sealAfterMs = 2_000

const report = (message: ThreadReport) => self.postMessage(message)

function start(message: ThreadStart) {
  const { name, config, shared, failpoints } = message
  const { log } = openLog(config, name, message.logTurns)
  failAt(failpoints, 'storage_start')
  const counters = new CommitCounters(message.counters)
  const clock = systemClock(message.clock)
  const tally = new Tally<number>(clock.monotonic)
  const storage = new Storage({
    dataDir: config.data,
    shared,
    clock,
    bufferBounds: { events: config.bufferEvents, bytes: config.bufferBytes },
    isLogKept: config.checkpoints === 'litestream',
    policy: { ...defaultWriterPolicy, flushEveryMs: config.flushEveryMs },
    beforeCommit: () => failAt(failpoints, 'before_commit'),
    onCommit: commit => counters.countCommit(commit),
    onAppended(batch, outcome) {
      const counts = counters.countVerdicts(batch, outcome)
      if (tally.isWatched) tally.add(batch.orgRow, counts)
    },
    onFault(error, what) {
      counters.countFault()
      log.warn({ reason: shortReasonOf(error) }, what)
    },
    onHealed: () => log.info('storage takes writes again'),
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
    regularly(writePresenceEveryMs, () => storage.writePresence()),
  ]
  let sealing: ReturnType<typeof setTimeout> | null = null
  const sealIn = (pauseMs: number) => {
    sealing = setTimeout(async () => {
      const nextMs = await tried(() => storage.seal())
      if (sealing) sealIn(nextMs ?? sealAfterMs)
    }, pauseMs)
  }
  sealIn(sealAfterMs)
  new Pulse(message.pulse).start(clock.monotonic)
  report({ type: 'ready' })
  return {
    tally,
    join(port: MessagePort) {
      const answer = (message: string) => port.postMessage(message)
      port.onmessage = ({ data }: { data: string }) => storage.handle(data, answer)
    },
    reload({ config }: Reloaded) {
      log.level = config.logLevel
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      if (sealing) clearTimeout(sealing)
      sealing = null
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
    else if (data.type === 'join') running?.join(data.port)
    else if (data.type === 'reloaded') running?.reload(data)
    else if (data.type === 'tally') data.answer.postMessage(running?.tally.read() ?? [])
    else await running?.stop()
  } catch (error) {
    report({ type: 'failed', message: shortReasonOf(error) })
  }
}
