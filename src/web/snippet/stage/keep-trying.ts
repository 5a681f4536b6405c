/** How long it is waited after the first failure, and at most, milliseconds. */
const firstPauseMs = 2_000
const longestPauseMs = 60_000

/**
 * What the work answers, however often it fails before. Once it is no longer wanted it is not tried
 * again, and nothing is answered.
 */
export async function keepTrying<Result>(
  work: () => Promise<Result>,
  page: Window,
  signal: AbortSignal,
): Promise<Result | null> {
  for (
    let pauseMs = firstPauseMs;
    !signal.aborted;
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  ) {
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
