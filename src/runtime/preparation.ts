import type { UpgradeProgress } from '../storage/sqlite/database/upgrade.ts'
import type { ErasureProgress } from '../storage/sqlite/erasure/erasures.ts'
import type { Log } from './log.ts'
import type { PreparationStart, Prepared } from './task-thread.ts'
import { inThread } from './threads.ts'

/** What is being done, and its progress. */
type Progress = UpgradeProgress | ErasureProgress

/** How often the log reports progress, besides the beginning of each part, milliseconds. */
const tellEveryMs = 10_000

/** Work on a database before it is served, while the management port answers and reports the progress. */
export class Preparation<Of extends keyof Prepared = keyof Prepared> {
  private progress: Progress | null = null
  private readonly startedAt: number

  constructor(
    private readonly task: Of,
    private readonly log: Log,
    private readonly monotonic: () => number,
  ) {
    this.startedAt = monotonic()
  }

  /** For whoever asks why the server is not ready. */
  get text(): string {
    const doing = this.progress === null ? 'beginning' : textOf(this.progress)
    return `${verbOf[this.task]}: ${doing}, ${Math.round(this.seconds)} s so far: wait`
  }

  private get seconds(): number {
    return Math.round(this.monotonic() - this.startedAt) / 1_000
  }

  /** Resolves once all is done, and the thread is gone. */
  async run(start: Omit<PreparationStart, 'task'>): Promise<Prepared[Of]> {
    const { log, task } = this
    const telling = setInterval(() => log.info(this.text), tellEveryMs)
    try {
      const tell = (progress: Progress) => this.take(progress)
      const result = await inThread<Prepared[Of]>({ ...start, task }, tell)
      const told: object = { task, seconds: this.seconds, ...result }
      log.info(told, 'the database is prepared')
      return result
    } finally {
      clearInterval(telling)
    }
  }

  private take(progress: Progress): void {
    const isNext = this.progress === null || beginningOf(progress) !== beginningOf(this.progress)
    this.progress = progress
    if (isNext) this.log.info(this.text)
  }
}

/** The words with which /readyz begins. By them `doctor` knows that all is well, but takes time. */
const verbOf = { upgrade: 'migrating', erasures: 'erasing' } as const

function textOf(progress: Progress): string {
  if (progress.doing === 'erase') return `people on the list of erasures (${progress.people})`
  if (progress.doing === 'compact') return 'writing the database anew'
  if (progress.doing === 'tables') return 'changing the tables'
  const { phase, done, total } = progress
  return `making a backup first: ${phase}, ${Math.floor((done / total || 0) * 100)} % of it done`
}

const beginningOf = (progress: Progress): string => progress.doing
