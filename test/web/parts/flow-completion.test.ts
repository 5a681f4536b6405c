import { expect, test } from 'bun:test'
import { flowFileSchema } from '../../../src/core/flow/schema.ts'
import {
  placeAt,
  type Schema,
  suggestionsAt,
} from '../../../src/web/dashboard/authoring/editor/completion.ts'

const schema = flowFileSchema() as Schema

/** The labels of the suggestions at `|`. */
function at(marked: string): string[] {
  const position = marked.indexOf('|')
  const place = placeAt(marked.slice(0, position) + marked.slice(position + 1), position)
  return place ? suggestionsAt(schema, place).map(({ label }) => label) : []
}

test.each([
  [
    'fields of a flow that are not there yet',
    'key: a\nname: b\n|',
    ['kind', 'steps'],
    ['key', 'name', 'id'],
  ],
  [
    'fields of a step',
    'key: a\nsteps:\n  - key: b\n    ti|',
    ['title', 'target'],
    ['key', 'steps'],
  ],
  ['the first field of a step', 'key: a\nsteps:\n  - |', ['key', 'title'], ['steps']],
  [
    'of a step in a list that is not indented',
    'steps:\n- key: b\n  |',
    ['title'],
    ['key', 'steps'],
  ],
  ['of a target', 'steps:\n  - key: b\n    target:\n      |', ['selector', 'waitMs'], ['title']],
  [
    'after a target',
    'steps:\n  - key: b\n    target:\n      selector: a\n    |',
    ['title'],
    ['selector', 'target'],
  ],
  [
    'of a target within brackets',
    'steps:\n  - key: b\n    target: { selector: a, |',
    ['waitMs'],
    ['selector', 'title'],
  ],
  ['of an item', 'checklist:\n  items:\n    - key: a\n      |', ['completeOn'], ['order']],
  [
    'of a checklist behind its items',
    'checklist:\n  items:\n    - key: a\n  |',
    ['order'],
    ['items', 'title'],
  ],
  ['of a rule', 'targeting:\n  audience:\n    rules:\n      - |', ['attribute', 'op'], ['match']],
  ['kinds of a flow', 'kind: |', ['tour', 'checklist', 'announcement'], ['key']],
  ['kinds of a step', 'steps:\n  - key: a\n    kind: to|', ['tooltip', 'modal'], ['tour']],
  ['yes or no', 'steps:\n  - target:\n      required: |', ['true', 'false'], []],
  ['values within brackets', 'steps:\n  - placement: { side: |', ['top', 'left'], []],
])('suggests %s', (_, marked, wanted, unwanted) => {
  const labels = at(marked)
  expect(labels).toEqual(expect.arrayContaining(wanted))
  expect(labels.filter(label => unwanted.includes(label))).toEqual([])
})

test.each(['key: a # |', 'name: Some te|', 'steps:\n  - title: To|', 'unknown:\n  |'])(
  'suggests nothing at %j',
  marked => {
    expect(at(marked)).toEqual([])
  },
)
