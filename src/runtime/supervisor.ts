import type { Config } from '../config/settings.ts'
import type { Clock } from '../core/time/clock.ts'
import { newSharedMemory } from '../storage/shared/boards.ts'
import { CommitCounters } from './counters.ts'
import type { Log } from './log.ts'
import type { Reloaded, Stop, ThreadStart } from './protocol.ts'
import { Pulse } from './pulse.ts'
import { type NewThread, startThread, storageThread, type Thread } from './threads.ts'

/** What the storage thread is told about its server, as it is at the moment. */
export interface Supervised {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  /** Which thread may write to the log. */
  readonly logMutex: SharedArrayBuffer
  /** Called when nothing can be written any more. */
  onStorageDead(): void
}

/** Starts the storage thread of a server, listens to it, and stops it. */
export class Supervisor {
  readonly shared = newSharedMemory()
  readonly commitCounters = CommitCounters.memory()
  /** Waits to be started. */
  private loaded: NewThread | null = null
  storage: Thread | null = null
  private readonly pulse = Pulse.memory()
  private isStopping = false

  constructor(private readonly server: Supervised) {}

  /** For how long the storage thread has not turned, milliseconds; 0 before it is open. */
  get silentMs(): number {
    return new Pulse(this.pulse).silentMs(this.server.clock.monotonic())
  }

  /** Makes the storage thread, which loads its source and waits. */
  load(): void {
    this.loaded = storageThread(this.server.clock)
  }

  /** Ends the storage thread of a server that cannot be started. */
  abandon(): void {
    this.isStopping = true
    this.loaded?.worker.terminate()
  }

  /** Resolves once storage has taken up everything that is stored. */
  async start(): Promise<void> {
    const { worker, madeAt } = this.loaded!
    const { config, logMutex, log } = this.server
    const start: ThreadStart = {
      ...{ type: 'start', config, shared: this.shared, logMutex, madeAt },
      ...{ counters: this.commitCounters, pulse: this.pulse },
      failpoints: process.env.CAIRN_FAILPOINTS,
    }
    const thread = startThread(worker, start)
    this.storage = thread
    await thread.ready
    thread.ended.then(reason => {
      if (this.isStopping && reason === null) return
      this.isStopping = true
      log.fatal({ reason }, 'the storage thread has died: nothing can be written')
      this.server.onStorageDead()
    })
  }

  /** A way to the storage thread. What is sent before storage is open waits for that. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    this.storage?.worker.postMessage({ type: 'join', port: port1 }, [port1])
    return port2
  }

  /** Passes on the settings as they are now. */
  reload(): void {
    const message: Reloaded = { type: 'reloaded', config: this.server.config }
    this.storage?.worker.postMessage(message)
  }

  /** Resolves once everything is written and closed, with whether that went well. */
  async stop(): Promise<boolean> {
    this.isStopping = true
    this.storage?.worker.postMessage({ type: 'stop' } satisfies Stop)
    return (await this.storage?.ended) === null
  }
}
