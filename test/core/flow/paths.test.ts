import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isOnWay, type Known } from '../../../src/core/flow/audience-match.ts'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import type { StepDefinition } from '../../../src/core/flow/flow.ts'
import { exitsOf, hasBranches, reachIn, stepsAhead } from '../../../src/core/flow/paths.ts'

/** A flow's steps, read from their YAML, and the problems found in them. */
function read(steps: string) {
  const { flows, problems } = readFlowFile(`key: a\nsteps:\n${steps}`)
  return {
    steps: flows[0]?.steps ?? [],
    problems: problems.map(({ severity, code, path }) => `${severity} ${code} ${path}`),
    messages: problems.map(({ message }) => message),
  }
}

const stepsOf = (steps: string) => {
  const { steps: right, messages } = read(steps)
  if (right.length === 0) throw new Error(messages.join('\n'))
  return right
}

const step = (key: string, more = '') => `  - { key: ${key}, title: ${key}${more} }\n`
const to = (...keys: string[]) =>
  `, buttons: [${keys.map(key => `{ label: ${key}, action: next, goto: ${key} }`).join(', ')}]`
const when = (rule: string) => `, when: { rules: [{ ${rule} }] }`

describe('problems with ways', () => {
  test.each<[name: string, steps: string, problems: string[]]>([
    ['nothing of a fork', step('a', to('b', 'c')) + step('b', to('c')) + step('c'), []],
    [
      'a key that there is not',
      step('a', to('welcom')) + step('welcome'),
      ['error unknown_step /steps/0/buttons/0/goto'],
    ],
    [
      'a goto without its action',
      step(
        'a',
        ', buttons: [{ label: x, action: complete, goto: b }, { label: y, action: next }]',
      ) + step('b'),
      ['warning unused_goto /steps/0/buttons/0/goto'],
    ],
    [
      'a step that no way leads to',
      step('a', to('c')) + step('b') + step('c'),
      ['warning unreachable_step /steps/1'],
    ],
    [
      'nothing where a rule may lead to it',
      step('a', to('c') + when('attribute: plan, op: eq, value: pro')) + step('b') + step('c'),
      [],
    ],
    [
      'an answer of a step that asks nothing',
      step('a') + step('b', when('answer: a, op: gte, value: 1')),
      ['warning never_answered /steps/1/when/rules/0/answer'],
    ],
    [
      'a rule on nothing',
      step('a', when('op: eq, value: 1')),
      ['error invalid_rule /steps/0/when/rules/0'],
    ],
    [
      'a rule that does not say how it compares',
      step('a', when('attribute: plan, value: pro')),
      ['error invalid_rule /steps/0/when/rules/0/op'],
    ],
    [
      'an event that cannot come',
      step('a', when('event: flow_started')),
      ['error never_sent /steps/0/when/rules/0/event'],
    ],
    ['no rules', step('a', ', when: { rules: [] }'), ['error invalid_value /steps/0/when/rules']],
  ])('%s', (_, steps, problems) => {
    expect(read(steps).problems).toEqual(problems)
  })

  test('suggest the key that was meant by a misspelt one', () => {
    expect(read(step('a', to('welcom')) + step('welcome')).messages).toEqual([
      'Unknown step "welcom": did you mean "welcome"?',
    ])
  })

  test.each<[navigate: string, problems: string[]]>([
    ['/settings/people?tab=1#all', []],
    ['https://app.example.com/x', []],
    ['settings', ['error invalid_value /steps/0/navigate']],
    ['//other.example/x', ['error invalid_value /steps/0/navigate']],
    ['/\\\\other.example/x', ['error invalid_value /steps/0/navigate']],
    ['mailto:a@b.c', ['error invalid_value /steps/0/navigate']],
    ['javascript:alert(1)', ['error invalid_value /steps/0/navigate']],
    ['https:///x', ['error invalid_value /steps/0/navigate']],
  ])('the address %s', (navigate, problems) => {
    expect(read(step('a', `, navigate: "${navigate}"`)).problems).toEqual(problems)
  })
})

describe('a step with rules', () => {
  const known = (more: Partial<Known> = {}): Known => ({
    traits: { plan: 'pro', age: 3 },
    answers: { score: 9, why: ['price', 'looks'], 'a.b': 'text' },
    hasTracked: name => name === 'done',
    ...more,
  })
  test.each<[rules: string, holds: boolean]>([
    ['{ attribute: plan, op: eq, value: pro }', true],
    ['{ attribute: score, op: exists }', false],
    ['{ answer: score, op: gte, value: 9 }', true],
    ['{ answer: plan, op: exists }', false],
    ['{ answer: why, op: contains, value: price }', true],
    ['{ answer: a.b, op: eq, value: text }', true],
    ['{ answer: none, op: neq, value: 1 }', true],
    ['{ event: done }', true],
    ['{ event: other }', false],
    ['{ event: other, op: exists, value: false }', true],
    ['{ event: done, value: false }', false],
    ['{ event: done }, { attribute: age, op: gt, value: 3 }', false],
  ])('%s: %p', (rules, holds) => {
    const others = ['score', 'plan', 'why', 'a.b', 'none'].map(key => step(key)).join('')
    const [on] = stepsOf(step('on', `, when: { rules: [${rules}] }`) + others)
    expect(isOnWay(on!, known())).toBe(holds)
  })

  test('is on the way if any of them holds, where it says so', () => {
    const [on] = stepsOf(
      step('on', ', when: { match: any, rules: [{ event: no }, { event: done }] }'),
    )
    expect(isOnWay(on!, known())).toBe(true)
    expect(isOnWay(on!, known({ hasTracked: () => false }))).toBe(false)
  })

  test('is on the way where there are none', () => {
    expect(isOnWay({}, known())).toBe(true)
  })
})

describe('ways', () => {
  const always = () => true
  const never = () => false

  test('a flow without branches has each step in order', () => {
    const steps = stepsOf(step('a') + step('b') + step('c'))
    expect(hasBranches(steps)).toBe(false)
    expect(steps.map((_, at) => exitsOf(steps, at))).toEqual([[1], [2], [3]])
    expect(steps.map((_, at) => stepsAhead(steps, at, always, never))).toEqual([2, 1, 0])
  })

  test('steps ahead are counted along the only way on, except those that rules leave out', () => {
    const steps = stepsOf(
      step('a', to('c')) + step('b') + step('c', when('event: x')) + step('d') + step('e', to('a')),
    )
    expect(hasBranches(steps)).toBe(true)
    const isOn = ({ when }: StepDefinition) => when === undefined
    expect(stepsAhead(steps, 0, isOn, never)).toBe(2)
    expect(stepsAhead(steps, 0, always, never)).toBe(3)
    // It leads back to where it began.
    expect(stepsAhead(steps, 4, always, ({ key }) => key === 'a')).toBe(0)
  })

  test('counting the steps ahead ends, and counts each once, wherever the steps lead', () => {
    const some = fc.array(fc.array(fc.nat({ max: 9 }), { maxLength: 3 }), { maxLength: 10 })
    fc.assert(
      fc.property(some, aims => {
        const steps = aims.map((ofStep, at) => ({
          key: `${at}`,
          advance: { on: 'button' as const, event: null },
          buttons: ofStep.map(goto => ({
            label: 'x',
            action: 'next' as const,
            href: null,
            goto: `${goto}`,
          })),
          target: null,
        }))
        const reach = reachIn(steps)
        for (const [at] of steps.entries()) {
          const ahead = stepsAhead(steps, at, always, never)
          expect(ahead).toBeLessThanOrEqual(Math.max(0, steps.length - 1))
          for (const exit of exitsOf(steps, at)) {
            expect(exit <= steps.length).toBe(true)
            for (const place of reach(exit)) expect(reach(at).has(place)).toBe(true)
          }
        }
      }),
    )
  })
})
