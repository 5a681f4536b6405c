import { AppError } from '../../src/core/errors.ts'
import type { TaskReport } from '../../src/runtime/task-thread.ts'
import type { LongWork } from '../../src/storage/sqlite/writer/long-work.ts'

/** Long work in threads that are kept, because to start one takes as long as most of this work. */

const source = new URL('../../src/runtime/task-thread.ts', import.meta.url).href
const free: Worker[] = []

async function run(
  task: keyof LongWork,
  place: { dataDir: string; isServed: boolean },
  input: readonly unknown[],
  tell: (progress: never) => void = () => {},
): Promise<never> {
  const worker = free.pop() ?? new Worker(source)
  ;(worker as unknown as { unref(): void }).unref()
  const { promise, resolve, reject } = Promise.withResolvers<never>()
  worker.onmessage = ({ data }: MessageEvent<TaskReport>) => {
    if (data.type === 'progress') tell(data.progress as never)
    else if (data.type === 'done') resolve(data.result as never)
    else if (data.rejection) reject(new AppError(data.rejection.code, data.message))
    else reject(new Error(data.message))
  }
  worker.postMessage({ task, place, input })
  try {
    return await promise
  } finally {
    free.push(worker)
  }
}

export function pooledLongWork(dataDir: string): LongWork {
  const place = { dataDir, isServed: true }
  return {
    erase: (person, options, audit, tell) => run('erase', place, [person, options, audit], tell),
    rebuild: (audit, tell) => run('rebuild', place, [audit], tell),
    compact: audit => run('compact', place, [audit]),
    eraseHere: (row, tell) => run('eraseHere', place, [row], tell),
    rebuildHere: (audit, tell) => run('rebuildHere', place, [audit], tell),
    snapshot: () => run('snapshot', place, []),
    finishErasures: tell => run('finishErasures', place, [], tell),
  }
}
