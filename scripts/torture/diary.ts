/** What clients send. Each item has its own name, by which it is found in the tables. */
export const kinds = ['event', 'completion', 'tick', 'health report', 'fingerprint'] as const

export type Kind = (typeof kinds)[number]

/** Items of one kind, by name. */
interface Page {
  readonly sent: Set<string>
  readonly acknowledged: Set<string>
}

/** A request that a client has made, to be sent until it is acknowledged. */
export interface Request {
  kind: Kind
  path: string
  body: unknown
  /** The names of its items, one for each item of the body. */
  names: readonly string[]
}

/** What became of requests. */
export class Answers {
  /** How often each status was seen; null stands for no answer. */
  readonly counts = new Map<number | null, number>()
  slowestMs = 0
  /** Events that the database refused and that are in the dead letters. */
  buried = 0

  add(status: number | null, ms: number): void {
    this.counts.set(status, (this.counts.get(status) ?? 0) + 1)
    this.slowestMs = Math.max(this.slowestMs, ms)
  }

  /** How many requests had no answer, or one that says that nothing was kept. */
  get refused(): number {
    const refusals = [...this.counts].filter(([status]) => status === null || status >= 500)
    return refusals.reduce((sum, [, count]) => sum + count, 0)
  }
}

/**
 * What the clients of one organisation write down: everything that they have sent, which of it the server has
 * acknowledged, and where its answers contradict earlier ones.
 */
export class Diary {
  readonly pages = Object.fromEntries(
    kinds.map(kind => [kind, { sent: new Set(), acknowledged: new Set() }]),
  ) as unknown as Record<Kind, Page>
  /** Events acknowledged before they were stored (`ack=buffer`): when, by `performance.now()`. */
  readonly buffered = new Map<string, number>()
  /** Requests to send again: those with ids that were sent and not acknowledged. */
  readonly unanswered: Request[] = []
  answers = new Answers()
  /** What a server must never say. */
  readonly contradictions: string[] = []
  private lastNumber = 0

  newNumber(): number {
    return ++this.lastNumber
  }

  get acknowledged(): number {
    return kinds.reduce((sum, kind) => sum + this.pages[kind].acknowledged.size, 0)
  }
}
