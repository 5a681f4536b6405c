/** How long a thread works on one thing before others get their turn, milliseconds. */
const sliceMs = 3

/** Who waits for their next slice in this thread, first come first. */
const waiting: (() => void)[] = []

function nextTurn(): void {
  waiting.shift()?.()
  // Sockets are looked at before it is called.
  if (waiting.length > 0) setImmediate(nextTurn)
}

/**
 * Lets long work on a thread give way to what else waits there, every few milliseconds. One slice is
 * worked in a turn of the event loop, however many work at length: two hundred downloads that each
 * had a slice in every turn would keep requests waiting for two hundred slices.
 */
export class Breather {
  /** The first slice has to be waited for too, for many may begin at the same moment. */
  private until = Number.NEGATIVE_INFINITY

  /** To be awaited before small pieces of work; gives way only where no slice is left. */
  async rest(): Promise<void> {
    if (performance.now() < this.until) return
    await new Promise<void>(resolve => {
      waiting.push(resolve)
      if (waiting.length === 1) setImmediate(nextTurn)
    })
    this.until = performance.now() + sliceMs
  }
}
