import { beforeSignal } from '../runtime/signals.ts'
import { tell } from './output.ts'
import { clearLine } from './progress.ts'

/**
 * Does work that a signal may end, and then says in one line what that leaves.
 *
 * @param clearAway removes at once what is unfinished, and returns what to say
 */
export async function interruptible<Result>(
  clearAway: () => string,
  work: () => Promise<Result>,
): Promise<Result> {
  // Not SIGHUP, which nohup(1) has made harmless.
  const takeBack = beforeSignal(['SIGINT', 'SIGTERM'], () => {
    clearLine()
    tell(`cairn: interrupted: ${clearAway()}`)
  })
  try {
    return await work()
  } finally {
    takeBack()
  }
}
