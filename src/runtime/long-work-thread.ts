import { rewritingHeld } from '../storage/sqlite/database/rewriting.ts'
import type { LongWork, LongWorkPlace } from '../storage/sqlite/writer/long-work.ts'
import { inThread } from './threads.ts'

/** Does long work in a thread that is made for each piece, one piece at a time. */
export function longWorkBeside(place: Omit<LongWorkPlace, 'now'>): LongWork {
  let isBusy = false
  const run = async <Result>(
    task: keyof LongWork,
    input: readonly unknown[],
    tell: (progress: never) => void = () => {},
  ): Promise<Result> => {
    // Another thread learns this from the lock. This one need not start a thread to learn it.
    if (isBusy) throw rewritingHeld()
    isBusy = true
    try {
      return await inThread<Result>({ task, place, input }, tell)
    } finally {
      isBusy = false
    }
  }
  return {
    erase: (person, options, audit, tell) => run('erase', [person, options, audit], tell),
    eraseHere: (row, tell) => run('eraseHere', [row], tell),
    rebuildHere: (audit, tell) => run('rebuildHere', [audit], tell),
    snapshot: () => run('snapshot', []),
    rebuild: (audit, tell) => run('rebuild', [audit], tell),
    compact: audit => run('compact', [audit]),
  }
}
