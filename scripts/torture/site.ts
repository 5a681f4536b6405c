import type { SeededRandom } from '../../src/cli/demo/random.ts'
import {
  apiOf,
  metricOf,
  type Server,
  sessionToken,
  Workplace,
  withUnlimitedTour,
} from '../support/binary.ts'
import { damageIn } from '../support/stored.ts'
import { until } from '../support/until.ts'
import { Journal, Responses } from './journal.ts'
import {
  type Load,
  type LoadOptions,
  oldRuns,
  send,
  startClients,
  startEditors,
  type Tenant,
  tourOf,
} from './load.ts'
import {
  addCounts,
  type Check,
  none,
  noProblem,
  type ProblemCounts,
  problemNames,
  problemsIn,
  settleBuffer,
  sumOf,
} from './verdict.ts'

/** Two organisations whose items have the same names: neither may see the other's. */
const organisations = ['Acme', 'Harbor']

/** How many people are looked up through the API at the end. */
const peopleRead = 20

/** Waits until a metric of a server is zero. */
export const untilZero = (server: Server, name: string) =>
  until(
    () => metricOf(server, name),
    count => count === 0,
  )

/** The range that analysts read, as a query. */
type Range = `?from=${string}&to=${string}` | ''

/** What an analyst sees of an organisation's tour. */
export async function analyticsOf(server: Server, { token, flowId }: Analyst, range: Range = '') {
  const response = await apiOf(server, token)('GET', `/flows/${flowId}/analytics${range}`)
  if (!response.ok) throw new Error(`analytics were answered by ${response.status}`)
  const { generatedAt, ...body } = (await response.json()) as Record<string, unknown>
  return body as { totals: { starts: number } } & Record<string, unknown>
}

interface Analyst {
  token: string
  flowId: string
}

/** A data directory with two organisations, their load, a server that is killed and restarted, and the verdict. */
export class Site implements AsyncDisposable {
  private readonly problems: ProblemCounts = {}
  private readonly counts = { comparisons: 0, changed: 0, wrong: 0, failed: 0 }
  /** How many events that `ack=buffer` acknowledged an end of the server has lost. */
  lostBuffered = 0

  private constructor(
    readonly place: Workplace,
    readonly tenants: readonly Tenant[],
    readonly random: SeededRandom,
  ) {}

  static async open(random: SeededRandom, place = new Workplace()): Promise<Site> {
    const tenants: Tenant[] = []
    for (const name of organisations) {
      const organisation = await withUnlimitedTour(place, name)
      const scopes = ['flows:read', 'flows:write', 'flows:publish']
      const create = ['token', 'create', 'CI', '--org', organisation.slug, '--scope', ...scopes]
      const { token } = await place.json<{ token: string }>(create)
      tenants.push({ ...organisation, token, journal: new Journal() })
    }
    return new Site(place, tenants, random)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.place.close()
  }

  /** Starts the server as after a crash: nothing has looked at the data before the server does. */
  async start(args: readonly string[] = [], env: Record<string, string> = {}): Promise<Server> {
    const server = await this.place.serve([...args], env)
    if (this.tenants.some(({ journal }) => journal.buffered.size > 0)) {
      using database = this.place.reading()
      for (const tenant of this.tenants) this.lostBuffered += settleBuffer(database, tenant)
    }
    return server
  }

  /** Puts clients of both organisations to work, and editors too if `isPublishing`. */
  load(
    server: Server,
    { isPublishing, ...options }: Omit<LoadOptions, 'random'> & { isPublishing?: boolean } = {},
  ): Load {
    const of = { random: this.random, ...options }
    const all = this.tenants.flatMap(tenant => [
      startClients(tenant, server, of),
      ...(isPublishing ? [startEditors(tenant, this.place, server, of)] : []),
    ])
    return { stop: async () => void (await Promise.all(all.map(each => each.stop()))) }
  }

  /** Sends the first organisation's runs that are old enough for a block. */
  async sendOldRuns(server: Server): Promise<void> {
    const { journal, snippetKey } = this.tenants[0]!
    const ask = apiOf(server, snippetKey)
    for (const request of oldRuns(journal, await tourOf(ask))) await send(journal, ask, request)
  }

  get acknowledged(): number {
    return this.tenants.reduce((sum, { journal }) => sum + journal.acknowledged, 0)
  }

  /** Resolves once so many more items are acknowledged. */
  async until(more: number): Promise<void> {
    const goal = this.acknowledged + more
    await until(() => this.acknowledged >= goal)
  }

  /** What became of all requests since the last call. */
  takeResponses(): Responses {
    const all = new Responses()
    for (const { journal } of this.tenants) {
      for (const [status, count] of journal.responses.counts) {
        all.counts.set(status, (all.counts.get(status) ?? 0) + count)
      }
      all.deadLetters += journal.responses.deadLetters
      all.withoutRetryAfter += journal.responses.withoutRetryAfter
      journal.responses = new Responses()
    }
    this.counts.failed += all.failed
    return all
  }

  /** Kills the server, and waits until its clients have noticed. */
  async kill(server: Server, load?: Load): Promise<void> {
    server.child.kill('SIGKILL')
    await load?.stop()
    await server.child.exited
  }

  /**
   * Reads everything that is stored and compares it with the journals.
   *
   * @returns whether all of it is there, and only once
   */
  compare(): boolean {
    using database = this.place.reading()
    this.counts.comparisons++
    const damaged = damageIn(database) === null ? 0 : 1
    const all = [{ damaged }, ...this.tenants.map(tenant => problemsIn(database, tenant))]
    for (const found of all) addCounts(this.problems, found)
    return all.every(found => sumOf(found) === 0)
  }

  /** Starts the server again, compares everything, and what a rebuild makes too; then stops it. */
  async finish(): Promise<Check[]> {
    const server = await this.start()
    this.compare()
    await this.compareProjections(server)
    const status = await server.end()
    return [...this.checks(), none('exit status of the last stop', status)]
  }

  private checks(): Check[] {
    this.takeResponses()
    const { counts, problems } = this
    const publications = this.tenants.flatMap(({ journal }) => journal.publications)
    const published = publications.filter(({ version }) => version !== null).length
    return [
      { what: 'items acknowledged', value: this.acknowledged },
      {
        what: 'publications acknowledged, and sent',
        value: `${published}, ${publications.length}`,
      },
      { what: 'requests without a response or with an error', value: counts.failed },
      { what: 'times that all of it was read and compared', value: counts.comparisons },
      ...Object.entries(problemNames).map(([name, what]) =>
        none(what, problems[name as keyof ProblemCounts] ?? 0),
      ),
      none('flows that `cairn rebuild` changed', counts.changed),
      none('analytics and checklists that differ from what is stored', counts.wrong),
      noProblem(
        'responses that contradict an earlier one',
        this.tenants.flatMap(({ journal }) => journal.contradictions),
      ),
    ]
  }

  /** What the API returns and what a rebuild makes must match what is stored. */
  private async compareProjections(server: Server): Promise<void> {
    const analytics = () =>
      Promise.all(
        this.tenants.map(async tenant => {
          const { flowId } = await tourOf(apiOf(server, tenant.snippetKey))
          const token = await sessionToken(this.place, tenant.slug)
          return analyticsOf(server, { token, flowId })
        }),
      )
    const before = await analytics()
    const { changed } = await this.place.json<{ changed: number }>(['rebuild'])
    this.counts.changed += changed
    if (!Bun.deepEquals(before, await analytics())) this.counts.wrong++
    for (const { snippetKey, journal } of this.tenants) {
      const ask = apiOf(server, snippetKey)
      const { flowId } = await tourOf(ask)
      for (const userId of [...journal.items.tick.acknowledged].slice(-peopleRead)) {
        const path = `/flows/${flowId}/checklist-progress?userId=${userId}`
        const { completed } = (await (await ask('GET', path)).json()) as { completed: number }
        if (completed !== 1) this.counts.wrong++
      }
      for (const userId of [...journal.items.completion.acknowledged].slice(-peopleRead)) {
        const response = await ask('POST', `/flows/${flowId}/complete`, { userId })
        const { alreadyCompleted } = (await response.json()) as { alreadyCompleted: boolean }
        if (!alreadyCompleted) this.counts.wrong++
      }
    }
  }
}
