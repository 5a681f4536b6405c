/** What fails in here, or in a listener of the page's, is no matter of the page's. */
export function safely<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** The same for what takes a while, as a listener or timer calls it. */
export const quietly = (work: () => Promise<unknown>) => () => void work().catch(() => {})
