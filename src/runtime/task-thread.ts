import '../test-clock.ts'
import { AppError, type ErrorCode } from '../core/errors.ts'
import { shortReasonOf } from '../core/reason.ts'
import { armFailpoints } from '../failpoints.ts'
import { isPassing } from '../storage/sqlite/engine/savepoint.ts'
import type { LongWorkPlace } from '../storage/sqlite/erasure/erase-whole.ts'
import { type LongWork, longWorkHere } from '../storage/sqlite/writer/long-work.ts'
import { cannotWrite } from '../storage/sqlite/writer/not-stored.ts'

/** The thread that does one piece of long work beside the thread that answers, and ends. */

declare const self: Worker

export interface TaskStart {
  task: keyof LongWork
  place: Omit<LongWorkPlace, 'now'>
  /** All arguments of the task except the last, which is called with the progress. */
  input: readonly unknown[]
}

export type TaskReport =
  | { type: 'progress'; progress: unknown }
  | { type: 'done'; result: unknown }
  | { type: 'failed'; rejection: Rejection | null; name: string; message: string }

/** What is known of a rejection: its code, and what belongs to it. */
interface Rejection {
  code: ErrorCode
  retryAfterSeconds: number | undefined
  /** For the log. */
  reason: string | null
}

/** Errors whose messages are for the operator as they are. */
const plain = ['ErasuresUnreadable']

const report = (message: TaskReport) => self.postMessage(message)
const tell = (progress: unknown) => report({ type: 'progress', progress })

self.onmessage = async ({ data }: { data: TaskStart }) => {
  try {
    report({ type: 'done', result: await longWork(data) })
  } catch (error) {
    const { name, message } = error as Error
    const rejection = error instanceof AppError ? rejectionOf(error) : null
    const isPlain = rejection !== null || plain.includes(name)
    report({ type: 'failed', rejection, name, message: isPlain ? message : shortReasonOf(error) })
  }
}

const rejectionOf = ({ code, retryAfterSeconds, cause }: AppError): Rejection => ({
  ...{ code, retryAfterSeconds },
  reason: cause === undefined ? null : shortReasonOf(cause),
})

/** @throws AppError `overloaded` if the disk or a lock is in the way, as storage does */
async function longWork({ task, place, input }: TaskStart): Promise<unknown> {
  if (task === 'finishErasures') armFailpoints(process.env.CAIRN_FAILPOINTS)
  const run = longWorkHere({ ...place, now: Date.now })[task] as (
    ...input: unknown[]
  ) => Promise<unknown>
  try {
    return await run(...input, tell)
  } catch (error) {
    const isError = !(error instanceof AppError) && isPassing(error)
    throw isError ? Object.assign(cannotWrite(), { cause: error }) : error
  }
}
