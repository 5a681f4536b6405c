/**
 * How much the page waits for: answers, code that loads, a pause in typing. It is on the document, so
 * that tests know when to go on.
 */
let pending = 0

function count(change: 1 | -1): void {
  pending += change
  document.documentElement.dataset.pending = `${pending}`
}

/** Counts something until the returned function is called. */
export function startPending(): () => void {
  count(1)
  return () => count(-1)
}

/** Counts work until it has ended and what follows from it is drawn. */
export async function whilePending<T>(work: Promise<T>): Promise<T> {
  const end = startPending()
  try {
    return await work
  } finally {
    setTimeout(end)
  }
}
