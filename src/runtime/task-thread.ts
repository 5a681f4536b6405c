import { AppError, type ErrorCode } from '../core/errors.ts'
import { shortReasonOf } from '../core/text/reason.ts'
import { armFailpoints, failpoint } from '../failpoints.ts'
import { prepareDatabase } from '../storage/sqlite/database/prepare.ts'
import { type UpgradeProgress, upgradeDatabase } from '../storage/sqlite/database/upgrade.ts'
import {
  type LongWork,
  type LongWorkPlace,
  longWorkHere,
} from '../storage/sqlite/writer/long-work.ts'

/**
 * The thread that does one task and ends. The task is what a database needs before any other thread opens it
 * (bringing it up to date, erasing people of whom something is left), or long work beside the threads that
 * answer.
 */

declare const self: Worker

/** The result of each task before serving. */
export interface Prepared {
  upgrade: { copy: string | null }
  /** `unfinished`: why the files may still hold something of them; null if they do not. */
  erasures: { people: number; unfinished: string | null }
}

export interface PreparationStart {
  task: keyof Prepared
  dataDir: string
  /** Unix milliseconds. */
  now: number
  /** From the environment. */
  failpoints: string | undefined
}

export interface LongWorkStart {
  task: keyof LongWork
  place: Omit<LongWorkPlace, 'now'>
  /** All arguments of the task except the last, which is told the progress. */
  input: readonly unknown[]
}

export type TaskStart = PreparationStart | LongWorkStart

export type TaskReport =
  | { type: 'progress'; progress: unknown }
  | { type: 'done'; result: unknown }
  /**
   * `code` is that of a refusal. `name` is that of any other fault, and tells whether its message is for the
   * operator.
   */
  | { type: 'failed'; code: ErrorCode | null; name: string; message: string }

/** Errors whose messages are for the operator as they are. */
const plain = ['UpgradeRefused', 'BackupRefused', 'SchemaMismatch', 'ErasuresUnreadable']

const report = (message: TaskReport) => self.postMessage(message)
const tell = (progress: unknown) => report({ type: 'progress', progress })

self.onmessage = async ({ data }: { data: TaskStart }) => {
  try {
    report({ type: 'done', result: await resultOf(data) })
  } catch (error) {
    const { name, message } = error as Error
    const code = error instanceof AppError ? error.code : null
    const isPlain = code !== null || plain.includes(name)
    report({ type: 'failed', code, name, message: isPlain ? message : shortReasonOf(error) })
  }
}

function resultOf(start: TaskStart): unknown {
  if ('input' in start) {
    const work = longWorkHere({ ...start.place, now: Date.now })
    const run = work[start.task] as (...input: unknown[]) => Promise<unknown>
    return run(...start.input, tell)
  }
  armFailpoints(start.failpoints)
  return start.task === 'upgrade' ? upgrade(start) : eraseThoseListed(start)
}

async function upgrade({ dataDir, now }: PreparationStart): Promise<Prepared['upgrade']> {
  const onProgress = (progress: UpgradeProgress) => {
    tell(progress)
    if (isMidway(progress)) failpoint('migration_step')
  }
  return { copy: await upgradeDatabase(dataDir, now, { withCopy: true, onProgress }) }
}

/** Within a step's transaction, when some of it is done. */
const isMidway = (progress: UpgradeProgress) =>
  progress.doing === 'step' && progress.share > 0 && progress.share < 1

function eraseThoseListed({ dataDir, now }: PreparationStart): Prepared['erasures'] {
  const prepared = prepareDatabase(dataDir, now)
  try {
    return prepared.finishErasures(progress => {
      tell(progress)
      if (progress.doing === 'compact') failpoint('during_erasure')
    })
  } finally {
    prepared.close()
  }
}
