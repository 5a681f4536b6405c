import { fullGC, heapSize } from 'bun:jsc'

/** How often the growth of a heap is checked, milliseconds. */
const lookEveryMs = 500
/** A thread is calm if it had next to nothing to do for this many looks. */
const looksWhenCalm = 4
/** The most answers or commands within these looks. */
const maxWhenCalm = 20
/** How many answers or commands since the last collection leave something to give back. */
const minWorth = 1_000
/** The same in bytes of the heap, because a download is a single answer. */
const minWorthBytes = 8 * 2 ** 20

/** How far the heap of the main thread may grow before all of it is collected, bytes. */
export const maxGrowthBytes = 12 * 2 ** 20
/** Collecting all of a larger heap would block the thread for too long; for this size it takes 15 ms. */
const largestLookedThrough = 48 * 2 ** 20

/** Collects a thread's garbage; the engine's own heap unless a test brings another. */
interface Heap {
  /** Bytes, as known without a collection. */
  size(): number
  /** Collects all of it. */
  collect(): void
  /** The same, and gives back free memory, including compiled code. */
  giveBack(): void
}

export const ownHeap: Heap = {
  size: heapSize,
  collect: () => fullGC(),
  giveBack: () => Bun.gc(true),
}

/**
 * Collects a thread's garbage when the engine would put it off.
 *
 * Under load, the engine mostly collects new objects. Anything in use at such a moment counts as old from
 * then on, and stays until the heap has doubled: in a long download, page after page.
 *
 * After a rush nothing is allocated, so the engine collects nothing, and a heap of garbage would stay for as
 * long as it is quiet.
 */
export class Collector {
  private doneBefore = 0
  private looks = 0
  private doneSinceGivenBack = 0
  /** The smallest size of the heap since it was last collected. */
  private least: number
  private leastSinceGivenBack: number

  /**
   * @param done how many answers or commands the thread has done so far
   * @param mostGrowth bytes by which its heap may grow before all of it is collected
   */
  constructor(
    private readonly done: () => number,
    private readonly mostGrowth: number,
    private readonly heap = ownHeap,
  ) {
    this.least = heap.size()
    this.leastSinceGivenBack = this.least
  }

  start(): void {
    setInterval(() => this.look(), lookEveryMs).unref()
  }

  look(): void {
    const size = this.heap.size()
    this.least = Math.min(this.least, size)
    this.leastSinceGivenBack = Math.min(this.leastSinceGivenBack, size)
    if (++this.looks >= looksWhenCalm && this.isCalm(size)) {
      this.heap.giveBack()
      this.least = this.heap.size()
      this.leastSinceGivenBack = this.least
      this.doneSinceGivenBack = 0
    } else if (size - this.least > this.mostGrowth && this.least < largestLookedThrough) {
      this.heap.collect()
      this.least = this.heap.size()
    }
  }

  /** Whether the thread does next to nothing now and has something to give back. */
  private isCalm(size: number): boolean {
    this.looks = 0
    const done = this.done()
    const lately = done - this.doneBefore
    this.doneBefore = done
    this.doneSinceGivenBack += lately
    return (
      lately <= maxWhenCalm &&
      (this.doneSinceGivenBack >= minWorth || size - this.leastSinceGivenBack >= minWorthBytes)
    )
  }
}
