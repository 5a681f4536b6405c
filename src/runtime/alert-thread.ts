import '../test-clock.ts'
import '../production-mode.ts'
import { alertWatch, type Outside } from '../app.ts'
import { shortReasonOf } from '../core/text/reason.ts'
import { armFailpoints } from '../failpoints.ts'
import { BufferGauge } from '../storage/shared/boards.ts'
import { StorageClient } from '../storage/sqlite/writer/client.ts'
import { openLog } from './log.ts'
import { outsideOf } from './outside.ts'
import type { AlertThreadStart, LookForAlerts, Reloaded, Stop, ThreadReport } from './protocol.ts'
import { Pulse } from './pulse.ts'
import { connectStorage } from './storage.ts'
import { systemClock } from './system-clock.ts'

/** The thread that looks for what is wrong and alerts those who want to know. It exists once anybody does. */

declare const self: Worker

/** How often the thread checks whether something is to be sent, milliseconds. */
const sendEveryMs = 1_000
/** The least time between looks, however often one is asked for, milliseconds. */
const fewestBetweenMs = 1_000

const report = (message: ThreadReport) => self.postMessage(message)

function start(message: AlertThreadStart) {
  const { name, config, shared } = message
  armFailpoints(message.failpoints)
  const { log } = openLog(config, name, message.logMutex)
  const clock = systemClock(message.madeAt)
  const bounds = { events: config.bufferEvents, bytes: config.bufferBytes }
  const gauge = new BufferGauge(shared.buffer, bounds)
  const client = StorageClient.over(message.storage, gauge, 'commit')
  const storage = connectStorage(config, client, shared, true, clock.monotonic)
  const stopping = new AbortController()
  const outsideFor = (settings: typeof config): Outside =>
    outsideOf(settings, { signal: stopping.signal })
  let outside = outsideFor(config)
  const failed = (error: unknown) => {
    if (stopping.signal.aborted) return
    log.warn({ reason: shortReasonOf(error) }, 'alerts could not be looked after')
  }
  const watch = alertWatch({
    clock,
    stores: storage.stores,
    management: storage.management,
    outside: () => outside,
    onFault: failed,
  })
  const { job } = storage
  const tried = (work: () => Promise<void>) => work().catch(failed)
  let looking: Promise<void> | null = null
  let lookedAt = Number.NEGATIVE_INFINITY
  let next: { timer: ReturnType<typeof setTimeout>; at: number } | null = null
  /** A look that is planned for sooner stays, so that asking again and again does not put it off. */
  const lookAt = (at: number) => {
    if (stopping.signal.aborted || (next && next.at <= at)) return
    if (next) clearTimeout(next.timer)
    next = { timer: setTimeout(look, Math.max(0, at - clock.monotonic())), at }
  }
  const lookSoon = () => lookAt(Math.max(clock.monotonic(), lookedAt + fewestBetweenMs))
  const look = async () => {
    next = null
    // Only one of several nodes looks. This one starts once it has become that node.
    if (job && !job.isOurs) return lookAt(clock.monotonic() + fewestBetweenMs)
    if (looking) return lookAt(clock.monotonic() + fewestBetweenMs)
    looking = tried(() => watch.look(stopping.signal))
    await looking
    looking = null
    lookedAt = clock.monotonic()
    lookAt(lookedAt + watch.everyMs)
  }
  const sending = new Set<Promise<void>>()
  const sendDue = async () => {
    if (await job?.hold()) lookSoon()
    if (!job || job.isOurs) await watch.sendDue()
  }
  const send = () => {
    const round = tried(sendDue).finally(() => sending.delete(round))
    sending.add(round)
  }
  const timer = setInterval(send, sendEveryMs)
  lookSoon()
  new Pulse(message.pulse).start(clock.monotonic)
  report({ type: 'ready' })
  return {
    /** Called after a change that somebody waits to see. */
    lookSoon() {
      if (!job || job.isOurs) lookSoon()
      else job.ask().catch(failed)
    },
    reload({ config }: Reloaded) {
      log.level = config.logLevel
      outside = outsideFor(config)
    },
    async stop() {
      clearInterval(timer)
      if (next) clearTimeout(next.timer)
      // Messages on their way are due again at the next start, under the same id.
      stopping.abort()
      await Promise.all([looking, ...sending])
      await job?.release().catch(failed)
      await storage.close()
      log.flush()
      report({ type: 'stopped' })
    },
  }
}

let running: ReturnType<typeof start> | null = null

type Message = AlertThreadStart | Reloaded | Stop | LookForAlerts

self.onmessage = async ({ data }: { data: Message }) => {
  try {
    if (data.type === 'start') running = start(data)
    else if (data.type === 'look') running?.lookSoon()
    else if (data.type === 'reloaded') running?.reload(data)
    else await running?.stop()
  } catch (error) {
    report({ type: 'failed', message: shortReasonOf(error) })
  }
}
