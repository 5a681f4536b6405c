import { afterAll, beforeAll, expect, test } from 'bun:test'
import { scopes } from '../../../src/core/organisation/access.ts'
import { tour } from '../../support/flows.ts'
import { type PublishedFlow, Tenant } from '../../support/tenant.ts'
import { World } from '../../support/world.ts'

/** Lists of people as callers get them: filters, orders, pages, CSV and the audience of a draft. */

const world = new World()
afterAll(() => world.close())

let tenant: Tenant
let token: string
let welcome: PublishedFlow
let survey: PublishedFlow

const stepOf = (flow: PublishedFlow, key: string) => flow.steps.find(step => step.key === key)!.id

const minute = 60_000

beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.listTraits('plan', 'seats')
  welcome = tenant.publish(tour())
  survey = tenant.publish({
    key: 'nps',
    steps: [{ key: 'score', title: 'How likely?', question: { type: 'rating', scale: 'nps' } }],
  })
  token = await tenant.managementToken(...scopes)
  const now = world.clock.now()
  const of = (userId: string, minutesAgo: number, more: object) => ({
    ...{ userId, occurredAt: now - minutesAgo * minute, runId: `${userId}-run` },
    ...more,
  })
  const start = (userId: string, minutesAgo: number, traits: object, url?: string) =>
    of(userId, minutesAgo, { kind: 'flow_started', flowId: welcome.id, traits, url })
  const step = (userId: string, minutesAgo: number, key: string) =>
    of(userId, minutesAgo, {
      ...{ kind: 'step_viewed', flowId: welcome.id, stepId: stepOf(welcome, key) },
    })
  const answer = (userId: string, minutesAgo: number, score: number) => [
    of(userId, minutesAgo, { kind: 'flow_started', flowId: survey.id, runId: `${userId}-nps` }),
    of(userId, minutesAgo, {
      ...{ kind: 'question_answered', flowId: survey.id, stepId: stepOf(survey, 'score') },
      ...{ runId: `${userId}-nps`, properties: { answer: score } },
    }),
  ]
  const { status } = await tenant.send([
    start('ann@harbor.example', 40, { plan: 'pro', seats: 12 }, 'https://app.example/projects?a=1'),
    step('ann@harbor.example', 39, 'hello'),
    of('ann@harbor.example', 38, { kind: 'flow_completed', flowId: welcome.id }),
    start('bob@harbor.example', 30, { plan: 'free', seats: 9 }, 'https://app.example/settings'),
    step('bob@harbor.example', 29, 'hello'),
    of('bob@harbor.example', 28, { kind: 'flow_dismissed', flowId: welcome.id }),
    start('carl', 20, {}),
    step('carl', 19, 'hello'),
    step('carl', 18, 'search'),
    ...answer('ann@harbor.example', 10, 9),
    ...answer('carl', 9, 3),
    of('dora', 8, { kind: 'custom', name: 'signed_up' }),
  ])
  expect(status).toBe(202)
})

const list = async (query: Record<string, unknown> = {}) => {
  const encoded = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  const { status, body } = await tenant.answer(
    `GET /manage/people?${new URLSearchParams(encoded)}`,
    {
      credential: token,
    },
  )
  expect([status, body]).toMatchObject([200, {}])
  return body
}

const names = async (query: Record<string, unknown>) =>
  (await list(query)).people.map(({ userId }: { userId: string }) => userId.split('@')[0])

test('a person has listed traits as last reported, times, and flows by their best outcome', async () => {
  const { traits, people } = await list({ search: 'ANN@' })
  expect(traits).toEqual(['plan', 'seats'])
  expect(people).toEqual([
    {
      ...{ userId: 'ann@harbor.example', anonymousId: null },
      firstSeenAt: new Date(world.clock.now() - 40 * minute).toISOString(),
      lastSeenAt: new Date(world.clock.now() - 10 * minute).toISOString(),
      traits: { plan: 'pro', seats: '12' },
      flows: { seen: 2, completed: 1, dismissed: 0, inProgress: 1 },
    },
  ])
})

const rule = (attribute: string, op: string, value: unknown) => ({
  rules: [{ attribute, op, value }],
})
const flow = (condition: object) => ({ flows: [{ flow: 'welcome', ...condition }] })

test.each([
  [{}, ['dora', 'carl', 'ann', 'bob']],
  [rule('plan', 'eq', 'pro'), ['ann']],
  [rule('seats', 'gt', 9), ['ann']],
  [rule('seats', 'in', [9, 10]), ['bob']],
  [rule('plan', 'neq', 'pro'), ['dora', 'carl', 'bob']],
  [rule('plan', 'exists', false), ['dora', 'carl']],
  [flow({}), ['carl', 'ann', 'bob']],
  [flow({ outcome: 'completed' }), ['ann']],
  [flow({ outcome: 'dismissed' }), ['bob']],
  [flow({ outcome: 'in_progress' }), ['carl']],
  [flow({ outcome: 'not_met' }), ['dora']],
  [flow({ leftAt: 'hello' }), ['bob']],
  [flow({ leftAt: 'search' }), ['carl']],
  [{ flows: [{ flow: 'nps', answer: { step: 'score', from: 0, to: 6 } }] }, ['carl']],
  [{ flows: [{ flow: 'nps', answer: { step: 'score' } }] }, ['carl', 'ann']],
  [{ ...flow({ outcome: 'completed' }), ...rule('plan', 'eq', 'free') }, []],
])('a filter keeps whom it says: %j', async (filter, expected) => {
  expect(await names({ filter })).toEqual(expected)
  const query = new URLSearchParams({ filter: JSON.stringify(filter) })
  const { body } = await tenant.answer(`GET /manage/people/count?${query}`, { credential: token })
  expect(body).toEqual({ people: expected.length, all: 4 })
})

test.each([
  ['lastSeen', 'asc', ['bob', 'ann', 'carl', 'dora']],
  ['firstSeen', 'asc', ['ann', 'bob', 'carl', 'dora']],
  ['id', 'desc', ['dora', 'carl', 'bob', 'ann']],
  ['flows', 'desc', ['carl', 'ann', 'bob', 'dora']],
  ['trait:plan', 'asc', ['bob', 'ann', 'carl', 'dora']],
  ['trait:plan', 'desc', ['ann', 'bob', 'dora', 'carl']],
])(
  'sorted by %s %s, pages follow each other without gap or repetition',
  async (sort, order, expected) => {
    const found: string[] = []
    let after: string | null = null
    do {
      const page = await list({ sort, order, limit: '1', ...(after !== null && { after }) })
      expect(page.people).toHaveLength(1)
      found.push(page.people[0].userId.split('@')[0])
      after = page.next
    } while (after !== null)
    expect(found).toEqual(expected)
  },
)

test('the CSV has the people of the filter, with a column for each trait', async () => {
  const query = new URLSearchParams({ filter: JSON.stringify(rule('plan', 'eq', 'pro')) })
  const response = await tenant.ask(`GET /manage/people/list.csv?${query}`, { credential: token })
  expect(await response.text()).toBe(
    'user_id,anonymous_id,first_seen_at,last_seen_at,flows_seen,flows_completed,flows_dismissed,' +
      'flows_in_progress,trait:plan,trait:seats\r\n' +
      `ann@harbor.example,,${new Date(world.clock.now() - 40 * minute).toISOString()},` +
      `${new Date(world.clock.now() - 10 * minute).toISOString()},2,1,0,1,pro,12\r\n`,
  )
})

test('an audience counts who matches, who does not, and who has not named, on each page', async () => {
  const urls = [
    { match: 'prefix', pattern: '/projects' },
    { match: 'exact', pattern: '/settings' },
    { match: 'exact', pattern: '/settings?tab=a' },
  ]
  const audience = { match: 'all', ...rule('plan', 'eq', 'pro') }
  const { body } = await tenant.answer('POST /manage/audience', {
    credential: token,
    body: { urls, audience },
  })
  expect(body).toEqual({
    ...{ days: 7, people: 4, matching: 1, notMatching: 1, unknown: 2 },
    traits: [{ trait: 'plan', isListed: true, unknown: 2 }],
    pages: [
      { ...urls[0], people: 1, matching: 1, unknown: 0 },
      { ...urls[1], people: 1, matching: 0, unknown: 0 },
      { ...urls[2], people: 0, matching: 0, unknown: 4 },
    ],
    anyPage: { people: 2, matching: 1, unknown: 2 },
  })
})

test('what the rules decide without a trait is known, although it was not reported', async () => {
  const rules = [
    { attribute: 'plan', op: 'eq', value: 'pro' },
    { attribute: 'role', op: 'eq', value: 'admin' },
  ]
  const count = async (match: string) => {
    const body = { urls: [], audience: { match, rules } }
    const { body: counted } = await tenant.answer('POST /manage/audience', {
      credential: token,
      body,
    })
    return [counted.matching, counted.notMatching, counted.unknown]
  }
  expect(await count('all')).toEqual([0, 1, 3])
  expect(await count('any')).toEqual([1, 0, 3])
})

test('a history has flows, steps and answers in the words of their authors', async () => {
  const { body } = await tenant.answer('GET /manage/people/history?userId=ann%40harbor.example', {
    credential: token,
  })
  const named = body.events.map(
    ({ kind, flowName, stepTitle, answer }: Record<string, string | null>) => [
      ...[kind, flowName, stepTitle, answer],
    ],
  )
  const { name } = await tenant
    .answer('GET /manage/flows', { credential: token })
    .then(({ body }) => body.flows.find(({ key }: { key: string }) => key === 'nps'))
  expect(named).toContainEqual(['question_answered', name, 'How likely?', '9 of 10'])
  expect(named).toContainEqual(['step_viewed', expect.any(String), expect.any(String), null])
})
