import { AppError } from '../core/errors.ts'
import { reasonOfUncaught } from '../core/text/reason.ts'
import type { Clock } from '../core/time/clock.ts'
import type { ThreadReport } from './protocol.ts'
import type { TaskReport, TaskStart } from './task-thread.ts'

/**
 * A thread's source by name. In the binary all sources lie below one root; outside the binary, beside this
 * file.
 */
function sourceOf(name: 'storage-thread' | 'task-thread' | 'flow-thread'): string {
  const isCompiled = import.meta.url.includes('$bunfs')
  return isCompiled ? `./runtime/${name}.ts` : new URL(`./${name}.ts`, import.meta.url).href
}

/** A thread that loads its source and waits to be started. */
export interface NewThread {
  worker: Worker
  /** By the monotonic clock of the thread that made it. */
  madeAt: number
}

// A thread has the variables that the process began with, unless it is given those of now.
const workerOf = (name: Parameters<typeof sourceOf>[0]) =>
  new Worker(sourceOf(name), { env: { ...process.env } as Record<string, string> })

const threadOf = (name: Parameters<typeof sourceOf>[0], { monotonic }: Clock): NewThread => ({
  madeAt: monotonic(),
  worker: workerOf(name),
})

export const storageThread = (clock: Clock) => threadOf('storage-thread', clock)

/** A thread that waits for tasks, and keeps no process from ending. */
export function flowThread(): Worker {
  const thread = workerOf('flow-thread')
  thread.unref()
  return thread
}

/** A thread that can be waited for. */
export interface Thread {
  worker: Worker
  /** Resolves when it says that it is ready; rejects when it fails before. */
  ready: Promise<void>
  /** Resolves with the reason once the thread is gone, or has failed; null after it was asked to stop. */
  ended: Promise<string | null>
}

/** Starts a thread and listens to it, because a worker that fails reports nothing by itself. */
export function startThread(worker: Worker, message: unknown): Thread {
  const ready = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<string | null>()
  const end = (reason: string | null) => {
    ready.reject(new Error(reason ?? 'stopped'))
    ended.resolve(reason)
  }
  // Nobody may be waiting for it any more.
  ready.promise.catch(() => {})
  worker.onmessage = ({ data }: MessageEvent<ThreadReport>) => {
    if (data.type === 'ready') ready.resolve()
    else if (data.type === 'stopped') end(null)
    else if (data.type === 'failed') end(data.message)
  }
  worker.onerror = event => {
    event.preventDefault?.()
    end(reasonOfUncaught(event.message))
  }
  worker.addEventListener('close', () => end('the thread has exited'))
  worker.postMessage(message)
  return { worker, ready: ready.promise, ended: ended.promise }
}

/** Has a task done by a thread that is made for it and ends with it. Progress goes to `tell`. */
export async function inThread<Result>(
  start: TaskStart,
  tell: (progress: never) => void,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const worker = workerOf('task-thread')
  worker.onmessage = ({ data }: MessageEvent<TaskReport>) => {
    if (data.type === 'progress') tell(data.progress as never)
    else if (data.type === 'done') resolve(data.result as Result)
    else {
      const { refusal, name, message } = data
      if (!refusal) return reject(Object.assign(new Error(message), { name }))
      const { code, retryAfterSeconds, reason } = refusal
      const cause = reason === null ? undefined : new Error(reason)
      reject(
        new AppError(code, message, { cause, ...(retryAfterSeconds && { retryAfterSeconds }) }),
      )
    }
  }
  worker.onerror = event => {
    event.preventDefault?.()
    reject(new Error(`the thread that does "${start.task}" has failed`))
  }
  worker.addEventListener('close', () =>
    reject(new Error(`the thread that does "${start.task}" has exited`)),
  )
  worker.postMessage(start)
  try {
    return await promise
  } finally {
    worker.terminate()
  }
}
