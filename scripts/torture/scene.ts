import type { SeededRandom } from '../../src/cli/demo/random.ts'
import { apiOf, type Server, sessionToken, Workplace } from '../support/binary.ts'
import { damageIn } from '../support/stored.ts'
import { until } from '../support/until.ts'
import { Clients, type Crowd, type Tenant, tenantsIn, tourOf } from './clients.ts'
import { Answers } from './diary.ts'
import type { Findings } from './findings.ts'
import { differences, lostFromBuffer } from './stored.ts'

/** Two organisations whose items have the same names: neither may see the other's. */
const organisations = ['Acme', 'Harbor']

/** How long as many items may take as a server usually takes in a second, milliseconds. */
const patienceMs = 120_000

/** How many people are looked up through the API at the end. */
const peopleAsked = 20

/**
 * A data directory with two organisations, their clients, and a server that is killed and restarted.
 * What is found goes into `found`.
 */
export class Scene implements AsyncDisposable {
  private killedAt = 0

  private constructor(
    readonly place: Workplace,
    readonly tenants: readonly Tenant[],
    readonly random: SeededRandom,
    readonly found: Findings,
  ) {}

  static async open(random: SeededRandom, found: Findings): Promise<Scene> {
    const place = new Workplace()
    return new Scene(place, await tenantsIn(place, organisations), random, found)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.takeAnswers()
    this.found.counts.acknowledged += this.acknowledged
    for (const { diary } of this.tenants) this.found.contradictions.push(...diary.contradictions)
    await this.place.close()
  }

  /** Starts the server as after a crash: nothing has looked at the data before the server does. */
  async start(args: readonly string[] = [], env: Record<string, string> = {}): Promise<Server> {
    const startedAt = performance.now()
    const server = await this.place.serve(['--threads', '2', ...args], env)
    this.found.startsMs.push(performance.now() - startedAt)
    this.settleBuffer()
    return server
  }

  /** Puts clients of both organisations to work. */
  work(server: Server, crowd: Partial<Crowd> = {}): Clients[] {
    const all = { clients: 4, random: this.random, ...crowd }
    return this.tenants.map(tenant => new Clients(tenant, server, all))
  }

  /** How many items of both organisations are acknowledged. */
  get acknowledged(): number {
    return this.tenants.reduce((sum, { diary }) => sum + diary.acknowledged, 0)
  }

  /** Resolves once so many more items are acknowledged. */
  async until(more: number): Promise<void> {
    const goal = this.acknowledged + more
    await until(() => this.acknowledged >= goal, Boolean, patienceMs)
  }

  /** What became of all requests since the last call. */
  takeAnswers(): Answers {
    const all = new Answers()
    for (const { diary } of this.tenants) {
      for (const [status, count] of diary.answers.counts) {
        all.counts.set(status, (all.counts.get(status) ?? 0) + count)
      }
      all.buried += diary.answers.buried
      all.slowestMs = Math.max(all.slowestMs, diary.answers.slowestMs)
      this.found.counts.refused += diary.answers.refused
      diary.answers = new Answers()
    }
    return all
  }

  /** Kills the server, and waits until its clients know. */
  async kill(server: Server, clients: readonly Clients[] = []): Promise<void> {
    server.child.kill('SIGKILL')
    this.killedAt = performance.now()
    await Promise.all(clients.map(each => each.stop()))
    await server.child.exited
  }

  /**
   * Reads everything that is stored and compares it with what clients have written down.
   *
   * @returns whether all of it is there, only once, and whole
   */
  check(): boolean {
    using database = this.place.reading()
    const { found } = this
    found.counts.checks++
    const isWhole = damageIn(database) === null
    if (!isWhole) found.counts.damaged++
    const all = this.tenants.map(({ id, diary }) => differences(database, id, diary))
    for (const each of all) found.add(each)
    return isWhole && all.every(each => Object.values(each).every(count => count === 0))
  }

  /** What the API returns and what a rebuild makes must match what is stored. */
  async checkProjections(server: Server): Promise<void> {
    const before = await this.analytics(server)
    const { changed } = await this.place.json<{ changed: number }>(['rebuild'])
    this.found.counts.changed += changed
    if (!Bun.deepEquals(before, await this.analytics(server))) this.found.counts.astray++
    for (const { snippetKey, diary } of this.tenants) {
      const ask = apiOf(server, snippetKey)
      const { flowId } = await tourOf(ask)
      for (const userId of [...diary.pages.tick.acknowledged].slice(-peopleAsked)) {
        const path = `/flows/${flowId}/checklist-progress?userId=${userId}`
        const { completed } = (await (await ask('GET', path)).json()) as { completed: number }
        if (completed !== 1) this.found.counts.astray++
      }
      for (const userId of [...diary.pages.completion.acknowledged].slice(-peopleAsked)) {
        const response = await ask('POST', `/flows/${flowId}/complete`, { userId })
        const { alreadyCompleted } = (await response.json()) as { alreadyCompleted: boolean }
        if (!alreadyCompleted) this.found.counts.astray++
      }
    }
  }

  /** What analysts of both organisations see of their tours. */
  private async analytics(server: Server): Promise<unknown[]> {
    const answers = this.tenants.map(async ({ slug, snippetKey }) => {
      const { flowId } = await tourOf(apiOf(server, snippetKey))
      const token = await sessionToken(this.place, slug)
      const response = await apiOf(server, token)('GET', `/flows/${flowId}/analytics`)
      const { generatedAt, ...answer } = (await response.json()) as Record<string, unknown>
      return answer
    })
    return Promise.all(answers)
  }

  /** Counts the events that were acknowledged before they were stored, and those that the last kill has lost. */
  private settleBuffer(): void {
    if (this.tenants.every(({ diary }) => diary.buffered.size === 0)) return
    using database = this.place.reading()
    for (const { id, diary } of this.tenants) {
      this.found.buffered += diary.buffered.size
      this.found.lostFromBufferMs.push(...lostFromBuffer(database, id, diary, this.killedAt))
    }
  }
}
