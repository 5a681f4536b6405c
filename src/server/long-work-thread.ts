import { AppError, type ErrorCode } from '../core/errors.ts'
import { shortReasonOf } from '../core/text/reason.ts'
import { type LongWork, type LongWorkPlace, longWorkHere } from '../storage/writer/long-work.ts'

/** The thread that does one piece of long work, beside those that answer and the one that writes. */

declare const self: Worker

export interface LongWorkStart {
  place: Omit<LongWorkPlace, 'now'>
  name: keyof LongWork
  /** All that it takes but whom to tell of progress, which comes last. */
  input: readonly unknown[]
}

export type LongWorkReport =
  | { type: 'progress'; progress: unknown }
  | { type: 'done'; result: unknown }
  /** `code` is that of a refusal; `name` is that of any other fault, by which its message is known. */
  | { type: 'failed'; code: ErrorCode | null; name: string; message: string }

/** Their messages are for the operator as they are. */
const plain = ['ErasuresUnreadable']

const report = (message: LongWorkReport) => self.postMessage(message)

self.onmessage = async ({ data }: { data: LongWorkStart }) => {
  const { place, name, input } = data
  try {
    const work = longWorkHere({ ...place, now: Date.now })
    const run = work[name] as (...input: unknown[]) => Promise<unknown>
    const tell = (progress: unknown) => report({ type: 'progress', progress })
    report({ type: 'done', result: await run(...input, tell) })
  } catch (error) {
    const { name, message } = error as Error
    const code = error instanceof AppError ? error.code : null
    const isPlain = code !== null || plain.includes(name)
    report({ type: 'failed', code, name, message: isPlain ? message : shortReasonOf(error) })
  }
}
