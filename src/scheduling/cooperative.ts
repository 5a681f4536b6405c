/** Lets at most so many pieces of work be under way at once; the rest wait their turn, in order. */
export class Semaphore {
  private free: number
  private readonly waiting: (() => void)[] = []

  constructor(atOnce: number) {
    this.free = atOnce
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--
    else await new Promise<void>(resolve => this.waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      // A turn is handed on, so that nobody can come in between.
      if (next) next()
      else this.free++
    }
  }
}

/** How long a thread works on one thing before others get their turn, milliseconds. */
const sliceMs = 3

type Begin = () => void

/** Who waits for their next slice in this thread; each kind first come first. */
const urgent: Begin[] = []
const patient: Begin[] = []
let isUrgentTurn = false

function nextTurn(): void {
  isUrgentTurn = !isUrgentTurn
  const [first, second] = isUrgentTurn ? [urgent, patient] : [patient, urgent]
  const begin = first.shift() ?? second.shift()
  begin?.()
  // Sockets are looked at before it is called.
  if (urgent.length + patient.length > 0) setImmediate(nextTurn)
}

/**
 * Lets long work on a thread give way to what else waits there, every few milliseconds. One slice is
 * worked in a turn of the event loop, however many work at length: two hundred downloads that each
 * had a slice in every turn would keep requests waiting for two hundred slices.
 */
export class TimeSlices {
  /** The first slice has to be waited for too, for many may begin at the same moment. */
  private until = Number.NEGATIVE_INFINITY

  /**
   * @param isUrgent of work that others wait for, as checkpoints do for a snapshot: it has every other
   *   turn, however many are patient
   * @param pauseMs how long others have the thread to themselves after each slice: a request takes
   *   several turns, and would wait for a slice in each
   */
  constructor(
    private readonly isUrgent = false,
    private readonly pauseMs = 0,
  ) {}

  /** To be awaited before small pieces of work; gives way only where no slice is left. */
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

/** Slices of what someone at a desk waits for: pages have the thread to themselves for a while after each. */
export const patientSlices = () => new TimeSlices(false, 2)

/** Does work that yields between its pieces, and gives way there where no slice is left. */
export async function inSlices<T>(work: Generator<unknown, T>, slices: TimeSlices): Promise<T> {
  for (;;) {
    await slices.rest()
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Does such work in one go, where nobody else waits for the thread, or a transaction is open. */
export function atOnce<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}
