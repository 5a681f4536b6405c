import '../test-clock.ts'
import { AppError, type ErrorCode } from '../core/errors.ts'
import { shortReasonOf } from '../core/text/reason.ts'
import { armFailpoints, failpoint } from '../failpoints.ts'
import { prepareDatabase } from '../storage/sqlite/database/prepare.ts'
import { isPassing } from '../storage/sqlite/engine/savepoint.ts'
import type { ErasuresFinished } from '../storage/sqlite/erasure/erasures.ts'
import {
  type LongWork,
  type LongWorkPlace,
  longWorkHere,
} from '../storage/sqlite/writer/long-work.ts'
import { cannotWrite } from '../storage/sqlite/writer/not-stored.ts'

/**
 * The thread that does one task and ends: erasing people of whom something is left, before the database is
 * served, or long work beside the thread that answers.
 */

declare const self: Worker

export interface ErasuresStart {
  task: 'erasures'
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

export type TaskStart = ErasuresStart | LongWorkStart

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
const plain = ['SchemaMismatch', 'ErasuresUnreadable']

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

const resultOf = (start: TaskStart): unknown =>
  'input' in start ? longWork(start) : eraseThoseListed(start)

function eraseThoseListed({ dataDir, now, failpoints }: ErasuresStart): ErasuresFinished {
  armFailpoints(failpoints)
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
