import type { Site } from './site.ts'

const senders = 8
const runsOfBatch = 10
const kinds = ['flow_started', 'step_viewed', 'step_completed', 'step_viewed', 'flow_completed']
export const eventsOfBatch = runsOfBatch * kinds.length

/** Visits of a flow of each organisation in turn, sent in batches of whole runs at a steady pace. */
export class Load {
  batches = 0
  private sent = 0
  slowestMs = 0
  readonly failures: string[] = []
  private isOver = false
  private due = performance.now()
  private readonly ended: Promise<unknown>

  /** @param perSecond batches per second; with Infinity, as many as are answered */
  constructor(
    private readonly sites: readonly Site[],
    private readonly perSecond: number,
  ) {
    this.ended = Promise.all(Array.from({ length: senders }, () => this.send()))
  }

  get runs(): number {
    return this.batches * runsOfBatch
  }

  get events(): number {
    return this.batches * eventsOfBatch
  }

  async stop(): Promise<void> {
    this.isOver = true
    await this.ended
  }

  private async send(): Promise<void> {
    while (!this.isOver) {
      // What could not be sent in time is not caught up on, so that this pace is never exceeded.
      this.due = Math.max(this.due + 1_000 / this.perSecond, performance.now() - 100)
      const waitMs = this.due - performance.now()
      if (waitMs > 1) await Bun.sleep(waitMs)
      const startedAt = performance.now()
      const site = this.sites[this.sent++ % this.sites.length]!
      const response = await site.ask('POST', '/events', { events: batchFor(site) })
      const answer = (await response.json()) as { accepted?: number }
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt)
      if (answer.accepted === eventsOfBatch) this.batches++
      else this.failures.push(`events: ${response.status} ${JSON.stringify(answer).slice(0, 200)}`)
    }
  }
}

function batchFor({ flow }: Site): object[] {
  const startedAt = Date.now()
  return Array.from({ length: runsOfBatch }, () => {
    const runId = Bun.randomUUIDv7()
    const userId = `visitor-${Math.floor(Math.random() * 50_000)}`
    return kinds.map((kind, i) => ({
      id: Bun.randomUUIDv7(),
      kind,
      flowId: flow.id,
      ...(kind.startsWith('step') && { stepId: flow.steps[Math.floor(i / 3)]!.id }),
      userId,
      runId,
      occurredAt: startedAt + i,
      url: 'https://app.example.com/projects/7',
      properties: { plan: 'pro', seats: i },
    }))
  }).flat()
}
