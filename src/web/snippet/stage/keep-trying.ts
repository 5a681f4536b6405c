/** The pause after the first failure, and the longest pause, milliseconds. */
const firstPauseMs = 2_000
const maxPauseMs = 60_000

/**
 * Retries work, however often it fails, and returns its result. Once that is no longer wanted, there are
 * no more retries, and the result is null.
 */
export async function keepTrying<Result>(
  work: () => Promise<Result>,
  page: Window,
  signal: AbortSignal,
): Promise<Result | null> {
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      const result = await work()
      return signal.aborted ? null : result
    } catch {
      await new Promise<void>(resolve => {
        const timer = page.setTimeout(resolve, pauseMs)
        const stop = () => {
          page.clearTimeout(timer)
          resolve()
        }
        signal.addEventListener('abort', stop, { once: true })
      })
    }
  }
  return null
}
