import type { SeededRandom } from '../../src/cli/demo/random.ts'
import {
  apiOf,
  type Server,
  sessionToken,
  Workplace,
  withUnlimitedTour,
} from '../support/binary.ts'
import { damageIn } from '../support/stored.ts'
import { until } from '../support/until.ts'
import { Clients, type LoadOptions, type Tenant, tourOf } from './load/clients.ts'
import { Journal, Responses } from './load/journal.ts'
import { Publishers } from './load/publishers.ts'
import { type Faults, faultNames, faultsOf, settleBuffer } from './load/stored.ts'
import { type Check, none, noProblem } from './result.ts'

/** Two organisations whose items have the same names: neither may see the other's. */
const organisations = ['Acme', 'Harbor']

/** How long as many items may take as a server usually takes in a second, milliseconds. */
const patienceMs = 120_000

/** How many people are looked up through the API at the end. */
const peopleRead = 20

/** What is under way at a server. */
export interface Load {
  stop(): Promise<void>
}

/** A data directory with two organisations, their load, a server that is killed and restarted, and the verdict. */
export class Site implements AsyncDisposable {
  private readonly faults = Object.fromEntries(
    Object.keys(faultNames).map(name => [name, 0]),
  ) as unknown as Faults
  private readonly counts = { comparisons: 0, damaged: 0, changed: 0, wrong: 0, failed: 0 }
  /** How many events `ack=buffer` acknowledged, and how many of these an end of the server has lost. */
  readonly buffered = { acknowledged: 0, lost: 0 }

  private constructor(
    readonly place: Workplace,
    readonly tenants: readonly Tenant[],
    readonly random: SeededRandom,
  ) {}

  static async open(random: SeededRandom): Promise<Site> {
    const place = new Workplace()
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
    const server = await this.place.serve(['--threads', '2', ...args], env)
    if (this.tenants.some(({ journal }) => journal.buffered.size > 0)) this.settleBuffer()
    return server
  }

  /** Puts clients of both organisations to work, and editors too if `isPublishing`. */
  load(
    server: Server,
    { isPublishing, ...options }: Partial<LoadOptions> & { isPublishing?: boolean } = {},
  ): Load {
    const { place, random } = this
    const all = this.tenants.flatMap((tenant): Load[] => [
      new Clients(tenant, server, { clients: 4, random, ...options }),
      ...(isPublishing ? [new Publishers(place, server, tenant, random, options.restMs)] : []),
    ])
    return { stop: async () => void (await Promise.all(all.map(each => each.stop()))) }
  }

  get acknowledged(): number {
    return this.tenants.reduce((sum, { journal }) => sum + journal.acknowledged, 0)
  }

  /** Resolves once so many more items are acknowledged. */
  async until(more: number): Promise<void> {
    const goal = this.acknowledged + more
    await until(() => this.acknowledged >= goal, Boolean, patienceMs)
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
      all.slowestMs = Math.max(all.slowestMs, journal.responses.slowestMs)
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
   * @returns whether all of it is there, only once, and whole
   */
  compare(): boolean {
    using database = this.place.reading()
    this.counts.comparisons++
    const isWhole = damageIn(database) === null
    if (!isWhole) this.counts.damaged++
    const all = this.tenants.map(tenant => faultsOf(database, tenant))
    for (const found of all) {
      for (const name of Object.keys(found) as (keyof Faults)[]) this.faults[name] += found[name]
    }
    return isWhole && all.every(found => Object.values(found).every(count => count === 0))
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
    const { counts, faults, buffered } = this
    const publications = this.tenants.flatMap(({ journal }) => journal.publications)
    return [
      { what: 'items acknowledged', value: this.acknowledged },
      {
        what: 'publications acknowledged, and sent',
        value: `${publications.filter(({ version }) => version !== null).length}, ${publications.length}`,
      },
      {
        what: 'requests without a response or with an error, and sent again',
        value: counts.failed,
      },
      {
        what: 'with ack=buffer: acknowledged, and lost with the process',
        value: `${buffered.acknowledged}, ${buffered.lost}`,
      },
      { what: 'times that all of it was read and compared', value: counts.comparisons },
      ...Object.entries(faultNames).map(([name, what]) => none(what, faults[name as keyof Faults])),
      none('integrity checks of the database that failed', counts.damaged),
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
    const before = await this.analytics(server)
    const { changed } = await this.place.json<{ changed: number }>(['rebuild'])
    this.counts.changed += changed
    if (!Bun.deepEquals(before, await this.analytics(server))) this.counts.wrong++
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

  /** What analysts of both organisations see of their tours. */
  private async analytics(server: Server): Promise<unknown[]> {
    const responses = this.tenants.map(async ({ slug, snippetKey }) => {
      const { flowId } = await tourOf(apiOf(server, snippetKey))
      const token = await sessionToken(this.place, slug)
      const response = await apiOf(server, token)('GET', `/flows/${flowId}/analytics`)
      const { generatedAt, ...body } = (await response.json()) as Record<string, unknown>
      return body
    })
    return Promise.all(responses)
  }

  private settleBuffer(): void {
    using database = this.place.reading()
    for (const { id, journal } of this.tenants) {
      this.buffered.acknowledged += journal.buffered.size
      this.buffered.lost += settleBuffer(database, id, journal)
    }
  }
}
