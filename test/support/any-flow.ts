import fc from 'fast-check'
import type { FlowDefinition, ItemDefinition, StepDefinition } from '../../src/core/flow.ts'

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
  // JSON and YAML both write -0 as a number that is read as 0 or as -0, and nothing here minds.
  .map(value => value + 0)

const scalar = fc.oneof(text(0, 20), number, fc.boolean())

const key = fc.stringMatching(/^[A-Za-z0-9._-]{1,12}$/)

/** A list without two of the same key, as a file takes it. */
export const byKey = <T extends { key: string }>(of: fc.Arbitrary<T>) =>
  fc.uniqueArray(of, { selector: entry => entry.key, maxLength: 4 })

const link = fc
  .tuple(fc.constantFrom('https://', 'mailto:', '/', '?', '#'), fc.webPath())
  .map(parts => parts.join(''))

const step: fc.Arbitrary<StepDefinition> = fc.record({
  key,
  kind: fc.constantFrom('tooltip', 'modal', 'banner', 'hotspot'),
  title: text(0, 30),
  body: text(0, 200),
  target: nullable(
    fc.record({
      selector: text(1, 30),
      text: nullable(text(1, 30)),
      nth: nullable(fc.nat()),
      waitMs: fc.nat(60_000),
      required: fc.boolean(),
      onMissing: fc.constantFrom('skip', 'wait', 'stop'),
    }),
  ),
  placement: fc.record({
    side: fc.constantFrom('top', 'right', 'bottom', 'left'),
    align: fc.constantFrom('start', 'center', 'end'),
  }),
  advance: fc.record({
    on: fc.constantFrom('button', 'click', 'event'),
    event: nullable(text(1, 20)),
  }),
  buttons: fc.array(
    fc.record({
      label: text(1, 20),
      action: fc.constantFrom('next', 'back', 'complete', 'dismiss', 'link'),
      href: nullable(link),
    }),
    { maxLength: 3 },
  ),
})

const item: fc.Arbitrary<ItemDefinition> = fc.record({
  key,
  title: text(1, 30),
  description: nullable(text(0, 50)),
  completeOn: nullable(fc.record({ event: text(1, 20) })),
  href: nullable(link),
})

/** Any definition at all, sensible or not. */
export const anyFlow: fc.Arbitrary<FlowDefinition> = fc.record({
  key,
  name: text(1, 30),
  kind: fc.constantFrom('tour', 'checklist', 'announcement'),
  priority: fc.integer({ min: -1_000_000, max: 1_000_000 }),
  frequency: fc.constantFrom('once', 'until_completed', 'always'),
  targeting: fc.record({
    urls: fc.array(
      fc.record({ match: fc.constantFrom('exact', 'prefix', 'glob'), pattern: text(1, 20) }),
      { maxLength: 3 },
    ),
    audience: fc.record({
      match: fc.constantFrom('all', 'any'),
      rules: fc.array(
        fc.record({
          attribute: text(1, 20),
          op: fc.constantFrom('eq', 'in', 'gte', 'contains', 'exists'),
          value: fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.constant(null)),
        }),
        { maxLength: 3 },
      ),
    }),
  }),
  theme: nullable(
    fc.record({
      accent: nullable(fc.constantFrom('#fff', 'rgb(1 2 3)', 'tomato')),
      background: nullable(fc.constant('#000')),
      text: fc.constant(null),
      radius: nullable(fc.nat(64)),
    }),
  ),
  steps: byKey(step),
  checklist: nullable(fc.record({ order: fc.constantFrom('any', 'sequence'), items: byKey(item) })),
})
