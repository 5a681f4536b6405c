import { systemClock } from '../core/clock.ts'
import { Storage } from '../storage/storage.ts'
import { defaultWriterPolicy } from '../storage/writer.ts'
import { failAt } from './failpoints.ts'
import { createLog } from './log.ts'
import { Metrics } from './metrics.ts'
import type { Join, Stop, ThreadReport, ThreadStart } from './protocol.ts'

/** The thread that alone writes. */

declare const self: Worker

/** How often a change by another process is looked for, and presence is written, milliseconds. */
const watchEveryMs = 100
const writePresenceEveryMs = 2_000

const report = (message: ThreadReport) => self.postMessage(message)

function start(message: ThreadStart) {
  const { name, config, shared, metrics: words, failpoints } = message
  const log = createLog(config, name)
  const metrics = new Metrics(words)
  const storage = new Storage({
    dataDir: config.data,
    shared,
    clock: systemClock(message.clock),
    bufferBounds: { events: config.bufferEvents, bytes: config.bufferBytes },
    policy: { ...defaultWriterPolicy, flushEveryMs: config.flushEveryMs },
    beforeCommit: () => failAt(failpoints, 'before_commit'),
    onCommit: commit => metrics.countCommit(commit),
    onFault(error, what) {
      metrics.add('commit_faults', 1)
      log.warn({ reason: String(error) }, what)
    },
    onHealed: () => log.info('storage takes writes again'),
  })
  /** Housekeeping that fails is logged and tried again at its next turn. */
  const regularly = (everyMs: number, work: () => unknown) =>
    setInterval(async () => {
      try {
        await work()
      } catch (error) {
        log.warn({ reason: String(error) }, 'housekeeping failed')
      }
    }, everyMs)
  const timers = [
    regularly(watchEveryMs, () => storage.watch()),
    regularly(writePresenceEveryMs, () => storage.writePresence()),
  ]
  report({ type: 'ready' })
  return {
    join(port: MessagePort) {
      const answer = (message: string) => port.postMessage(message)
      port.onmessage = ({ data }: { data: string }) => storage.handle(data, answer)
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await storage.close()
      log.flush()
      report({ type: 'stopped' })
    },
  }
}

let running: ReturnType<typeof start> | null = null

type Message = ThreadStart | Join | Stop

self.onmessage = async ({ data }: { data: Message }) => {
  try {
    if (data.type === 'start') running = start(data)
    else if (data.type === 'join') running?.join(data.port)
    else await running?.stop()
  } catch (error) {
    report({ type: 'failed', message: String((error as Error)?.message ?? error) })
  }
}
