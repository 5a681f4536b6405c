import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { personOf } from '../../../../src/core/event/event.ts'
import { eraseBeside } from '../../../support/erasing.ts'
import { checklist, tour } from '../../../support/flows.ts'
import { storedEvents } from '../../../support/ledger.ts'
import { type PublishedFlow, Tenant } from '../../../support/tenant.ts'
import { World } from '../../../support/world.ts'

/**
 * A caller with the public key reports events of somebody, and reads what can be read. In one organisation
 * that person was erased, in the other they were never known. No answer may tell which is which.
 */

const world = new World()
afterAll(() => world.close())

const unlimited = { events: 1e6, flows: 1e6, health: 1e6, heartbeat: 1e6, status: 1e6 }

class Stage {
  readonly flows: PublishedFlow[]
  /** The version in the last answer to each question. */
  private readonly progress = new Map<string, string>()

  private constructor(readonly tenant: Tenant) {
    tenant.limit(unlimited)
    const both = { ...tour(), ...checklist(), key: 'both' }
    this.flows = [both, tour(), checklist()].map(flow => tenant.publish(flow))
  }

  static async open(): Promise<Stage> {
    return new Stage(await Tenant.of(world))
  }

  async erase(name: string): Promise<void> {
    const { row: orgRow, organisation } = this.tenant
    await eraseBeside(world, { orgRef: orgRow, orgId: organisation.id, person: name })
  }

  /** Replaces keys such as `@both` and `@both.hello` by the ids of this organisation. */
  private filled(text: string): string {
    return text.replace(/@(\w+)(?:\.(\w+))?/g, (_, key: string, part?: string) => {
      const flow = this.flows.find(flow => flow.key === key)!
      const parts = [...flow.steps, ...(flow.checklist?.items ?? [])]
      return part === undefined ? flow.id : parts.find(({ key }) => key === part)!.id
    })
  }

  /** An answer, with the keys in place of the ids. */
  async ask({ what, body }: Question) {
    const sent = body === undefined ? {} : { body: this.filled(JSON.stringify(body)) }
    const response = await this.tenant.ask(this.filled(what), sent)
    let text = await response.text()
    for (const flow of this.flows) {
      text = text.replaceAll(flow.id, `@${flow.key}`)
      for (const { id, key } of [...flow.steps, ...(flow.checklist?.items ?? [])]) {
        text = text.replaceAll(id, `@${flow.key}.${key}`)
      }
    }
    // The version of the list depends on the ids in it.
    text = text.replace(/"(version|flowsVersion)":"[^"]+"/, '')
    // The versions of one person are compared only with each other.
    text = text.replace(/"progressVersion":"([^"]+)"/, (_, version: string) => {
      const last = this.progress.get(what)
      this.progress.set(what, version)
      return `"hasProgressed":${last !== undefined && last !== version}`
    })
    const headers = Object.fromEntries(response.headers)
    for (const name of ['x-request-id', 'etag', 'content-length']) delete headers[name]
    return { status: response.status, headers, text }
  }
}

interface Question {
  what: string
  body?: unknown
}

const someone = { userId: 'someone' }
const browser = { anonymousId: 'a-browser' }
const who = fc.constantFrom(someone, browser, { ...someone, ...browser })
/** Not in a run with the erased person: the manual says what that would reveal (`security`). */
const others = fc.constantFrom<object>({ userId: 'bob' }, { userId: 'carol', ...browser })
const flow = fc.constantFrom('both', 'welcome', 'start')
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const eventOf = (names: object, run: string) =>
  fc
    .oneof(
      fc.record({
        kind: fc.constantFrom(
          'flow_started',
          'flow_completed',
          'flow_dismissed',
          'checklist_opened',
        ),
        flowId: flow.map(key => `@${key}`),
      }),
      fc.constantFrom('hello', 'search').map(step => ({
        kind: 'step_viewed',
        flowId: '@both',
        stepId: `@both.${step}`,
      })),
      fc.constantFrom('invite', 'photo').map(item => ({
        kind: 'item_completed',
        flowId: '@start',
        itemId: `@start.${item}`,
      })),
      fc.constantFrom<object>({ kind: 'custom', name: 'invited' }, { kind: 'custom' }),
    )
    .chain(event =>
      fc.record({
        ...Object.fromEntries(
          Object.entries({ ...event, ...names }).map(([k, v]) => [k, fc.constant(v)]),
        ),
        id: maybe(fc.constantFrom('e1', 'e2', 'e3', 'e4', 'e5', 'e6')),
        runId: maybe(fc.constantFrom(`${run}-1`, `${run}-2`)),
        sessionId: maybe(fc.constantFrom(`${run}-s1`, `${run}-s2`)),
      }),
    )

const event = fc.oneof(
  { weight: 3, arbitrary: who.chain(names => eventOf(names, 'theirs')) },
  { weight: 1, arbitrary: others.chain(names => eventOf(names, 'of-others')) },
)

const query = who.map(names => new URLSearchParams(names as Record<string, string>).toString())

const question: fc.Arbitrary<Question> = fc.oneof(
  query.map(names => ({ what: `GET /heartbeat?${names}` })),
  fc
    .array(event, { minLength: 1, maxLength: 5 })
    .map(events => ({ what: 'POST /events', body: { events } })),
  fc
    .tuple(flow, fc.oneof(who, others), maybe(fc.constantFrom('theirs-1', 'theirs-3')))
    .map(([key, names, runId]) => ({
      what: `POST /flows/@${key}/complete`,
      body: { ...names, ...('userId' in names && names.userId !== 'someone' ? {} : { runId }) },
    })),
  fc
    .tuple(
      fc.oneof(who, others),
      fc.array(
        fc.record({ key: fc.constantFrom('invite', 'photo', 'pay'), completed: fc.boolean() }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
    )
    .map(([names, items]) => ({
      what: 'POST /flows/@start/checklist-progress',
      body: { ...names, items },
    })),
  query.map(asked => ({ what: `GET /flows/@start/checklist-progress?${asked}` })),
  query.map(asked => ({ what: `GET /flows?${asked}` })),
  fc
    .tuple(fc.oneof(who, others), fc.constantFrom('found', 'not_found'), fc.nat(4))
    .map(([names, outcome]) => ({
      what: 'POST /steps/@both.search/health',
      body: { ...names, outcome, message: 'words' },
    })),
  fc.constant({ what: 'GET /snippet-status' }),
)

test('no answer tells an erased person from one who was never there', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(question, { minLength: 1, maxLength: 25 }), async questions => {
      const [erased, never] = [await Stage.open(), await Stage.open()]
      for (const name of ['usomeone', 'aa-browser']) await erased.erase(name)
      for (const asked of questions) {
        world.clock.advance(1_000)
        const there = await erased.ask(asked)
        expect({ asked, ...there }).toEqual({ asked, ...(await never.ask(asked)) })
      }
      const kept = storedEvents(world.database, erased.tenant.row)
      const left = kept.filter(({ userId, anonymousId }) =>
        ['usomeone', 'aa-browser'].includes(personOf(userId, anonymousId)),
      )
      expect(left).toEqual([])
    }),
    { numRuns: 30 },
  )
}, 300_000)
