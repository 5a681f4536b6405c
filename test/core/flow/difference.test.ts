import { describe, expect, test } from 'bun:test'
import { applyPatch } from 'diff'
import fc from 'fast-check'
import { flowDifference } from '../../../src/core/flow/difference.ts'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import type { FlowDefinition } from '../../../src/core/flow/flow.ts'
import { flowText } from '../../../src/core/flow/text.ts'
import { anyFlow } from '../../support/any-flow.ts'

const names = ['before', 'after'] as const

const difference = (before: FlowDefinition, after: FlowDefinition, known: string[] = []) => {
  const stepKeys = new Set([...before.steps.map(({ key }) => key), ...known])
  const items = before.checklist?.items.map(({ key }) => key) ?? []
  const itemKeys = new Set([...items, ...known])
  return flowDifference({ definition: before, stepKeys, itemKeys }, after, names)
}

const flow = (more: object): FlowDefinition =>
  readFlowFile(JSON.stringify({ key: 'a', ...more }), { format: 'json' }).flows[0]!
const tour = (...steps: string[]) => flow({ steps: steps.map(key => ({ key, title: key })) })
const list = (...items: string[]) =>
  flow({ checklist: { items: items.map(key => ({ key, title: key })) } })

const none = { added: [], returning: [], removed: [], moved: [] }

describe('steps and items are identified by their keys', () => {
  test.each<[string, string[], string[], object]>([
    ['the same', ['a', 'b'], ['a', 'b'], {}],
    ['one more', ['a'], ['a', 'b'], { added: ['b'] }],
    ['one that had an id before', ['a'], ['a', 'old'], { returning: ['old'] }],
    ['one less', ['a', 'b'], ['a'], { removed: ['b'] }],
    ['another in its place', ['a', 'b'], ['a', 'c'], { added: ['c'], removed: ['b'] }],
    ['one moved to the front', ['a', 'b', 'c'], ['c', 'a', 'b'], { moved: ['c'] }],
    ['moved past one that went', ['a', 'b', 'c'], ['c', 'a'], { removed: ['b'], moved: ['a'] }],
    ['moved past one that came', ['a', 'b'], ['b', 'n', 'a'], { added: ['n'], moved: ['a'] }],
  ])('%s', (_, before, after, changes) => {
    expect(difference(tour(...before), tour(...after), ['old']).steps).toEqual({
      ...none,
      ...changes,
    })
    expect(difference(list(...before), list(...after), ['old']).items).toEqual({
      ...none,
      ...changes,
    })
  })

  test('items of a checklist that is gone are gone', () => {
    expect(difference(list('a'), tour('s'))).toMatchObject({
      steps: { added: ['s'] },
      items: { removed: ['a'] },
    })
  })
})

describe('the diff', () => {
  test('has three lines around what changed, and both names', () => {
    const before = tour('a', 'b')
    const after = { ...before, name: 'New' }
    expect(difference(before, after).diff).toBe(
      [
        '--- before',
        '+++ after',
        '@@ -1,4 +1,5 @@',
        ' key: a',
        '+name: New',
        ' steps:',
        '   - key: a',
        '     title: a',
        '',
      ].join('\n'),
    )
  })

  test('is empty only for equal flows, and turns one text into the other', () => {
    fc.assert(
      fc.property(anyFlow, anyFlow, fc.boolean(), (before, other, isSame) => {
        const after = isSame ? structuredClone(before) : { ...other, key: before.key }
        const { diff } = difference(before, after)
        expect(diff === '').toBe(Bun.deepEquals(before, after, true))
        if (diff !== '') expect(applyPatch(flowText(before), diff)).toBe(flowText(after))
      }),
    )
  })

  test('of two flows without a line in common does not take for ever', () => {
    const long = (word: string) =>
      flow({
        steps: Array.from({ length: 60 }, (_, i) => ({
          key: `${word}${i}`,
          body: Array.from({ length: 500 }, (_, line) => `${word} ${i} ${line}`).join('\n'),
        })),
      })
    expect(difference(long('x'), long('y')).diff).toEndWith('over 2000 lines differ\n')
  })
})
