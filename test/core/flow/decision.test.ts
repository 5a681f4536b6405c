import { describe, expect, test } from 'bun:test'
import {
  type Candidate,
  type FlowHistory,
  firstDue,
  noHistory,
} from '../../../src/core/flow/decision.ts'
import { decide } from '../../../src/core/flow/explanation.ts'
import type { AudienceRule, FlowDefinition, Step, Target } from '../../../src/core/flow/flow.ts'
import { judgeOf, newcomer } from '../../../src/core/flow/moment.ts'

const target = (more: Partial<Target> = {}) =>
  ({ selector: '#search', waitMs: 3_000, onMissing: 'skip', ...more }) as Target

interface Shape {
  key?: string
  priority?: number
  frequency?: 'once' | 'until_completed' | 'always'
  status?: Candidate['status']
  urls?: string[]
  rules?: AudienceRule[]
  kind?: FlowDefinition['kind']
  target?: Target
  /** The paths that its steps are for, in order. */
  pages?: (string | null)[]
  history?: Partial<FlowHistory>
}

const candidate = (shape: Shape = {}): Candidate => ({
  flow: {
    key: shape.key ?? 'welcome',
    kind: shape.kind ?? 'tour',
    priority: shape.priority ?? 0,
    frequency: shape.frequency ?? 'once',
    targeting: {
      urls: (shape.urls ?? []).map(pattern => ({ match: 'exact', pattern })),
      audience: { match: 'all', rules: shape.rules ?? [] },
    },
    checklist: shape.kind === 'checklist' ? { items: [{}] } : null,
    steps: (shape.pages ?? [null]).map(
      path =>
        ({
          target: shape.target ?? null,
          ...(path !== null && { page: { match: 'exact', pattern: path } }),
        }) as Step,
    ),
  },
  status: shape.status ?? 'published',
  history: { ...noHistory, ...shape.history },
})

const visit = {
  ...newcomer(Date.UTC(2026, 10, 20)),
  url: new URL('https://app.example.com/projects'),
  traits: { plan: 'free' },
}
const isPro: AudienceRule = { attribute: 'plan', op: 'eq', value: 'pro' }

const failedRules = (shape: Shape, others: Shape[] = []): string[] =>
  decide(candidate(shape), visit, others.map(candidate))
    .rules.filter(({ holds }) => holds === false)
    .map(({ rule }) => rule)

describe('a flow is shown', () => {
  test.each([
    ['where nothing speaks against it', {}, []],
    ['on a page that a pattern matches', { urls: ['/other', '/projects'] }, []],
    ['not on another', { urls: ['/other'] }, ['url']],
    ['on the page of its first step', { pages: ['/projects', '/other'] }, []],
    ['not where its first step is for another', { pages: ['/other', '/projects'] }, ['url']],
    [
      'on the page of a later step, once it was begun',
      { urls: ['/other'], pages: ['/other', '/projects'], history: { runs: 1, inProgress: true } },
      [],
    ],
    [
      'not there before it was begun',
      { urls: ['/other'], pages: ['/other', '/projects'] },
      ['url'],
    ],
    [
      'wherever its first step is for, once it was begun',
      { pages: ['/other'], history: { runs: 1, inProgress: true } },
      [],
    ],
    ['not as a draft', { status: 'draft' }, ['published']],
    ['not from the archive', { status: 'archived' }, ['published']],
    ['not to who is not of its audience', { rules: [isPro] }, ['audience']],
    ['whatever its target, which only the browser knows', { target: target() }, []],
    [
      'not for any of several reasons',
      { status: 'draft', urls: ['/'], rules: [isPro] },
      ['published', 'url', 'audience'],
    ],
  ] as [string, Shape, string[]][])('%s', (_, shape, failed) => {
    expect(failedRules(shape)).toEqual(failed)
    expect(decide(candidate(shape), visit, []).shown).toBe(failed.length === 0)
  })
})

describe('how often', () => {
  const [at, later] = [Date.UTC(2026, 10, 3), Date.UTC(2026, 10, 5)]
  const histories: Record<string, Partial<FlowHistory>> = {
    never: {},
    open: { runs: 1, startedAt: at, inProgress: true },
    completed: { runs: 1, startedAt: at, completedAt: at },
    dismissed: { runs: 1, startedAt: at, dismissedAt: at },
    'dismissed, then open': { runs: 2, startedAt: later, dismissedAt: at, inProgress: true },
    'dismissed, then completed': { runs: 2, startedAt: later, dismissedAt: at, completedAt: later },
    'completed, then open': { runs: 2, startedAt: later, completedAt: at, inProgress: true },
  }

  test.each([
    ['once', 'never', true, 'once, and this person has not started it'],
    ['once', 'open', true, 'once, and the run of 3 Nov 2026 is unfinished'],
    ['once', 'completed', false, 'once, and it was completed on 3 Nov 2026'],
    ['once', 'dismissed', false, 'once, and it was dismissed on 3 Nov 2026'],
    ['once', 'dismissed, then open', false, 'once, and it was dismissed on 3 Nov 2026'],
    ['once', 'completed, then open', false, 'once, and it was completed on 3 Nov 2026'],
    ['until_completed', 'never', true, 'until completed, and this person has not started it'],
    ['until_completed', 'open', true, 'until completed, and the run of 3 Nov 2026 is unfinished'],
    ['until_completed', 'completed', false, 'until completed, and it was completed on 3 Nov 2026'],
    ['until_completed', 'dismissed', true, 'until completed, and it was dismissed on 3 Nov 2026'],
    [
      'until_completed',
      'dismissed, then open',
      true,
      'until completed, and the run of 5 Nov 2026 is unfinished',
    ],
    [
      'until_completed',
      'dismissed, then completed',
      false,
      'until completed, and it was completed on 5 Nov 2026',
    ],
    ['always', 'never', true, 'always, and this person has not started it'],
    ['always', 'completed', true, 'always, and it was completed on 3 Nov 2026'],
    ['always', 'dismissed', true, 'always, and it was dismissed on 3 Nov 2026'],
    ['always', 'completed, then open', true, 'always, and the run of 5 Nov 2026 is unfinished'],
  ] as const)('%s, %s: %p', (frequency, history, holds, why) => {
    const { rules } = decide(candidate({ frequency, history: histories[history]! }), visit, [])
    expect(rules.find(({ rule }) => rule === 'frequency')).toMatchObject({ holds, why })
  })
})

describe('of several flows', () => {
  test.each([
    ['the highest priority', { priority: 1 }, [{ key: 'a' }, { key: 'b' }], 'welcome'],
    ['the first key of equal priorities', {}, [{ key: 'b' }, { key: 'z' }], 'b'],
    ['the first key, as code units', { key: 'b' }, [{ key: 'B' }], 'B'],
    ['none that is not published', {}, [{ key: 'b', priority: 9, status: 'draft' }], 'welcome'],
    ['none that is for another page', {}, [{ key: 'b', priority: 9, urls: ['/'] }], 'welcome'],
    ['none for another audience', {}, [{ key: 'b', priority: 9, rules: [isPro] }], 'welcome'],
    [
      'none that was seen once',
      {},
      [{ key: 'b', priority: 9, history: { runs: 1, completedAt: 1 } }],
      'welcome',
    ],
    ['another one, if this is not due', { priority: 9, rules: [isPro] }, [{ key: 'b' }], 'b'],
    ['or none', { rules: [isPro] }, [{ key: 'b', rules: [isPro] }], null],
  ] as [string, Shape, Shape[], string | null][])('%s is shown', (_, shape, others, winner) => {
    const decision = decide(candidate(shape), visit, others.map(candidate))
    expect(decision.winner).toBe(winner)
    expect(decision.shown).toBe(winner === (shape.key ?? 'welcome'))
  })

  test.each([
    [{ priority: 5 }, [], 'priority 5, and no other flow is due here'],
    [{ priority: 5 }, [{ key: 'b', priority: 1 }], 'priority 5, before b with 1'],
    [{}, [{ key: 'b', priority: 1 }], 'priority 0, and b comes first with 1'],
    [{}, [{ key: 'b' }], 'priority 0, and b comes first with the same (by key)'],
  ] as [Shape, Shape[], string][])('and the reason is given: %j %j', (shape, others, why) => {
    const { rules } = decide(candidate(shape), visit, others.map(candidate))
    expect(rules.find(({ rule }) => rule === 'priority')?.why).toBe(why)
  })
})

test('the parts of a condition say which of them held', () => {
  const { rules } = decide(
    candidate({ urls: ['/other', '/projects', 'app'], rules: [isPro] }),
    visit,
    [],
  )
  expect(rules.find(({ rule }) => rule === 'url')).toMatchObject({
    why: 'a pattern matches the address',
    parts: [
      { holds: false, why: 'exact /other' },
      { holds: true, why: 'exact /projects' },
      { holds: false, why: expect.stringContaining('exact app (The pattern is neither') },
    ],
  })
  expect(rules.find(({ rule }) => rule === 'audience')).toMatchObject({
    why: '0 of 1 rules hold, all must',
    parts: [{ holds: false, why: 'plan is "free", not "pro"' }],
  })
})

test.each([
  [target(), /#search; after 3 s without it, its step is skipped/],
  [target({ onMissing: 'wait' }), /without it, the step waits/],
  [target({ alternates: ['#find'] }), /has #search or finds it otherwise/],
  [target({ onMissing: 'stop', waitMs: 0 }), /after 0 s without it, the flow ends/],
])('the target of the first step is left to the browser: %#', (first, why) => {
  const { rules, shown } = decide(candidate({ target: first }), visit, [])
  expect(rules.at(-1)).toMatchObject({
    rule: 'target',
    holds: null,
    why: expect.stringMatching(why),
  })
  expect(shown).toBe(true)
})

test('the flow that a page finds due is the one that the explanation says is shown', () => {
  const past: Partial<FlowHistory>[] = [
    {},
    { runs: 1, startedAt: 1, inProgress: true },
    { runs: 1, startedAt: 1, dismissedAt: 2 },
    { runs: 2, startedAt: 1, completedAt: 2, dismissedAt: 3 },
  ]
  for (const status of ['draft', 'published', 'archived'] as const)
    for (const frequency of ['once', 'until_completed', 'always'] as const)
      for (const urls of [[], ['/projects'], ['/other', '/projects'], ['/other'], ['no pattern']])
        for (const rules of [[], [isPro], [{ ...isPro, op: 'neq' } as AudienceRule]])
          for (const history of past) {
            const one = candidate({ status, frequency, urls, rules, history })
            expect(firstDue([one], visit, judgeOf(visit)) === one).toBe(
              decide(one, visit, []).shown,
            )
          }
})
