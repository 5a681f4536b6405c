import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import { flowText } from '../../../src/core/flow/text.ts'
import {
  canonical,
  mergeFlows,
  type Side,
  type Written,
} from '../../../src/web/dashboard/authoring/editor/merge.ts'
import { mergedText } from '../../../src/web/dashboard/authoring/editor/merge-text.ts'

const read = (text: string): Written => {
  const { flows, problems } = readFlowFile(text)
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  return flows[0]! as unknown as Written
}

const text = (...steps: string[]) =>
  `key: welcome\nname: Welcome\nsteps:\n${steps.map(one => `  - { ${one} }\n`).join('')}`

const [a, b, c] = ['key: a, title: A', 'key: b, title: B', 'key: c, title: C']

/** Merges texts, and requires that the merged text says what the merged flow does. */
function merge(base: string, mine: string, theirs: string, choices?: Record<string, Side>) {
  const merged = mergeFlows(read(base), read(mine), read(theirs), choices)
  const whole = mergedText(mine, flowText(read(theirs) as never), merged)
  expect(canonical(read(whole))).toBe(canonical(merged.flow))
  const titles = (merged.flow.steps as { title: string }[]).map(({ title }) => title)
  return { ...merged, whole, titles, ids: merged.conflicts.map(({ id }) => id) }
}

describe('two who change one flow', () => {
  test('different steps: both changes are there, and comments stay', () => {
    const mine = `# mine\n${text('key: a, title: Mine', b)}`
    const { whole, titles, conflicts, taken } = merge(
      text(a, b),
      mine,
      text(a, 'key: b, title: Theirs'),
    )
    expect(titles).toEqual(['Mine', 'Theirs'])
    expect(conflicts).toEqual([])
    expect(taken.map(({ id }) => id)).toEqual(['step:b'])
    expect(whole).toStartWith('# mine\n')
  })

  test('the same step: the author chooses', () => {
    const texts = [text(a), text('key: a, title: Mine'), text('key: a, title: Theirs')] as const
    expect(merge(...texts)).toMatchObject({ ids: ['step:a'], titles: ['Mine'] })
    expect(merge(...texts, { 'step:a': 'theirs' })).toMatchObject({ titles: ['Theirs'] })
  })

  test('texts in other languages: each part is merged by itself', () => {
    const told = (texts: string) => `locale: en\n${text(a, b)}texts: ${texts}\n`
    const base = told('{ de: { steps: { a: { title: A1 }, b: { title: B1 } } } }')
    const mine = told('{ de: { steps: { a: { title: Mine }, b: { title: B1 } } }, fr: {} }')
    const theirs = told('{ de: { title: T, steps: { a: { title: A1 }, b: { title: Theirs } } } }')
    const { flow, conflicts, taken } = merge(base, mine, theirs)
    expect(flow.texts).toEqual({
      de: { title: 'T', steps: { a: { title: 'Mine' }, b: { title: 'Theirs' } } },
      fr: {},
    })
    expect(conflicts).toEqual([])
    expect(taken.map(({ id }) => id).sort()).toEqual(['text:de steps b', 'text:de title'])
    const both = merge(base, mine, told('{ de: { steps: { a: { title: Theirs } } } }'))
    expect(both.ids).toEqual(['text:de steps a'])
    expect(merge(base, base, text(a, b)).flow).not.toHaveProperty('texts')
  })

  test('one adds, one removes, one moves', () => {
    const { titles, conflicts } = merge(
      text(a, b, c),
      text(a, c),
      text(c, a, b, 'key: d, title: D'),
    )
    expect(titles).toEqual(['C', 'A', 'D'])
    expect(conflicts).toEqual([])
  })

  test('both move: the author chooses the order', () => {
    const texts = [text(a, b, c), text(c, a, b), text(b, a, c)] as const
    expect(merge(...texts)).toMatchObject({ ids: ['order:step'], titles: ['C', 'A', 'B'] })
    expect(merge(...texts, { 'order:step': 'theirs' }).titles).toEqual(['B', 'A', 'C'])
  })

  test('one removes what the other changes: the author chooses', () => {
    const texts = [text(a, b), text(b), text('key: a, title: Theirs', b)] as const
    expect(merge(...texts)).toMatchObject({ ids: ['step:a'], titles: ['B'] })
    expect(merge(...texts, { 'step:a': 'theirs' }).titles).toEqual(['Theirs', 'B'])
  })

  test('fields, and items of a checklist', () => {
    const list = (order: string, ...items: string[]) =>
      `${text(a)}checklist:\n  order: ${order}\n  items:\n${items.map(one => `    - { ${one} }\n`).join('')}`
    const { flow } = merge(
      list('any', a),
      `${list('any', 'key: a, title: Mine')}priority: 3\n`,
      `${list('sequence', a, b)}frequency: always\n`,
    )
    expect(flow).toMatchObject({ priority: 3, frequency: 'always' })
    expect(flow.checklist).toMatchObject({
      order: 'sequence',
      items: [{ title: 'Mine' }, { title: 'B' }],
    })
  })

  test('one adds a checklist, the other changes the steps', () => {
    const theirs = `${text(a)}kind: tour\nchecklist: { items: [{ ${b} }] }\n`
    const { flow } = merge(text(a), text(a, c), theirs)
    expect(flow).toMatchObject({ checklist: { items: [{ key: 'b' }] }, steps: [{}, { key: 'c' }] })
  })
})

/** Few keys and few words, so that they meet. */
const part = fc.record({
  key: fc.constantFrom(...'abcd'),
  title: fc.constantFrom('one', 'two', 'three'),
})
const parts = fc.uniqueArray(part, { selector: ({ key }) => key, maxLength: 4 })
const flow: fc.Arbitrary<Written> = fc.record({
  key: fc.constant('welcome'),
  name: fc.constantFrom('x', 'y', 'z'),
  priority: fc.nat(1),
  steps: parts,
  checklist: fc.option(fc.record({ order: fc.constantFrom('any', 'sequence'), items: parts })),
})

/** The content of each unit of a flow that is merged as a whole, by its id. */
function unitsOf({ steps, checklist, ...fields }: Written): Map<string, string> {
  const { items = [], ...rest } = (checklist ?? {}) as { items?: unknown[] }
  const keyed = (kind: string, list: unknown) =>
    (list as { key: string }[]).map(one => [`${kind}:${one.key}`, canonical(one)] as const)
  const named = (kind: string, of: object) =>
    Object.entries(of).map(([name, value]) => [`${kind}:${name}`, canonical(value)] as const)
  return new Map([
    ...named('field', fields),
    ...named('checklist', rest),
    ...keyed('step', steps),
    ...keyed('item', items),
  ])
}

describe('any two changes', () => {
  test('a side that is merged with one that changed nothing stays as it is', () => {
    fc.assert(
      fc.property(flow, flow, (base, other) => {
        expect(mergeFlows(base, base, other).flow).toEqual(other)
        expect(mergeFlows(base, other, base).flow).toEqual(other)
        expect(mergeFlows(base, other, other).flow).toEqual(other)
        for (const merged of [mergeFlows(base, base, other), mergeFlows(base, other, base)]) {
          expect(merged.conflicts).toEqual([])
        }
      }),
    )
  })

  test('no change is lost: it is in the merged flow, or named as a conflict', () => {
    fc.assert(
      fc.property(flow, flow, flow, (base, mine, theirs) => {
        const { flow: merged, conflicts } = mergeFlows(base, mine, theirs)
        const [was, now] = [unitsOf(base), unitsOf(merged)]
        for (const [side, units] of [
          ['mine', unitsOf(mine)],
          ['theirs', unitsOf(theirs)],
        ] as const) {
          for (const id of new Set([...was.keys(), ...units.keys()])) {
            if (units.get(id) === was.get(id)) continue
            const named = conflicts.find(unit => unit.id === id)
            if (named) expect(canonical(named[side])).toBe(units.get(id) ?? '')
            else expect(now.get(id)).toBe(units.get(id))
          }
        }
      }),
    )
  })

  test('choosing one side everywhere keeps all that this side changed', () => {
    fc.assert(
      fc.property(flow, flow, flow, (base, mine, theirs) => {
        const { conflicts } = mergeFlows(base, mine, theirs)
        const choices = Object.fromEntries(conflicts.map(({ id }) => [id, 'theirs' as const]))
        const now = unitsOf(mergeFlows(base, mine, theirs, choices).flow)
        const [was, units] = [unitsOf(base), unitsOf(theirs)]
        for (const id of new Set([...was.keys(), ...units.keys()])) {
          if (units.get(id) !== was.get(id)) expect(now.get(id)).toBe(units.get(id))
        }
      }),
    )
  })
})
