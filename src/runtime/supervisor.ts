import type { Config } from '../config/settings.ts'
import { shortReasonOf } from '../core/text/reason.ts'
import type { Clock } from '../core/time/clock.ts'
import { minuteMs } from '../core/time/durations.ts'
import { newSharedMemory } from '../storage/shared/boards.ts'
import { CommitCounters } from './counters.ts'
import type { Log } from './log.ts'
import type { AlertThreadStart, LookForAlerts, Reloaded, Stop, ThreadStart } from './protocol.ts'
import { Pulse } from './pulse.ts'
import { alertThread, type NewThread, startThread, storageThread, type Thread } from './threads.ts'

/** Pause before a dead thread is started again: doubled each time, up to the longest. */
const firstRestartMs = 100
const longestRestartMs = 10_000
/** A thread that lived this long has not died of the same cause, so the pause starts over. */
const stableAfterMs = minuteMs
/** How long a stop waits for the thread of alerts, milliseconds. */
const stopWithinMs = 12_000

/** What threads are told about their server, as it is at the moment. */
export interface Supervised {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  /** Which thread may write to the log. */
  readonly logMutex: SharedArrayBuffer
  /** Called when nothing can be written any more. */
  onStorageDead(): void
}

/** The threads beside the main one: starts them, listens to them, restarts that of alerts, stops them. */
export class Supervisor {
  readonly shared = newSharedMemory()
  readonly commitCounters = CommitCounters.memory()
  /** Waits to be started. */
  private loaded: NewThread | null = null
  storage: Thread | null = null
  private alerts: Thread | null = null
  private readonly pulses = new Map<string, Pulse>()
  private isAlertsStarting = false
  private alertsPauseMs = firstRestartMs
  private isStopping = false

  constructor(private readonly server: Supervised) {}

  /** For how long each thread has not turned, milliseconds, by name. */
  get silentMs(): Map<string, number> {
    const now = this.server.clock.monotonic()
    return new Map([...this.pulses].map(([name, pulse]) => [name, pulse.silentMs(now)]))
  }

  /** Makes the storage thread, which loads its source and waits. */
  loadStorage(): void {
    this.loaded = storageThread(this.server.clock)
  }

  /** Ends the storage thread of a server that cannot be started. */
  abandon(): void {
    this.isStopping = true
    this.loaded?.worker.terminate()
  }

  private threadStart(
    name: string,
    { madeAt }: NewThread,
    counters: SharedArrayBuffer,
    isRestart = false,
  ): ThreadStart {
    const { config, logMutex } = this.server
    const pulse = Pulse.memory()
    this.pulses.set(name, new Pulse(pulse))
    return {
      type: 'start',
      name,
      config,
      shared: this.shared,
      counters,
      pulse,
      logMutex,
      madeAt,
      failpoints: isRestart ? undefined : process.env.CAIRN_FAILPOINTS,
    }
  }

  /** Resolves once storage has taken up everything that is stored. */
  async startStorage(): Promise<void> {
    const made = this.loaded!
    const start = this.threadStart('storage', made, this.commitCounters)
    const thread = startThread(made.worker, start, [])
    this.storage = thread
    await thread.ready
    thread.ended.then(reason => {
      if (this.isStopping && reason === null) return
      this.isStopping = true
      this.server.log.fatal({ reason }, 'the storage thread has died: nothing can be written')
      this.server.onStorageDead()
    })
  }

  /** A way to the storage thread. What is sent before storage is open waits for that. */
  wayToStorage(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    this.storage?.worker.postMessage({ type: 'join', port: port1 }, [port1])
    return port2
  }

  /**
   * Has alerts looked after from now on, and looked at soon, by a thread that is made once anybody wants it.
   * If the thread dies it is made again, and goes on with what is stored.
   */
  async wantAlerts(): Promise<void> {
    this.alerts?.worker.postMessage({ type: 'look' } satisfies LookForAlerts)
    if (this.alerts || this.isAlertsStarting || this.isStopping) return
    this.isAlertsStarting = true
    const { clock, log } = this.server
    const startedAt = clock.monotonic()
    const isRestart = this.alertsPauseMs > firstRestartMs
    let reason: string | null = null
    try {
      const made = alertThread(clock)
      const storage = this.wayToStorage()
      const message: AlertThreadStart = {
        ...this.threadStart('alerts', made, new SharedArrayBuffer(8), isRestart),
        storage,
      }
      const thread = startThread(made.worker, message, [storage])
      await thread.ready
      this.alerts = thread
      this.isAlertsStarting = false
      // Settings may have changed while it started.
      this.reload()
      if (this.isStopping) thread.worker.postMessage({ type: 'stop' } satisfies Stop)
      reason = await thread.ended
      thread.worker.terminate()
    } catch (error) {
      reason = shortReasonOf(error)
    }
    this.alerts = null
    this.isAlertsStarting = false
    this.pulses.delete('alerts')
    if (this.isStopping) return
    if (clock.monotonic() - startedAt > stableAfterMs) this.alertsPauseMs = firstRestartMs
    const pauseMs = this.alertsPauseMs
    this.alertsPauseMs = Math.min(pauseMs * 2, longestRestartMs)
    log.error({ reason, restartInMs: pauseMs }, 'the thread of alerts has died')
    await Bun.sleep(pauseMs)
    await this.wantAlerts()
  }

  /** Tells all threads the settings as they are now. */
  reload(): void {
    const message: Reloaded = { type: 'reloaded', config: this.server.config }
    for (const thread of [this.storage, this.alerts]) thread?.worker.postMessage(message)
  }

  /** Resolves once the thread of alerts has ended, or does not even report that it gave up. */
  async stopAlerts(): Promise<void> {
    this.isStopping = true
    this.alerts?.worker.postMessage({ type: 'stop' } satisfies Stop)
    await Promise.race([this.alerts?.ended, Bun.sleep(stopWithinMs)])
  }

  /** Resolves once everything is written and closed, with whether that went well. */
  async stopStorage(): Promise<boolean> {
    this.storage?.worker.postMessage({ type: 'stop' } satisfies Stop)
    return (await this.storage?.ended) === null
  }
}
