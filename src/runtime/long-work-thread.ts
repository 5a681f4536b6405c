import { rewritingHeld } from '../storage/sqlite/database/rewriting.ts'
import type { LongWorkPlace } from '../storage/sqlite/erasure/erase-whole.ts'
import type { LongWork } from '../storage/sqlite/writer/long-work.ts'
import { inThread } from './threads.ts'

/**
 * Does long work in a thread that is made for each piece, one piece at a time.
 *
 * @param isPatient whether a piece waits for the one before it, instead of being rejected
 */
export function longWorkBeside(place: Omit<LongWorkPlace, 'now'>, isPatient = false): LongWork {
  let running: Promise<unknown> | null = null
  const run = async <Result>(
    task: keyof LongWork,
    input: readonly unknown[],
    tell: (progress: never) => void = () => {},
  ): Promise<Result> => {
    // Another thread learns this from the lock. This one need not start a thread to learn it.
    if (running && !isPatient) throw rewritingHeld()
    while (running) await running.catch(() => {})
    const work = inThread<Result>({ task, place, input }, tell)
    running = work
    try {
      return await work
    } finally {
      running = null
    }
  }
  const call = (task: keyof LongWork, args: readonly unknown[]) => {
    const tell = args.at(-1)
    return typeof tell === 'function'
      ? run(task, args.slice(0, -1), tell as (progress: never) => void)
      : run(task, args)
  }
  return new Proxy({} as LongWork, {
    get:
      (_, task) =>
      (...args: unknown[]) =>
        call(task as keyof LongWork, args),
  })
}
