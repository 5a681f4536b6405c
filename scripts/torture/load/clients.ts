import type { SeededRandom } from '../../../src/cli/demo/random.ts'
import { apiOf, type ListedFlow, type Server } from '../../support/binary.ts'
import type { Journal, Kind, Request } from './journal.ts'
import { newRequest, type Tour } from './requests.ts'

/** An organisation with a published tour, and what its clients have recorded. */
export interface Tenant {
  id: string
  slug: string
  snippetKey: string
  /** A management token that may publish. */
  token: string
  journal: Journal
}

type Ask = ReturnType<typeof apiOf>

/** The tour of `withTour`, as callers see it; other flows have no checklist. */
export async function tourOf(ask: Ask): Promise<Tour & Pick<ListedFlow, 'version' | 'name'>> {
  const { flows } = (await (await ask('GET', '/flows')).json()) as {
    flows: (ListedFlow & { checklist: unknown })[]
  }
  const { id, steps, version, name } = flows.find(({ checklist }) => checklist !== null)!
  return { flowId: id, stepId: steps[0]!.id, version, name }
}

/** The pause before a client tries again, milliseconds; a server that is down stays down for longer. */
const pauseMs = 10

interface Verdicts {
  results: { index: number; status: 'duplicate' | 'rejected'; code?: string }[]
}

const isRejected = ({ status }: Verdicts['results'][number]) => status === 'rejected'

/** Whether the contract recognises an item of a kind when it is sent again. */
const hasIds = (kind: Kind) => kind !== 'health report' && kind !== 'fingerprint'

export interface LoadOptions {
  /** How many clients of each organisation send at once. */
  clients: number
  random: SeededRandom
  /** How the server acknowledges events. */
  ack?: 'commit' | 'buffer'
  /** How long each client rests after a response, milliseconds. */
  restMs?: number
}

/**
 * Clients of one organisation. Each sends one request after another over real sockets, records what is
 * acknowledged, and sends again what is not: under the same id if the contract gives the item one, otherwise
 * (a health report, a fingerprint) as a new item.
 */
export class Clients {
  private isStopped = false
  private readonly ended: Promise<unknown>
  private readonly ask: Ask

  constructor(
    private readonly tenant: Pick<Tenant, 'snippetKey' | 'journal'>,
    server: Pick<Server, 'url'>,
    private readonly options: LoadOptions,
  ) {
    this.ask = apiOf(server, tenant.snippetKey)
    this.ended = Promise.all(Array.from({ length: options.clients }, () => this.work()))
  }

  /** Resolves once all clients have the response to their last request, or know that none will come. */
  async stop(): Promise<void> {
    this.isStopped = true
    await this.ended
  }

  private async work(): Promise<void> {
    const { journal } = this.tenant
    let tour: Tour | null = null
    while (!this.isStopped) {
      tour ??= await tourOf(this.ask).catch(() => null)
      if (tour === null) {
        await Bun.sleep(pauseMs)
        continue
      }
      const repeated = journal.unacknowledged.pop()
      const request = repeated ?? newRequest(journal, tour, this.options.random)
      await this.send(request, repeated !== undefined)
      if (this.options.restMs) await Bun.sleep(this.options.restMs)
    }
  }

  private async send(request: Request, isRepeated: boolean): Promise<void> {
    const { kind, names, path, body } = request
    const { journal } = this.tenant
    const items = journal.items[kind]
    // What is acknowledged by now must be known to the server too, whatever comes meanwhile.
    const known = names.map(name => items.acknowledged.has(name))
    for (const name of names) items.sent.add(name)
    const startedAt = performance.now()
    const response = await this.ask('POST', path, body).catch(() => null)
    journal.responses.add(response, performance.now() - startedAt)
    if (response === null || response.status >= 500) {
      if (hasIds(kind)) journal.unacknowledged.push(request)
      await Bun.sleep(pauseMs)
      return
    }
    // A response counts from its first line on, even if the server dies before the last.
    const verdicts = (await response.json().catch(() => null)) as Partial<Verdicts> | null
    const results = verdicts?.results ?? []
    if (!response.ok && results.length === 0) {
      journal.contradictions.push(`${kind} was answered by ${response.status}`)
      return
    }
    const isBuffered = kind === 'event' && this.options.ack === 'buffer'
    const rejected = new Set(results.filter(isRejected).map(({ index }) => index))
    for (const [i, name] of names.entries()) {
      if (rejected.has(i)) continue
      if (!isBuffered) items.acknowledged.add(name)
      else if (!known[i]) journal.buffered.add(name)
    }
    if (isBuffered || !verdicts?.results) return
    this.compare(results, { names, known, isRepeated })
    for (const index of rejected) this.sendAgain(request, index)
  }

  /** Compares what a response says about each event with what is recorded about it. */
  private compare(
    results: Verdicts['results'],
    sent: { names: readonly string[]; known: readonly boolean[]; isRepeated: boolean },
  ): void {
    const { contradictions } = this.tenant.journal
    const verdicts = new Map(results.map(verdict => [verdict.index, verdict]))
    const seen = new Set<string>()
    for (const [i, name] of sent.names.entries()) {
      const { status, code } = verdicts.get(i) ?? {}
      const mustBeKnown = sent.known[i] || seen.has(name)
      if (status === 'rejected') {
        if (code !== 'storage') contradictions.push(`${name} was rejected as ${code}`)
        continue
      }
      if (mustBeKnown && status !== 'duplicate') {
        contradictions.push(`${name} was acknowledged, and sent again it was stored again`)
      } else if (!mustBeKnown && !sent.isRepeated && status === 'duplicate') {
        contradictions.push(`${name} was reported a duplicate, and had never been sent`)
      }
      seen.add(name)
    }
  }

  /** An event that the database rejected is in the dead letters, and its id is free again. */
  private sendAgain({ names, body, ...request }: Request, index: number): void {
    const { journal } = this.tenant
    const { events } = body as { events: unknown[] }
    journal.responses.deadLetters++
    journal.unacknowledged.push({
      ...request,
      names: [names[index]!],
      body: { events: [events[index]] },
    })
  }
}
