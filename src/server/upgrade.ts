import type { MigrationStep } from '../storage/migrate.ts'
import { doingText, stageOf, type UpgradeProgress } from '../storage/upgrade.ts'
import type { Log } from './log.ts'
import type { UpgradeReport, UpgradeStart } from './upgrade-thread.ts'

/** How often the log says how far it is, besides each step's beginning, milliseconds. */
const tellEveryMs = 10_000

/** What brings a database up to date while the management port answers: how far it is. */
export class Upgrade {
  private progress: UpgradeProgress | null = null
  private readonly startedAt: number

  constructor(
    private readonly log: Log,
    private readonly monotonic: () => number,
  ) {
    this.startedAt = monotonic()
  }

  /** For whoever asks why the server is not ready. */
  get text(): string {
    const seconds = Math.round((this.monotonic() - this.startedAt) / 1_000)
    const doing = this.progress === null ? 'beginning' : doingText(this.progress)
    return `migrating: ${doing}, ${seconds} s so far: wait`
  }

  /** Resolves once all is done, and the thread is gone. */
  async run(worker: Worker, start: UpgradeStart, due: readonly MigrationStep[]): Promise<void> {
    const { log } = this
    const steps = due.map(({ id, name }) => `${id} ${name}`)
    log.info({ steps }, 'the database is brought up to date before this server is ready')
    const telling = setInterval(() => log.info(this.text), tellEveryMs)
    try {
      const { promise, resolve, reject } = Promise.withResolvers<string | null>()
      worker.onmessage = ({ data }: MessageEvent<UpgradeReport>) => {
        if (data.type === 'progress') this.take(data.progress)
        else if (data.type === 'done') resolve(data.copy)
        else reject(Object.assign(new Error(data.message), { name: data.name }))
      }
      worker.onerror = event => {
        event.preventDefault?.()
        reject(new Error('the thread that migrates the database has failed'))
      }
      worker.addEventListener('close', () =>
        reject(new Error('the thread that migrates has exited')),
      )
      worker.postMessage(start)
      const copy = await promise
      const seconds = Math.round(this.monotonic() - this.startedAt) / 1_000
      log.info({ seconds, copy }, 'the database is up to date')
    } finally {
      clearInterval(telling)
      worker.terminate()
    }
  }

  private take(progress: UpgradeProgress): void {
    const isNext = this.progress === null || stageOf(progress) !== stageOf(this.progress)
    this.progress = progress
    if (isNext) this.log.info(this.text)
  }
}
