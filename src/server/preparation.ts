import { doingText, stageOf } from '../storage/database/upgrade.ts'
import type { Log } from './log.ts'
import type {
  PreparationProgress,
  PreparationReport,
  PreparationStart,
  Prepared,
  Task,
} from './preparation-thread.ts'

/** How often the log says how far it is, besides each part's beginning, milliseconds. */
const tellEveryMs = 10_000

/** What is done to a database before it is served, while the management port answers: how far it is. */
export class Preparation<Of extends Task = Task> {
  private progress: PreparationProgress | null = null
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
  async run(worker: Worker, start: Omit<PreparationStart, 'task'>): Promise<Prepared[Of]> {
    const { log, task } = this
    const telling = setInterval(() => log.info(this.text), tellEveryMs)
    try {
      const { promise, resolve, reject } = Promise.withResolvers<Prepared[Of]>()
      worker.onmessage = ({ data }: MessageEvent<PreparationReport>) => {
        if (data.type === 'progress') this.take(data.progress)
        else if (data.type === 'done') resolve(data.result as Prepared[Of])
        else reject(Object.assign(new Error(data.message), { name: data.name }))
      }
      worker.onerror = event => {
        event.preventDefault?.()
        reject(new Error('the thread that prepares the database has failed'))
      }
      worker.addEventListener('close', () =>
        reject(new Error('the thread that prepares the database has exited')),
      )
      worker.postMessage({ ...start, task } satisfies PreparationStart)
      const result = await promise
      const told: object = { task, seconds: this.seconds, ...result }
      log.info(told, 'the database is prepared')
      return result
    } finally {
      clearInterval(telling)
      worker.terminate()
    }
  }

  private take(progress: PreparationProgress): void {
    const isNext = this.progress === null || beginningOf(progress) !== beginningOf(this.progress)
    this.progress = progress
    if (isNext) this.log.info(this.text)
  }
}

/** What /readyz begins with; `doctor` knows by it that all is well, and takes time. */
const verbOf = { upgrade: 'migrating', erasures: 'erasing' } as const

function textOf(progress: PreparationProgress): string {
  if (progress.doing === 'erase') return `people on the list of erasures (${progress.people})`
  if (progress.doing === 'compact') return 'writing the database anew'
  return doingText(progress)
}

const beginningOf = (progress: PreparationProgress): string =>
  progress.doing === 'erase' || progress.doing === 'compact' ? progress.doing : stageOf(progress)
