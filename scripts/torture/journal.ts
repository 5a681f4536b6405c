/** What clients send. Each item has its own name, by which it is found in the tables. */
export const kinds = ['event', 'completion', 'tick', 'health report', 'fingerprint'] as const

export type Kind = (typeof kinds)[number]

/** Items of one kind, by name. */
export interface Items {
  readonly sent: Set<string>
  readonly acknowledged: Set<string>
  /** Their last response was 503: nothing was stored. */
  readonly rejected: Set<string>
  /** A request with them had no response, or one that does not say whether anything was stored. */
  readonly unsure: Set<string>
}

/** A request that a client has made, to be sent until it is acknowledged. */
export interface Request {
  kind: Kind
  path: string
  body: unknown
  /** The names of its items, one for each item of the body. */
  names: readonly string[]
}

/** A publication. Each has its own text, which is the name of its flow and its note. */
export interface Publication {
  key: string
  text: string
  via: 'token' | 'command line'
  /** The version in the response; null if there was no response. */
  version: number | null
  requestId: string | null
}

/** How often each status was seen; null stands for no response. */
export class Responses {
  readonly counts = new Map<number | null, number>()
  /** Events that the database rejected and that are in the dead letters. */
  deadLetters = 0
  withoutRetryAfter = 0

  add(response: Response | null): void {
    const status = response?.status ?? null
    if (status === 503 && !response?.headers.has('retry-after')) this.withoutRetryAfter++
    this.counts.set(status, (this.counts.get(status) ?? 0) + 1)
  }

  /** How many requests had no response, or one that says that nothing was stored. */
  get failed(): number {
    const failures = [...this.counts].filter(([status]) => status === null || status >= 500)
    return failures.reduce((sum, [, count]) => sum + count, 0)
  }

  /** The statuses that are none of these. */
  others(...expected: number[]): string[] {
    return [...this.counts.keys()].filter(one => !expected.includes(one ?? 0)).map(String)
  }
}

/**
 * What the clients of one organisation record: everything that they have sent, which of it the server has
 * acknowledged, and where its responses contradict earlier ones.
 */
export class Journal {
  readonly items = Object.fromEntries(
    kinds.map(kind => [
      kind,
      { sent: new Set(), acknowledged: new Set(), rejected: new Set(), unsure: new Set() },
    ]),
  ) as unknown as Record<Kind, Items>
  /** Events acknowledged before they were stored (`ack=buffer`). */
  readonly buffered = new Set<string>()
  /** Some of the events that were acknowledged last. */
  recentEvents: readonly string[] = []
  /** Requests to send again: those with ids that were sent and not acknowledged. */
  readonly unacknowledged: Request[] = []
  /** Acknowledged requests by the ids in their responses, if they are needed later. */
  acknowledgedRequests: Map<string, Request> | null = null
  publications: Publication[] = []
  responses = new Responses()
  readonly contradictions: string[] = []
  private lastNumber = 0

  newNumber(): number {
    return ++this.lastNumber
  }

  get acknowledged(): number {
    return kinds.reduce((sum, kind) => sum + this.items[kind].acknowledged.size, 0)
  }
}
