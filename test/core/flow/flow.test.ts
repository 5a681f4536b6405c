import { describe, expect, test } from 'bun:test'
import type { TObject, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import {
  Flow,
  FlowDefinition,
  Item,
  ItemDefinition,
  Step,
  StepDefinition,
} from '../../../src/core/flow/flow.ts'
import { rounds } from '../../support/rounds.ts'

const step: StepDefinition = {
  key: 'one',
  kind: 'tooltip',
  title: 'One',
  body: '',
  target: {
    selector: '#one',
    text: null,
    nth: null,
    waitMs: 3_000,
    required: true,
    onMissing: 'skip',
  },
  placement: { side: 'bottom', align: 'center' },
  advance: { on: 'button', event: null },
  buttons: [{ label: 'Next', action: 'next', href: null }],
}

const item: ItemDefinition = {
  key: 'do-it',
  title: 'Do it',
  description: null,
  completeOn: { event: 'done' },
  href: null,
}

const flow: FlowDefinition = {
  key: 'welcome',
  name: 'Welcome',
  kind: 'tour',
  priority: 0,
  frequency: 'once',
  targeting: {
    urls: [{ match: 'prefix', pattern: '/' }],
    audience: { match: 'all', rules: [{ attribute: 'plan', op: 'in', value: ['a', 1, true] }] },
  },
  theme: { accent: '#1f6feb', background: null, text: 'rgb(31 111 235 / 50%)', radius: 8 },
  steps: [step],
  checklist: { order: 'any', items: [item] },
}

/** The flow with the value at a JSON pointer replaced; `undefined` takes the field away. */
function flowWith(pointer: string, value: unknown): unknown {
  const names = pointer.split('/').slice(1)
  const last = names.pop()!
  const changed = structuredClone(flow) as unknown
  // biome-ignore lint/suspicious/noExplicitAny: the point is to build what the types forbid
  const parent = names.reduce((at: any, name) => at[name], changed)
  if (value === undefined) delete parent[last]
  else parent[last] = value
  return changed
}

const many = <T>(count: number, value: T) => Array.from({ length: count }, () => value)

test('a complete flow is a definition, and so is one without steps, checklist and theme', () => {
  expect(Value.Check(FlowDefinition, flow)).toBe(true)
  expect(Value.Check(FlowDefinition, { ...flow, steps: [], checklist: null, theme: null })).toBe(
    true,
  )
})

describe('the largest value is accepted, one more is rejected', () => {
  test.each<[string, unknown, unknown]>([
    ['/key', 'k'.repeat(64), 'k'.repeat(65)],
    ['/key', 'A-z_0.9', ''],
    ['/priority', 1_000_000, 1_000_001],
    ['/priority', 0, 0.5],
    ['/targeting/urls', many(50, flow.targeting.urls[0]), many(51, flow.targeting.urls[0])],
    ['/targeting/urls/0/pattern', 'p'.repeat(2_048), 'p'.repeat(2_049)],
    [
      '/targeting/audience/rules',
      many(50, flow.targeting.audience.rules[0]),
      many(51, flow.targeting.audience.rules[0]),
    ],
    ['/theme/accent', 'c'.repeat(64), 'c'.repeat(65)],
    ['/theme/radius', 64, 65],
    ['/steps', many(100, step), many(101, step)],
    ['/steps/0/title', 't'.repeat(200), 't'.repeat(201)],
    ['/steps/0/body', 'b'.repeat(10_000), 'b'.repeat(10_001)],
    ['/steps/0/target/selector', 's'.repeat(1_000), 's'.repeat(1_001)],
    ['/steps/0/target/waitMs', 60_000, 60_001],
    ['/steps/0/target/nth', 0, -1],
    ['/steps/0/advance/event', 'e'.repeat(64), 'e'.repeat(65)],
    ['/steps/0/buttons', many(5, step.buttons[0]), many(6, step.buttons[0])],
    ['/steps/0/buttons/0/href', 'h'.repeat(2_048), 'h'.repeat(2_049)],
    ['/checklist/items', many(100, item), many(101, item)],
    ['/checklist/items/0/title', 't'.repeat(200), 't'.repeat(201)],
    ['/checklist/items/0/completeOn/event', 'e'.repeat(64), 'e'.repeat(65)],
  ])('%s', (pointer, largest, tooMuch) => {
    expect(Value.Check(FlowDefinition, flowWith(pointer, largest))).toBe(true)
    expect(Value.Check(FlowDefinition, flowWith(pointer, tooMuch))).toBe(false)
  })
})

describe('rejected', () => {
  test.each<[string, unknown]>([
    ['/key', 'with space'],
    ['/key', 'line\n'],
    ['/kind', 'survey'],
    ['/id', 'f1'],
    ['/steps/0/kind', null],
    ['/steps/0/placement/side', 'middle'],
    ['/steps/0/target/text', undefined],
    ['/steps/0/buttons/0/href', undefined],
    ['/theme/accent', 'red;} body { display: none'],
    ['/theme/accent', 'url("//elsewhere")'],
    ['/theme/accent', 'url(//elsewhere/pixel.png)'],
    ['/theme/background', 'URL(/pixel.png)'],
    ['/theme/text', 'attr(title)'],
    ['/theme/text', 'env(safe-area-inset-top)'],
    ['/theme/text', 'var(--brand, url(//elsewhere))'],
    ['/theme/text', '#12345'],
    ['/theme/text', 'red\n'],
    ['/theme/radius', '8px'],
    ['/targeting/audience/rules/0/value', Number.NaN],
    ['/targeting/audience/rules/0/value', [['nested']]],
    ['/name', 'NUL \0'],
    ['/name', 'half a pair \ud800'],
    ['/name', 'the other half \udc00'],
  ])('%s %j', (pointer, value) => {
    expect(Value.Check(FlowDefinition, flowWith(pointer, value))).toBe(false)
  })
})

test('text is accepted exactly if it is well-formed Unicode without NUL', () => {
  // Few units, so that they often meet: surrogate halves, NUL, and plain characters.
  const unit = fc.constantFrom('\ud83d', '\ude00', '\ud800', '\udfff', '\0', 'a', '\n', '\u2028')
  fc.assert(
    fc.property(fc.array(unit, { minLength: 1, maxLength: 8 }), units => {
      const name = units.join('')
      const right = name.isWellFormed() && !name.includes('\0')
      expect(Value.Check(FlowDefinition, flowWith('/name', name))).toBe(right)
    }),
    { numRuns: rounds(1_000) },
  )
})

describe('a link', () => {
  const pointers = ['/steps/0/buttons/0/href', '/checklist/items/0/href']
  const isTaken = (href: string) =>
    pointers.map(pointer => Value.Check(FlowDefinition, flowWith(pointer, href)))

  test.each([
    'https://app.example/a:b?c=d#e',
    'HTTP://app.example',
    'mailto:help@app.example',
    'Tel:+49301234',
    '/projects/new',
    '//cdn.example/x',
    './a b',
    'settings',
    'a/b:c',
    '?at=10:30',
    '#part:2',
  ])('%j is accepted', href => {
    expect(isTaken(href)).toEqual([true, true])
  })

  test.each([
    'javascript:alert(1)',
    ' javascript:alert(1)',
    '\u0001javascript:alert(1)',
    'java\tscript:alert(1)',
    'java\r\nscript:alert(1)',
    '\u00a0javascript:alert(1)',
    '\ufeffjavascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'blob:https://app.example/1',
    'file:///etc/passwd',
    ' https://app.example',
    'a:b',
  ])('%j is rejected', href => {
    expect(isTaken(href)).toEqual([false, false])
  })

  test('that is accepted has a harmless scheme when a browser reads it', () => {
    const unit = fc.constantFrom(
      ...['javascript', 'JAVA', 'script', 'data', 'http', 'mailto', ':', ':', '/', '\\', '?', '#'],
      ...[' ', '\t', '\n', '\u0001', '\u007f', '\u00a0', 'x', '%', '&'],
    )
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 8 }), units => {
        const href = units.join('')
        if (!isTaken(href)[0]) return
        const read = URL.parse(href, 'https://page.example/a/b')
        if (read) expect(['http:', 'https:', 'mailto:', 'tel:']).toContain(read.protocol)
      }),
      { numRuns: rounds(3_000) },
    )
  })
})

test('every kind of colour that themes commonly use is accepted', () => {
  const colours = ['#fff', '#0b7285cc', 'rebeccapurple', 'rgb(1, 2, 3)', 'oklch(60% 0.1 240 / 0.5)']
  const functions = ['var(--brand)', 'hsl(-10deg 50% 50%)', 'color-mix(in srgb, red 50%, blue)']
  for (const colour of [...colours, ...functions, 'RGBA(1, 2, 3, .5)', '#abcd']) {
    expect(Value.Check(FlowDefinition, flowWith('/theme/text', colour))).toBe(true)
  }
})

test('whatever is accepted as a colour loads nothing and does not end the CSS rule', () => {
  const functions = 'url( URL( image( image-set( src( rgb( color-mix(in var(--x )'.split(' ')
  const parts = ['//x.example/', '/x', '#fff', 'red', ' ', ',', '/', ';', '}', '{', ':', '\\', '"']
  const unit = fc.constantFrom(
    ...functions,
    ...parts,
    "'",
    '/*',
    '\n',
    '@import ',
    '<',
    '\0',
    '\u202e',
  )
  const taken = new Set<string>()
  fc.assert(
    fc.property(fc.array(unit, { minLength: 1, maxLength: 4 }), units => {
      const colour = units.join('')
      if (!Value.Check(FlowDefinition, flowWith('/theme/accent', colour))) return
      taken.add(colour)
      const [, name, rest = ''] = /^([\w-]*)\((.*)\)$/.exec(colour) ?? []
      expect(['rgb', 'color-mix', 'var', undefined]).toContain(name)
      expect(rest).not.toMatch(/[()]|\/\//)
      expect(colour).not.toMatch(/[;:{}\\"'<>@*\p{Cc}\p{Cf}]/u)
    }),
    { numRuns: 4_000 },
  )
  expect(taken.size).toBeGreaterThan(5)
})

describe('pages get fields of the definition and what the server adds to it', () => {
  test.each<[string, TObject, TObject, string[]]>([
    ['flow', FlowDefinition, Flow, ['id', 'version', 'publishedAt']],
    ['step', StepDefinition, Step, ['id', 'position']],
    ['item', ItemDefinition, Item, ['id', 'position']],
  ])('%s', (_, definition, wire, added) => {
    const others = Object.keys(wire.properties).filter(name => !(name in definition.properties))
    expect(others.sort()).toEqual(added.sort())
  })

  test('a complete flow', () => {
    const answer = {
      ...flow,
      id: 'f1',
      version: 3,
      publishedAt: '2026-01-01T00:00:00.000Z',
      steps: [{ ...step, id: 's1', position: 0 }],
      checklist: { order: 'any', items: [{ ...item, id: 'i1', position: 0 }] },
    }
    expect(Value.Check(Flow, answer)).toBe(true)
    expect(Value.Check(Flow, { ...answer, steps: [step] })).toBe(false)
  })
})

test('every default in the schemas is valid where it stands', () => {
  let seen = 0
  const walk = (schema: TSchema) => {
    if ('default' in schema) {
      expect(Value.Check(schema, schema.default)).toBe(true)
      seen++
    }
    for (const part of Object.values((schema.properties ?? {}) as Record<string, TSchema>))
      walk(part)
    for (const part of (schema.anyOf ?? []) as TSchema[]) walk(part)
    if (schema.items !== undefined) walk(schema.items)
  }
  walk(FlowDefinition)
  expect(seen).toBeGreaterThan(20)
})
