/** A timer that fires later than this was held up by its own thread, which may not have read the answers yet. */
const heldUpMs = 20
/** How often in a row that excuses a missing answer, and for how long each time, milliseconds. */
const maxExcuses = 5
const maxExcuseMs = 500

/**
 * Waits for an answer for at most so long, or longer if this thread was too busy to read it in time.
 *
 * @param late makes the error if it takes longer
 */
export async function inTime<T>(
  answer: PromiseLike<T>,
  ms: number,
  late = (): Error => new Error(`no answer within ${ms} ms`),
): Promise<T> {
  const tooLate = Promise.withResolvers<never>()
  let timer: ReturnType<typeof setTimeout>
  const wait = (forMs: number, excuses: number) => {
    const dueAt = performance.now() + forMs
    timer = setTimeout(() => {
      const isHeldUp = performance.now() - dueAt > heldUpMs
      if (isHeldUp && excuses < maxExcuses) wait(Math.min(ms, maxExcuseMs), excuses + 1)
      // Lets an answer that has arrived meanwhile be read first.
      else setImmediate(() => tooLate.reject(late()))
    }, forMs)
    timer.unref()
  }
  wait(ms, 0)
  try {
    return await Promise.race([answer, tooLate.promise])
  } finally {
    clearTimeout(timer!)
  }
}
