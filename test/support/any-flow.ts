import fc from 'fast-check'
import type { FlowFingerprint } from '../../src/core/flow/fingerprint.ts'
import type { FlowDefinition, ItemDefinition, StepDefinition } from '../../src/core/flow/flow.ts'
import { flowProblems } from '../../src/core/flow/lint.ts'
import { anyTheme } from './any-theme.ts'

const text = (minLength: number, maxLength: number) =>
  fc
    .string({
      unit: fc.oneof(
        fc.constantFrom(...'\n\t: #-"\'|>{}[]&*!%@`~\\'),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      ),
      maxLength,
    })
    .map(value => value.toWellFormed().replaceAll('\0', '').slice(0, maxLength).toWellFormed())
    .filter(value => value.length >= minLength)

const nullable = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null })

const number = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  // Whole numbers beyond 2^53 are refused.
  .filter(value => !Number.isInteger(value) || Number.isSafeInteger(value))
  // JSON and YAML both write -0 as a number that is read as 0 or as -0, and nothing depends on which.
  .map(value => value + 0)

const scalar = fc.oneof(text(0, 20), number, fc.boolean())

const key = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,11}$/)

/** A list without duplicate keys, as a flow file accepts it. */
export const byKey = <T extends { key: string }>(of: fc.Arbitrary<T>) =>
  fc.uniqueArray(of, { selector: entry => entry.key, maxLength: 4 })

const link = fc
  .tuple(fc.constantFrom('https://', 'mailto:', '/', '?', '#'), fc.webPath())
  .map(parts => parts.join(''))

const eventName = text(1, 20).map(name => `${name}!`)

const word = fc.constantFrom('button', 'Save: "it"', "\n'", '#', 'ü 1')

/** What an element was like: always enough to recognise it by, the rest at random. */
const fingerprint: fc.Arbitrary<FlowFingerprint> = fc
  .record(
    {
      name: word,
      testId: fc.record({ attr: word, value: word }),
      classes: fc.array(word, { maxLength: 3 }),
      attributes: fc.record({ type: word, title: word }, { requiredKeys: [] }),
      ancestors: fc.array(fc.record({ tag: word, nth: fc.nat() }, { requiredKeys: [] }), {
        maxLength: 3,
      }),
    },
    { requiredKeys: [] },
  )
  .map(more => ({
    tag: 'button',
    id: 'by-hand',
    role: 'button',
    textHash: '0123456789abcdef'.repeat(4),
    ...more,
  }))

const target = fc.record(
  {
    selector: text(1, 30).map(title => `[title=${JSON.stringify(title)}]`),
    text: nullable(text(1, 30)),
    nth: nullable(fc.nat()),
    waitMs: fc.nat(60_000),
    required: fc.boolean(),
    onMissing: fc.constantFrom('skip', 'wait', 'stop'),
    alternates: fc.array(fc.constantFrom('#a', '[b="c: d"]', '.e > .f'), {
      minLength: 1,
      maxLength: 5,
    }),
    fingerprint,
  },
  { requiredKeys: ['selector', 'text', 'nth', 'waitMs', 'required', 'onMissing'] },
)

const urlRule = (pattern: fc.Arbitrary<string>) =>
  fc.oneof(
    fc.record({ match: fc.constantFrom('exact', 'prefix', 'glob'), pattern }),
    fc.record({
      match: fc.constant('regex'),
      pattern: fc.constantFrom('/a+', '/\\d{2}#.*', '(/x|/y)?'),
    }),
  )
const pattern = fc.constantFrom('/', '/projects', 'https://app.example/x?y#z')

const stepFields = {
  key,
  // With a target any kind is right, without one all but the tooltip, so most drawn steps are right.
  kind: fc.constantFrom('modal', 'banner', 'tooltip', 'slideout'),
  title: text(0, 30),
  body: text(0, 200),
  target: fc.option(target, { nil: null, freq: 8 }),
  placement: fc.record({
    side: fc.constantFrom('top', 'right', 'bottom', 'left'),
    align: fc.constantFrom('start', 'center', 'end'),
  }),
  advance: fc.oneof(
    fc.record({ on: fc.constantFrom('button', 'click'), event: fc.constant(null) }),
    fc.record({ on: fc.constant('event'), event: eventName }),
  ),
  buttons: fc.array(
    fc.oneof(
      fc.record({
        label: text(1, 20),
        action: fc.constantFrom('next', 'back', 'complete', 'dismiss'),
        href: fc.constant(null),
      }),
      fc.record({ label: text(1, 20), action: fc.constant('link'), href: link }),
      fc.record({
        label: text(1, 20),
        action: fc.constant('start'),
        href: fc.constant(null),
        flow: fc.constant('not-drawn'),
      }),
    ),
    { maxLength: 3 },
  ),
}
const file = fc.constantFrom('/a.png', 'https://a.example/b?c=d', 'e.vtt')
const lookFields = {
  media: fc.oneof(
    fc.record(
      { image: file, alt: text(0, 20), width: fc.integer({ min: 1, max: 10_000 }) },
      { requiredKeys: ['image'] },
    ),
    fc.record({ video: file, poster: file, captions: file }, { requiredKeys: ['video'] }),
  ),
  spotlight: fc.constantFrom('off', 'dim', 'block'),
  banner: fc.record({
    edge: fc.constantFrom('top', 'bottom'),
    layout: fc.constantFrom('float', 'push'),
  }),
  opens: fc.constantFrom('click', 'hover'),
} as const

const stepRule = fc.oneof(
  fc.record({ attribute: text(1, 20), op: fc.constantFrom('eq', 'neq'), value: scalar }),
  fc.record({ event: eventName, value: fc.constantFrom(false, null) }),
)

const step: fc.Arbitrary<StepDefinition> = fc.record(
  {
    ...stepFields,
    ...lookFields,
    page: urlRule(pattern),
    navigate: fc.constantFrom('/', '/projects?a=b#c', 'https://app.example/x: y'),
    when: fc.record({
      match: fc.constantFrom('all', 'any'),
      rules: fc.array(stepRule, { minLength: 1, maxLength: 2 }),
    }),
  },
  { requiredKeys: Object.keys(stepFields) as (keyof typeof stepFields)[] },
)

/** Steps in which some buttons lead to other steps. */
const steps = fc.tuple(byKey(step), fc.array(fc.nat(7), { maxLength: 4 })).map(([all, aims]) =>
  all.map((one, at) => {
    const goto = all[aims[at] ?? all.length]?.key
    if (goto === undefined) return one
    const led = one.buttons.map(button => (button.action === 'next' ? { ...button, goto } : button))
    return { ...one, buttons: led }
  }),
)

const item: fc.Arbitrary<ItemDefinition> = fc.record({
  key,
  title: text(1, 30),
  description: nullable(text(0, 50)),
  completeOn: nullable(fc.record({ event: eventName })),
  href: nullable(link),
})

const audienceRule = fc.oneof(
  fc.record({
    attribute: text(1, 20),
    op: fc.constantFrom('eq', 'neq', 'contains'),
    value: scalar,
  }),
  fc.record({
    attribute: text(1, 20),
    op: fc.constantFrom('in', 'nin'),
    value: fc.array(scalar, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ attribute: text(1, 20), op: fc.constant('gte'), value: number }),
  fc.record({
    attribute: text(1, 20),
    op: fc.constant('exists'),
    value: fc.constantFrom(true, false, null),
  }),
)

const untitledFlow: fc.Arbitrary<FlowDefinition> = fc.record({
  key,
  name: text(1, 30),
  kind: fc.constantFrom('tour', 'checklist', 'announcement'),
  priority: fc.integer({ min: -1_000_000, max: 1_000_000 }),
  frequency: fc.constantFrom('once', 'until_completed', 'always'),
  targeting: fc.record({
    urls: fc.array(urlRule(fc.oneof(pattern, text(1, 20))), { maxLength: 2 }),
    audience: fc.record({
      match: fc.constantFrom('all', 'any'),
      rules: fc.array(audienceRule, { maxLength: 3 }),
    }),
  }),
  theme: nullable(anyTheme),
  steps,
  checklist: nullable(fc.record({ order: fc.constantFrom('any', 'sequence'), items: byKey(item) })),
})

const when = fc.record({
  trigger: fc.oneof(
    fc.record({ on: fc.constant('click'), element: fc.constantFrom('#a', '[b="c: d"]') }),
    fc.record({ on: fc.constant('event'), event: eventName }),
  ),
})

/** A definition of the right shape, which often makes sense too. */
export const anyFlow: fc.Arbitrary<FlowDefinition> = fc
  .tuple(untitledFlow, nullable(text(1, 30)), nullable(when))
  .map(([flow, title, when]) => ({
    ...flow,
    ...(title !== null && { title }),
    ...(when && { when }),
  }))

/** Whether validate finds no error in it. */
export const isRight = (flow: FlowDefinition) =>
  flowProblems(flow).every(({ severity }) => severity === 'warning')

/** A definition that validate accepts. */
export const rightFlow = anyFlow.filter(isRight)
