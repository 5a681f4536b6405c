import { AppError } from '../core/errors.ts'
import type { TaskReport, TaskStart } from './task-thread.ts'

/**
 * A thread's source by name. In the binary all sources lie below one root; outside the binary, beside this
 * file.
 */
function sourceOf(name: 'task-thread' | 'flow-thread' | 'checkpoint-thread'): string {
  const isCompiled = import.meta.url.includes('$bunfs')
  return isCompiled ? `./runtime/${name}.ts` : new URL(`./${name}.ts`, import.meta.url).href
}

// A thread has the variables that the process began with, unless it is given those of now.
const workerOf = (name: Parameters<typeof sourceOf>[0]) =>
  new Worker(sourceOf(name), { env: { ...process.env } as Record<string, string> })

/** A thread that is kept and waits for tasks, and keeps no process from ending. */
export function keptThread(name: 'flow-thread' | 'checkpoint-thread'): Worker {
  const thread = workerOf(name)
  thread.unref()
  return thread
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
      const { rejection, name, message } = data
      if (!rejection) return reject(Object.assign(new Error(message), { name }))
      const { code, retryAfterSeconds, reason } = rejection
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
