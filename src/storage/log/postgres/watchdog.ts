/** The database did not answer in time. What it was asked to do may have been done all the same. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly code = 'ERR_POSTGRES_NO_ANSWER'

  constructor(afterMs: number) {
    super(`The database has not answered for ${afterMs / 1_000} s`)
  }
}

/** A timer that is later than this was held up together with its thread, which has not read the answers yet. */
const heldUpMs = 500

/**
 * Makes sure that nothing waits for ever for a database that has stopped, or from which no packets come any more,
 * because the client has no limit of its own.
 *
 * @throws NoAnswer
 */
export async function answered<T>(asked: PromiseLike<T>, patienceMs: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  let timer: ReturnType<typeof setTimeout>
  const wait = (ms: number, isExcused: boolean) => {
    const dueAt = performance.now() + ms
    timer = setTimeout(() => {
      if (performance.now() - dueAt > heldUpMs && !isExcused) wait(heldUpMs, true)
      else late.reject(new NoAnswer(patienceMs))
    }, ms)
    timer.unref()
  }
  wait(patienceMs, false)
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    clearTimeout(timer!)
  }
}
