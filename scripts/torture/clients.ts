import type { SeededRandom } from '../../src/cli/demo/random.ts'
import {
  apiOf,
  firstFlowOf,
  type Server,
  type Workplace,
  withUnlimitedTour,
} from '../support/binary.ts'
import { Diary, type Kind, type Request } from './diary.ts'
import { newRequest, type Tour } from './requests.ts'

/** An organisation with a published tour, and what its clients have written down. */
export interface Tenant {
  id: string
  slug: string
  snippetKey: string
  diary: Diary
}

/** Creates organisations whose clients may send as much as they can. */
export async function tenantsIn(place: Workplace, names: readonly string[]): Promise<Tenant[]> {
  const tenants: Tenant[] = []
  for (const name of names) {
    tenants.push({ ...(await withUnlimitedTour(place, name)), diary: new Diary() })
  }
  return tenants
}

type Ask = ReturnType<typeof apiOf>

/** The tour of `withTour`, as callers see it. */
export async function tourOf(ask: Ask): Promise<Tour> {
  const { id, steps } = await firstFlowOf(ask)
  return { flowId: id, stepId: steps[0]!.id }
}

/** The pause before a client tries again, milliseconds; a server that is down stays down for longer. */
const pauseMs = 10

interface Verdicts {
  results: { index: number; status: 'duplicate' | 'rejected'; code?: string }[]
}

const isRejected = ({ status }: Verdicts['results'][number]) => status === 'rejected'

/** Whether the contract recognises an item of a kind when it is sent again. */
const hasIds = (kind: Kind) => kind !== 'health report' && kind !== 'fingerprint'

export interface Crowd {
  /** How many clients send at once. */
  clients: number
  random: SeededRandom
  /** How the server acknowledges events. */
  ack?: 'commit' | 'buffer'
  /** How long each client rests after an answer, milliseconds. */
  restMs?: number
}

/**
 * Clients of one organisation. Each sends one request after another over real sockets, writes down
 * what is acknowledged, and sends again what is not: under the same id if the contract gives the item
 * one, otherwise (a health report, a fingerprint) as a new item.
 */
export class Clients {
  private isOver = false
  private readonly ended: Promise<unknown>
  private readonly ask: Ask

  constructor(
    private readonly tenant: Tenant,
    server: Pick<Server, 'url'>,
    private readonly crowd: Crowd,
  ) {
    this.ask = apiOf(server, tenant.snippetKey)
    this.ended = Promise.all(Array.from({ length: crowd.clients }, () => this.work()))
  }

  /** Resolves once all clients have the answer to their last request, or know that none will come. */
  async stop(): Promise<void> {
    this.isOver = true
    await this.ended
  }

  private async work(): Promise<void> {
    const { diary } = this.tenant
    let tour: Tour | null = null
    while (!this.isOver) {
      tour ??= await tourOf(this.ask).catch(() => null)
      if (tour === null) {
        await Bun.sleep(pauseMs)
        continue
      }
      const repeated = diary.unanswered.pop()
      const request = repeated ?? newRequest(diary, tour, this.crowd.random)
      await this.send(request, repeated !== undefined)
      if (this.crowd.restMs) await Bun.sleep(this.crowd.restMs)
    }
  }

  private async send(request: Request, isRepeated: boolean): Promise<void> {
    const { kind, names, path, body } = request
    const { diary } = this.tenant
    const page = diary.pages[kind]
    // What is acknowledged by now must be known to the server too, whatever comes meanwhile.
    const known = names.map(name => page.acknowledged.has(name))
    for (const name of names) page.sent.add(name)
    const startedAt = performance.now()
    const response = await this.ask('POST', path, body).catch(() => null)
    const answeredAt = performance.now()
    diary.answers.add(response?.status ?? null, answeredAt - startedAt)
    if (response === null || response.status >= 500) {
      if (hasIds(kind)) diary.unanswered.push(request)
      await Bun.sleep(pauseMs)
      return
    }
    // An answer counts from its first line on, even if the server dies before the last.
    const answer = (await response.json().catch(() => null)) as Partial<Verdicts> | null
    const results = answer?.results ?? []
    if (!response.ok && results.length === 0) {
      diary.contradictions.push(`${kind} was answered by ${response.status}`)
      return
    }
    const isBuffered = kind === 'event' && this.crowd.ack === 'buffer'
    const rejected = new Set(results.filter(isRejected).map(({ index }) => index))
    for (const [i, name] of names.entries()) {
      if (rejected.has(i)) continue
      if (!isBuffered) page.acknowledged.add(name)
      else if (!known[i]) diary.buffered.set(name, answeredAt)
    }
    if (isBuffered || !answer?.results) return
    this.judge(results, { names, known, isRepeated })
    for (const index of rejected) this.sendAgain(request, index)
  }

  /** Compares what an answer says about each event with what is written down about it. */
  private judge(
    results: Verdicts['results'],
    told: { names: readonly string[]; known: readonly boolean[]; isRepeated: boolean },
  ): void {
    const { contradictions } = this.tenant.diary
    const verdicts = new Map(results.map(verdict => [verdict.index, verdict]))
    const seen = new Set<string>()
    for (const [i, name] of told.names.entries()) {
      const { status, code } = verdicts.get(i) ?? {}
      const mustBeKnown = told.known[i] || seen.has(name)
      if (status === 'rejected') {
        if (code !== 'storage') contradictions.push(`${name} was rejected as ${code}`)
        continue
      }
      if (mustBeKnown && status !== 'duplicate') {
        contradictions.push(`${name} was acknowledged, and sent again it was stored again`)
      } else if (!mustBeKnown && !told.isRepeated && status === 'duplicate') {
        contradictions.push(`${name} was told a duplicate, and had never been sent`)
      }
      seen.add(name)
    }
  }

  /** An event that the database refused is in the dead letters, and its id is free again. */
  private sendAgain({ names, body, ...request }: Request, index: number): void {
    const { diary } = this.tenant
    const { events } = body as { events: unknown[] }
    diary.answers.buried++
    diary.unanswered.push({ ...request, names: [names[index]!], body: { events: [events[index]] } })
  }
}
