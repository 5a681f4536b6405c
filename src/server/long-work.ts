import { AppError } from '../core/errors.ts'
import { rewritingHeld } from '../storage/database/rewriting.ts'
import type { LongWork, LongWorkPlace } from '../storage/writer/long-work.ts'
import type { LongWorkReport, LongWorkStart } from './long-work-thread.ts'
import { longWorkThread } from './threads.ts'

/** Long work in a thread of its own, made for each piece; one piece at a time. */
export function longWorkBeside(place: Omit<LongWorkPlace, 'now'>): LongWork {
  let isBusy = false
  const run = async <Result>(
    name: keyof LongWork,
    input: readonly unknown[],
    tell: (progress: never) => void = () => {},
  ): Promise<Result> => {
    // Another thread is told so by the lock; this one need not make a thread to learn it.
    if (isBusy) throw rewritingHeld()
    isBusy = true
    const worker = longWorkThread()
    try {
      return (await resultOf(worker, { place, name, input }, tell)) as Result
    } finally {
      isBusy = false
      worker.terminate()
    }
  }
  return {
    erase: (person, options, audit, tell) => run('erase', [person, options, audit], tell),
    rebuild: tell => run('rebuild', [], tell),
    compact: () => run('compact', []),
  }
}

function resultOf(
  worker: Worker,
  start: LongWorkStart,
  tell: (progress: never) => void,
): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  worker.onmessage = ({ data }: MessageEvent<LongWorkReport>) => {
    if (data.type === 'progress') tell(data.progress as never)
    else if (data.type === 'done') resolve(data.result)
    else {
      const { code, name, message } = data
      reject(code ? new AppError(code, message) : Object.assign(new Error(message), { name }))
    }
  }
  worker.onerror = event => {
    event.preventDefault?.()
    reject(new Error(`long work has failed: ${event.message}`))
  }
  worker.addEventListener('close', () => reject(new Error('the thread of long work has exited')))
  worker.postMessage(start)
  return promise
}
