/** Runs work that may fail, here or in one of the page's listeners, without the page noticing. */
export function safely<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** The same for asynchronous work, in the form that a listener or timer calls. */
export const quietly = (work: () => Promise<unknown>) => () => void work().catch(() => {})
