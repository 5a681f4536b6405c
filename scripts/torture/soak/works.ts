import { setTimeout as pause } from 'node:timers/promises'
import type { Site } from './site.ts'

/** Something that goes on beside the load, over and over. */
export interface Work {
  what: string
  everyMs: number
  /** Throws, with an explanation, if something is wrong. `turn` counts from 0; long work ends at the signal. */
  work(site: Site, turn: number, signal: AbortSignal): Promise<void>
}

/** Reads an answer to its end, and throws unless it has this status. */
async function expected(status: number, asked: Promise<Response>): Promise<void> {
  const response = await asked
  const text = await response.text()
  if (response.status !== status) throw new Error(`${response.status} ${text.slice(0, 200)}`)
}

const person = (turn: number) => ({ userId: `visitor-${turn % 5_000}` })

/** What people, pages and analysts do. */
const requests: Work[] = [
  {
    what: 'GET /flows',
    everyMs: 20,
    work: site => expected(200, site.ask('GET', '/flows')),
  },
  {
    what: 'GET /flows/{id}',
    everyMs: 50,
    work: site => expected(200, site.ask('GET', `/flows/${site.flow.id}`)),
  },
  {
    what: 'heartbeat',
    everyMs: 50,
    work: site => expected(200, site.ask('GET', '/heartbeat?v=1.0.0')),
  },
  {
    what: 'snippet-status',
    everyMs: 500,
    work: site => expected(200, site.ask('GET', '/snippet-status')),
  },
  {
    what: 'health report',
    everyMs: 50,
    async work(site, turn) {
      const report = { outcome: turn % 9 === 0 ? 'not_found' : 'found', ...person(turn) }
      await expected(202, site.ask('POST', `/steps/${site.flow.steps[0]!.id}/health`, report))
    },
  },
  {
    what: 'fingerprint',
    everyMs: 200,
    async work(site, turn) {
      const fingerprint = { matchCount: 1, tag: 'button', id: `new-${turn % 3}` }
      const path = `/steps/${site.flow.steps[0]!.id}/fingerprint`
      await expected(200, site.ask('POST', path, { fingerprint, ...person(turn) }))
    },
  },
  {
    what: 'tick of an item',
    everyMs: 50,
    async work(site, turn) {
      const path = `/flows/${site.flow.id}/checklist-progress`
      const items = [{ key: 'second', completed: turn % 2 === 0 }]
      await expected(200, site.ask('POST', path, { ...person(turn), items }))
      await expected(200, site.ask('GET', `${path}?userId=${person(turn).userId}`))
    },
  },
  {
    what: 'analytics',
    everyMs: 2_000,
    work: site => expected(200, site.analyse('analytics')),
  },
]

/** What an analyst downloads. Only checks that it comes to its end. */
const exports: Work[] = ['', '?rows=runs', '?rows=events'].map(query => ({
  what: `export${query}`,
  everyMs: 20_000,
  async work(site, _, signal) {
    const response = await site.analyse(`analytics/export.csv${query}`)
    if (response.status !== 200) throw new Error(`${response.status}`)
    for await (const _ of response.body!) if (signal.aborted) return
  },
}))

/** What an operator does beside the server. */
const commands: Work[] = [
  { what: 'publication', everyMs: 15_000, work: (site, turn) => site.publish(`Hello ${turn}`) },
  { what: 'key rotation', everyMs: 60_000, work: site => site.rotateKey() },
  {
    what: 'backup',
    everyMs: 300_000,
    async work({ place }) {
      const { status, stderr } = await place.run(['backup', 'backups/', '--keep', '2'])
      if (status !== 0) throw new Error(stderr)
    },
  },
]

/** Everything that this executable does beside the load. */
export const works: readonly Work[] = [...requests, ...exports, ...commands]

/** Repeats works for one organisation after another, each at its own pace, never two of a kind at once. */
export class UnderWay {
  readonly failures: string[] = []
  private readonly counts = new Map<string, number>()
  private readonly over = new AbortController()
  private readonly ended: Promise<unknown>

  constructor(
    private readonly sites: readonly Site[],
    works: readonly Work[],
  ) {
    this.ended = Promise.all(works.map(work => this.repeat(work)))
  }

  async stop(): Promise<void> {
    this.over.abort()
    await this.ended
  }

  /** How often each was done. */
  get done(): string {
    return [...this.counts].map(([what, count]) => `${what} ${count}`).join(', ')
  }

  private async repeat({ what, everyMs, work }: Work): Promise<void> {
    const { signal } = this.over
    for (let turn = 0; !signal.aborted; turn++) {
      const next = performance.now() + everyMs
      try {
        await work(this.sites[turn % this.sites.length]!, turn, signal)
        this.counts.set(what, turn + 1)
      } catch (error) {
        this.failures.push(`${what}: ${(error as Error).message}`)
      }
      await pause(Math.max(0, next - performance.now()), null, { signal }).catch(() => {})
    }
  }
}
