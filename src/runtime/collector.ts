import { fullGC, heapSize } from 'bun:jsc'

/** How often it is looked how far a heap has grown, milliseconds. */
const lookEveryMs = 500
/** Of so many looks is a thread calm that had next to nothing to do meanwhile. */
const looksWhenCalm = 4
/** Answers or commands within them, at most. */
const mostWhenCalm = 20
/** Answers or commands since the last collection from which on there is something to give back. */
const leastWorth = 1_000
/** The same in bytes of the heap, for a download is one answer. */
const leastWorthBytes = 8 * 2 ** 20

/** How far the heap of a thread that answers may grow before all of it is looked through, bytes. */
export const mostGrowthBytes = 12 * 2 ** 20
/** Of a larger heap a thread would stand still too long meanwhile; of this, 15 ms. */
const largestLookedThrough = 48 * 2 ** 20

/** What a thread's garbage is collected by; the engine's own unless a test brings another. */
interface Heap {
  /** Bytes, as known without a collection. */
  size(): number
  /** Looks through all of it. */
  collect(): void
  /** The same, and gives back what is free, compiled code too. */
  giveBack(): void
}

export const ownHeap: Heap = {
  size: heapSize,
  collect: () => fullGC(),
  giveBack: () => Bun.gc(true),
}

/**
 * Collects a thread's garbage where the engine would put it off.
 *
 * Under load, the engine mostly looks at what is new. Whatever was in use at such a moment counts as old
 * from then on, and stays until the heap has doubled: of a long download that is page after page.
 *
 * After a rush nothing is allocated, so the engine collects nothing, and a heap of garbage would stay for
 * as long as the quiet does.
 */
export class Collector {
  private doneBefore = 0
  private looks = 0
  private doneSinceGivenBack = 0
  /** The least that the heap was since it was last collected. */
  private least: number
  private leastSinceGivenBack: number

  /**
   * @param done how many answers or commands the thread has done so far
   * @param mostGrowth bytes by which its heap may grow before all of it is looked through
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

  /** Whether next to nothing is done now, and there is something to give back. */
  private isCalm(size: number): boolean {
    this.looks = 0
    const done = this.done()
    const lately = done - this.doneBefore
    this.doneBefore = done
    this.doneSinceGivenBack += lately
    return (
      lately <= mostWhenCalm &&
      (this.doneSinceGivenBack >= leastWorth || size - this.leastSinceGivenBack >= leastWorthBytes)
    )
  }
}
