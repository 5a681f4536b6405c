/** Lets at most so many pieces of work run at once; the rest wait their turn, in order. */
export class Semaphore {
  private free: number
  private readonly waiting: (() => void)[] = []

  constructor(atOnce: number) {
    this.free = atOnce
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    await this.enter()
    try {
      return await work()
    } finally {
      this.leave()
    }
  }

  /** Resolves once it is the caller's turn, which lasts until `leave`. */
  async enter(): Promise<void> {
    if (this.free > 0) this.free--
    else await new Promise<void>(resolve => this.waiting.push(resolve))
  }

  leave(): void {
    const next = this.waiting.shift()
    // A turn is handed over directly, so that nobody can come in between.
    if (next) next()
    else this.free++
  }
}

/** How long a thread works on one thing before others get their turn, milliseconds. */
const sliceMs = 3

type Begin = () => void

/** Work that waits for its next slice in this thread, each kind in the order of arrival. */
const urgent: Begin[] = []
const patient: Begin[] = []
let isUrgentTurn = false

function nextTurn(): void {
  isUrgentTurn = !isUrgentTurn
  const [first, second] = isUrgentTurn ? [urgent, patient] : [patient, urgent]
  const begin = first.shift() ?? second.shift()
  begin?.()
  // The event loop looks at its sockets before it calls this.
  if (urgent.length + patient.length > 0) setImmediate(nextTurn)
}

/**
 * Lets long work on a thread give way every few milliseconds to whatever else waits there. Each turn of the
 * event loop has one slice, however many pieces of long work there are: two hundred downloads that each had a
 * slice in every turn would keep requests waiting for two hundred slices.
 */
export class TimeSlices {
  /** The first slice has to be waited for too, because many may begin at the same moment. */
  private until = Number.NEGATIVE_INFINITY

  /**
   * @param isUrgent for work that others wait for, as checkpoints wait for a snapshot: it gets every other
   *   turn, however much patient work there is
   * @param pauseMs how long others have the thread to themselves after each slice: a request takes several
   *   turns, and would wait for a slice in each
   */
  constructor(
    private readonly isUrgent = false,
    private readonly pauseMs = 0,
  ) {}

  /** To be awaited before small pieces of work; gives way only once the slice is used up. */
  async rest(): Promise<void> {
    if (performance.now() < this.until) return
    const isBegun = this.until > Number.NEGATIVE_INFINITY
    if (isBegun && this.pauseMs > 0) await Bun.sleep(this.pauseMs)
    await new Promise<void>(begin => {
      if (urgent.length + patient.length === 0) setImmediate(nextTurn)
      ;(this.isUrgent ? urgent : patient).push(begin)
    })
    this.until = performance.now() + sliceMs
  }
}

/**
 * Slices for work that a person at a desk waits for: after each one, pages have the thread to themselves for
 * a while.
 */
export const patientSlices = () => new TimeSlices(false, 2)

/** Does work that yields between its pieces, and gives way there once the slice is used up. */
export async function inSlices<T>(work: Generator<unknown, T>, slices: TimeSlices): Promise<T> {
  for (;;) {
    await slices.rest()
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Does such work in one go, if nobody else waits for the thread or a transaction is open. */
export function atOnce<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}
