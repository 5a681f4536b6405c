import type { Checkpoint } from '../storage/sqlite/database/log-keeper.ts'
import type { CheckpointReport, CheckpointTask } from './checkpoint-thread.ts'
import { keptThread } from './threads.ts'

/** Writes the write-ahead log of a data directory back, in a thread that is made for the first time and kept. */
export class CheckpointsBeside {
  private thread: Worker | null = null
  private pending: PromiseWithResolvers<CheckpointReport> | null = null

  constructor(private readonly dataDir: string) {}

  /** To be called again only once it has ended. */
  async write(): Promise<Checkpoint> {
    return (await this.ask({ dataDir: this.dataDir })) as Checkpoint
  }

  /** Ends the thread. To be called while nothing is being written back. */
  async end(): Promise<void> {
    if (this.thread === null) return
    await this.ask('end').catch(() => {})
    this.thread?.terminate()
    this.thread = null
  }

  private ask(task: CheckpointTask): Promise<CheckpointReport> {
    this.pending = Promise.withResolvers<CheckpointReport>()
    this.thread ??= this.newThread()
    this.thread.postMessage(task)
    return this.pending.promise
  }

  /** If it fails, the next checkpoint gets another. */
  private newThread(): Worker {
    const thread = keptThread('checkpoint-thread')
    const fail = (reason: string) => {
      this.thread = null
      this.pending?.reject(new Error(reason))
    }
    thread.onmessage = ({ data }: { data: CheckpointReport }) => {
      if (typeof data === 'object' && 'fault' in data) this.pending?.reject(new Error(data.fault))
      else this.pending?.resolve(data)
    }
    thread.onerror = event => {
      event.preventDefault?.()
      fail(event.message)
    }
    thread.addEventListener('close', () => fail('the thread has exited'))
    return thread
  }
}
