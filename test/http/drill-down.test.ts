import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Analytics, Summary } from '../../src/modules/analytics/schema.ts'
import type { AnswerList, RunList } from '../../src/modules/runs/schema.ts'
import { tour } from '../support/flows.ts'
import { type PublishedFlow, Tenant } from '../support/tenant.ts'
import { World } from '../support/world.ts'

/** Every number of analytics opens the runs behind it: as many as the number says. */

const world = new World()
afterAll(() => world.close())

const day = 86_400_000
const steps = [
  { key: 'hello', title: 'Hello' },
  { key: 'score', title: 'Recommend us?', question: { type: 'rating', scale: 'nps' } },
  { key: 'why', title: 'Why?', question: { type: 'text' } },
]

let tenant: Tenant
let flow: PublishedFlow
let credential: string
let data: Analytics

/** Sixty runs over four weeks. Free plans leave at the score, whose element was missing for most of them. */
async function sendRuns(): Promise<void> {
  const now = world.clock.now()
  for (let i = 0; i < 60; i++) {
    const isFree = i % 3 === 0
    const start = now - (i % 28) * day - 3_600_000
    const at = (kind: string, seconds: number, step?: number, properties?: object) => ({
      ...{ kind, flowId: flow.id, runId: `run-${i}`, userId: `user-${i}` },
      occurredAt: start + seconds * 1_000,
      ...(step !== undefined && { stepId: flow.steps[step]!.id }),
      ...(properties && { properties }),
    })
    const answer = (step: number, value: unknown) =>
      at('question_answered', 5 + step, step, { answer: value })
    await tenant.send([
      {
        ...at('flow_started', 0),
        traits: { plan: isFree ? 'free' : 'pro', ...(i % 5 === 0 && { role: 'admin' }) },
      },
      at('step_viewed', 1, 0),
      at(i % 4 === 0 ? 'step_skipped' : 'step_completed', 3, 0),
      at('step_viewed', 4, 1),
      ...(isFree && i % 9 !== 0 ? [at('target_missing', 4, 1)] : []),
      ...(isFree
        ? i % 2 === 0
          ? [at('flow_dismissed', 9)]
          : []
        : [
            answer(1, i % 11),
            at('step_viewed', 6, 2),
            answer(2, `Reason ${i}`),
            at('flow_completed', 20 + i),
          ]),
    ])
  }
}

beforeAll(async () => {
  tenant = await Tenant.of(world)
  tenant.limit({ manage: 100_000, analytics: 100_000, events: 100_000 })
  tenant.listTraits('plan', 'role')
  flow = tenant.publish(tour({ key: 'welcome', steps } as never))
  world.clock.advance(30 * day)
  credential = await tenant.managementToken('analytics:read', 'people:read')
  await sendRuns()
  const query = '?distribution=1&answers=1&left=score&segment=plan'
  data = (await tenant.answer(`GET /flows/${flow.id}/analytics${query}`)).body as never
})

const page = async (query: string) => {
  const asked = `GET /manage/flows/welcome/runs?limit=200&timezone=UTC${query}`
  const { status, body } = await tenant.answer(asked, { credential })
  expect(status).toBe(200)
  return body as unknown as RunList
}
const count = async (query: string) => (await page(query)).runs.length

describe('as many runs are listed as the number says', () => {
  test('by outcome, of which stalled and active runs make up those in progress', async () => {
    const { starts, completions, dismissals, inProgress, stalled } = data.totals
    expect([starts, stalled! > 0, stalled! < inProgress]).toEqual([60, true, true])
    expect(await count('')).toBe(starts)
    expect(await count('&outcome=completed')).toBe(completions)
    expect(await count('&outcome=dismissed')).toBe(dismissals)
    expect(await count('&outcome=in_progress')).toBe(inProgress)
    expect(await count('&outcome=stalled')).toBe(stalled!)
    expect(await count('&outcome=active')).toBe(inProgress - stalled!)
    const listed = (await page('&outcome=in_progress')).runs
    expect(listed.filter(run => run.stalled)).toHaveLength(stalled!)
  })

  test('by what they did at each step, and where they left', async () => {
    for (const step of data.steps) {
      expect(await count(`&step=${step.key}`)).toBe(step.reached)
      expect(await count(`&step=${step.key}:completed`)).toBe(step.completed)
      expect(await count(`&step=${step.key}:skipped`)).toBe(step.skipped)
      expect(await count(`&step=${step.key}:target_missing`)).toBe(step.targetMissing)
      const here = `&furthest=${step.key}`
      expect(await count(`${here}&outcome=left`)).toBe(step.droppedHere - step.activeHere!)
      expect(await count(`${here}&outcome=active`)).toBe(step.activeHere!)
    }
    expect(data.steps[1]!.droppedHere).toBe(20)
  })

  test('by trait, version, day, answer and duration', async () => {
    for (const { value, starts, completions } of data.segments!) {
      expect(await count(`&segment=plan:${value}`)).toBe(starts)
      expect(await count(`&segment=plan:${value}&outcome=completed`)).toBe(completions)
    }
    expect(await count('&segment=plan:free&segment=role:admin')).toBe(4)
    expect(await count('&version=1')).toBe(data.versions[0]!.starts)
    const { date, starts } = data.daily.at(-3)!
    expect(await count(`&from=${date}&to=${date}`)).toBe(starts)
    const { nps, distribution } = data.steps[1]!.question!
    expect(await count('&answer=score:0-6')).toBe(nps!.detractors)
    expect(await count('&answer=score:9-10')).toBe(nps!.promoters)
    for (const { value, count: answers } of distribution) {
      expect(await count(`&answer=score:${value}`)).toBe(answers)
    }
    for (const { fromSeconds, toSeconds, count: runs } of data.timeToComplete.distribution!) {
      expect(await count(`&seconds=${fromSeconds}-${toSeconds ?? ''}`)).toBe(runs)
    }
  })
})

test.each([
  ['furthest=none', '/furthest'],
  ['step=none:viewed', '/step'],
  ['step=hello:seen', '/step'],
  ['answer=none:1', '/answer'],
  ['segment=colour:red', '/segment'],
  ['segment=plan', '/segment'],
  ['seconds=a', '/seconds'],
])('a filter that means nothing is rejected where it stands: %s', async (query, path) => {
  const { status, body } = await tenant.answer(`GET /manage/flows/welcome/runs?${query}`, {
    credential,
  })
  expect([status, body.details?.[0]?.path]).toEqual([422, path])
})

test('who answered what is only for those who may see people', async () => {
  const analyst = await tenant.managementToken('analytics:read')
  const asked = 'GET /manage/flows/welcome/runs?answer=score:0-6'
  const { status, body } = await tenant.answer(asked, { credential: analyst })
  expect([status, body.scope]).toEqual([403, 'people:read'])
})

test('what leavers have in common stands first, with its counts and whether it may be chance', () => {
  const { left, wentOn, common } = data.leavers!
  expect([left, wentOn]).toEqual([data.steps[1]!.droppedHere - data.steps[1]!.activeHere!, 40])
  const [first, second] = common
  expect(first).toMatchObject({ kind: 'trait', trait: 'plan', value: 'free', left, wentOn: 0 })
  expect(first!.difference.low).toBeGreaterThan(0)
  expect(second).toMatchObject({ kind: 'element_missing', wentOn: 0 })
  // A fifth of both sides are admins, give or take one: that says nothing.
  const role = common.find(({ trait }) => trait === 'role')
  if (role) expect(role.difference.low).toBeLessThan(0)
  expect(common.some(({ kind }) => kind === 'version')).toBe(false)
})

test('the trend of a rating and its answers by trait add up to all answers', () => {
  const { answers, trend, segments, nps } = data.steps[1]!.question!
  const sum = (numbers: readonly { answers: number }[]) =>
    numbers.reduce((total, one) => total + one.answers, 0)
  expect([answers, sum(trend!), sum(segments!)]).toEqual([40, 40, 40])
  expect(trend!.length).toBeGreaterThan(3)
  expect(trend!.reduce((total, one) => total + one.nps!.detractors, 0)).toBe(nps!.detractors)
  expect(segments).toEqual([
    { kind: 'value', value: 'pro', answers, average: data.steps[1]!.question!.average, nps },
  ])
})

describe('answers', () => {
  const list = async (query: string) => {
    const asked = `GET /manage/flows/welcome/answers?timezone=UTC${query}`
    const { status, body } = await tenant.answer(asked, { credential })
    expect(status).toBe(200)
    return body as unknown as AnswerList
  }

  test('of detractors come with what they wrote, and their traits', async () => {
    const { answers } = await list('&step=score&value=0-6&limit=200')
    expect(answers).toHaveLength(data.steps[1]!.question!.nps!.detractors)
    for (const { userId, answer, text, written, traits } of answers) {
      const number = Number(userId!.slice(5))
      expect([answer, text, traits.plan]).toEqual([number % 11, null, 'pro'])
      expect(written).toMatchObject([{ key: 'why', title: 'Why?', text: `Reason ${number}` }])
    }
  })

  test('are found by a text in them, whatever its case, page by page', async () => {
    const { answers } = await list('&step=why&contains=REASON%204')
    const found = answers.map(({ text }) => text)
    expect(found).toContain('Reason 4')
    expect(found.every(text => text!.startsWith('Reason 4'))).toBe(true)
    const two = await list('&step=why&contains=reason%204&limit=2')
    const rest = await list(`&step=why&contains=reason%204&after=${two.next}`)
    expect([...two.answers, ...rest.answers].map(({ text }) => text)).toEqual(found)
    expect((await list('&step=why&contains=price')).answers).toEqual([])
  })
})

test('the summary says which step loses the most, and which flows nobody meets any more', async () => {
  tenant.publish(tour({ key: 'quiet' }))
  const summary = async () =>
    (await tenant.answer('GET /manage/summary', { credential })).body as unknown as Summary
  const of = async (key: string) => (await summary()).flows.find(({ flowKey }) => flowKey === key)!
  const { key, left } = (await of('welcome')).worstSteps![0]!
  expect([key, left]).toEqual(['score', data.leavers!.left])
  expect([(await of('welcome')).stalled, (await of('quiet')).stalled]).toEqual([false, false])
  world.clock.advance(8 * day)
  const later = await tenant.managementToken('analytics:read')
  credential = later
  expect([(await of('welcome')).stalled, (await of('quiet')).stalled]).toEqual([true, true])
  expect((await of('quiet')).worstSteps).toEqual([])
})
