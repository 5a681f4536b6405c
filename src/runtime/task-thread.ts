import '../test-clock.ts'
import { AppError, type ErrorCode } from '../core/errors.ts'
import { shortReasonOf } from '../core/text/reason.ts'
import { armFailpoints, failpoint } from '../failpoints.ts'
import { prepareDatabase } from '../storage/sqlite/database/prepare.ts'
import { upgradeDatabase } from '../storage/sqlite/database/upgrade.ts'
import { isPassing } from '../storage/sqlite/engine/savepoint.ts'
import {
  type LongWork,
  type LongWorkPlace,
  longWorkHere,
} from '../storage/sqlite/writer/long-work.ts'
import { cannotWrite } from '../storage/sqlite/writer/not-stored.ts'

/**
 * The thread that does one task and ends. The task is what a database needs before it is served
 * (bringing it up to date, erasing people of whom something is left), or long work beside the threads that
 * answer.
 */

declare const self: Worker

/** The result of each task before serving. */
export interface Prepared {
  upgrade: { backup: string }
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
  | { type: 'failed'; refusal: Refusal | null; name: string; message: string }

/** Of a refusal: its code, and what belongs to it. */
interface Refusal {
  code: ErrorCode
  retryAfterSeconds: number | undefined
  /** For the log. */
  reason: string | null
}

/** Errors whose messages are for the operator as they are. */
const plain = ['BackupRefused', 'SchemaMismatch', 'ErasuresUnreadable']

const report = (message: TaskReport) => self.postMessage(message)
const tell = (progress: unknown) => report({ type: 'progress', progress })

self.onmessage = async ({ data }: { data: TaskStart }) => {
  try {
    report({ type: 'done', result: await resultOf(data) })
  } catch (error) {
    const { name, message } = error as Error
    const refusal = error instanceof AppError ? refusalOf(error) : null
    const isPlain = refusal !== null || plain.includes(name)
    report({ type: 'failed', refusal, name, message: isPlain ? message : shortReasonOf(error) })
  }
}

const refusalOf = ({ code, retryAfterSeconds, cause }: AppError): Refusal => ({
  ...{ code, retryAfterSeconds },
  reason: cause === undefined ? null : shortReasonOf(cause),
})

/** @throws AppError `overloaded` if the disk or a lock is in the way, as storage does */
async function longWork({ task, place, input }: LongWorkStart): Promise<unknown> {
  const run = longWorkHere({ ...place, now: Date.now })[task] as (
    ...input: unknown[]
  ) => Promise<unknown>
  try {
    return await run(...input, tell)
  } catch (error) {
    const isFault = !(error instanceof AppError) && isPassing(error)
    throw isFault ? Object.assign(cannotWrite(), { cause: error }) : error
  }
}

function resultOf(start: TaskStart): unknown {
  if ('input' in start) return longWork(start)
  armFailpoints(start.failpoints)
  return start.task === 'upgrade' ? upgrade(start.dataDir) : eraseThoseListed(start)
}

function upgrade(dataDir: string): Promise<Prepared['upgrade']> {
  return upgradeDatabase(dataDir, progress => {
    tell(progress)
    if (progress.doing === 'tables') failpoint('migration_step')
  })
}

function eraseThoseListed({ dataDir, now }: PreparationStart): Prepared['erasures'] {
  const prepared = prepareDatabase(dataDir)
  try {
    return prepared.finishErasures(now, progress => {
      tell(progress)
      if (progress.doing === 'compact') failpoint('during_erasure')
    })
  } finally {
    prepared.close()
  }
}
