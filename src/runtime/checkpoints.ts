import type { Checkpoint } from '../storage/sqlite/database/log-keeper.ts'
import type { CheckpointReport, CheckpointTask } from './checkpoint-thread.ts'
import { keptThread } from './threads.ts'

/** Writes the write-ahead log of a data directory back, in a thread that is made for the first time and kept. */
export class CheckpointsBeside {
  private thread: Worker | null = null

  constructor(private readonly dataDir: string) {}

  /** To be called again only once it has ended. */
  async write(): Promise<Checkpoint> {
    return (await this.ask({ dataDir: this.dataDir })) as Checkpoint
  }

  /** Ends the thread. To be called while nothing is being written back. */
  async end(): Promise<void> {
    if (this.thread === null) return
    await this.ask('end').catch(() => {})
    this.thread.terminate()
    this.thread = null
  }

  private ask(task: CheckpointTask): Promise<CheckpointReport> {
    const { promise, resolve, reject } = Promise.withResolvers<CheckpointReport>()
    this.thread ??= keptThread('checkpoint-thread')
    const { thread } = this
    thread.onmessage = ({ data }: { data: CheckpointReport }) => {
      if (typeof data === 'object' && 'fault' in data) reject(new Error(data.fault))
      else resolve(data)
    }
    thread.onerror = event => {
      event.preventDefault?.()
      this.thread = null
      reject(new Error(event.message))
    }
    thread.postMessage(task)
    return promise
  }
}
