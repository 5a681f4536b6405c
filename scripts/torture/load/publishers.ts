import type { SeededRandom } from '../../../src/cli/demo/random.ts'
import { socketFile } from '../../../src/runtime/lock.ts'
import type { Server, Workplace } from '../../support/binary.ts'
import type { Tenant } from './clients.ts'
import type { Publication } from './journal.ts'

/** The flows that are published all the time; the load's tour is none of them. */
export const publishedKeys = ['a', 'b', 'c']

/** How many flows a push publishes at most. */
const maxAtOnce = 3

/** Two editors of one organisation, who publish over HTTP and through the socket of the command line. */
export class Publishers {
  private isStopped = false
  private readonly ended: Promise<unknown>

  constructor(
    place: Workplace,
    server: Pick<Server, 'url'>,
    private readonly tenant: Tenant,
    private readonly random: SeededRandom,
    private readonly restMs = 0,
  ) {
    const { id, token } = tenant
    this.ended = Promise.all([
      this.work('token', server.url, { headers: { authorization: `Bearer ${token}` } }),
      this.work('command line', 'http://cairn', {
        unix: socketFile(place.dataDir),
        headers: { 'cairn-operator': 'kit', 'cairn-organisation': id },
      }),
    ])
  }

  async stop(): Promise<void> {
    this.isStopped = true
    await this.ended
  }

  private async work(
    via: Publication['via'],
    origin: string,
    { headers, ...init }: { headers: Record<string, string>; unix?: string },
  ): Promise<void> {
    const { journal } = this.tenant
    while (!this.isStopped) {
      const text = `Publication ${journal.newNumber()}`
      const first = Math.floor(this.random.between(0, publishedKeys.length))
      const keys = [...publishedKeys.slice(first), ...publishedKeys.slice(0, first)]
      const sent = keys
        .slice(0, this.random.chance(0.3) ? maxAtOnce : 1)
        .map((key): Publication => ({ key, text, via, version: null }))
      journal.publications.push(...sent)
      const steps = [{ key: 'only', title: text }]
      const flows = sent.map(({ key }) => ({ key, name: text, steps }))
      const response = await fetch(`${origin}/api/v1/manage/push`, {
        ...init,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ flows, publish: true, note: text }),
      } as RequestInit).catch(() => null)
      const body = response?.ok ? await response.json().catch(() => null) : null
      for (const one of body === null ? [] : sent) {
        const { flows } = body as { flows: { key: string; version: number }[] }
        one.version = flows.find(({ key }) => key === one.key)!.version
      }
      await Bun.sleep(body === null ? 5 : this.restMs)
    }
  }
}
