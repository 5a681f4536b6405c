import { expect, test } from 'bun:test'
import { judgeFingerprint } from '../../src/core/step/comparison.ts'
import type { Fingerprint } from '../../src/core/step/fingerprint.ts'
import { allowedFingerprint } from '../../src/core/step/fingerprint.ts'
import { authoredId } from '../../src/core/step/generated-name.ts'
import seen from '../fixtures/element-changes.json'

/** How typical changes of web pages are judged, from fingerprints that a browser recorded. */

type Print = Record<string, unknown>
interface ElementChange {
  before: Print
  after: Print | null
  candidates: Print[]
  /** The languages of the page before and after, if they differ. */
  locales?: [before: string, after: string]
}
const changes = seen as unknown as Record<string, ElementChange>

/**
 * The change; score and verdict; how many elements the step's selector finds afterwards; the signals
 * that are not 1; the suggested selector. The verdict is about the element, however it is found: where
 * the selector does not find it alone, a matching element still needs another selector.
 */
const table: [string, number, string, number, string, string | null][] = [
  ['nothing changed', 1.0, 'match', 1, '', null],
  ['attributes in another order', 1.0, 'match', 1, '', null],
  ['class renamed, no ids', 0.96, 'match', 0, 'attributes 0.50', 'button'],
  ['hashed classes after a build', 0.96, 'match', 1, 'attributes 0.50', null],
  ['state class added', 0.98, 'match', 1, 'attributes 0.75', null],
  ['another language, by its locale', 1.0, 'match', 1, '', null],
  ['another language, and nobody says so', 0.83, 'drift', 1, 'roleAndName 0.77, text 0.55', null],
  ['a word more in the label', 0.98, 'match', 1, 'roleAndName 0.98, text 0.95', null],
  ['relabelled, no ids', 0.63, 'drift', 1, 'roleAndName 0.50, text 0.00', null],
  ['relabelled, with id and test id', 0.78, 'drift', 1, 'roleAndName 0.50, text 0.00', null],
  ['a count in the label', 0.89, 'match', 1, 'roleAndName 0.85, text 0.71', null],
  ['moved down its list', 0.97, 'match', 1, 'ancestors 0.90', null],
  [
    'another came to its place in the list',
    0.58,
    'drift',
    1,
    'roleAndName 0.50, text 0.00, attributes 0.50',
    'li:nth-of-type(3)>a',
  ],
  ['wrapped in a div', 0.95, 'match', 0, 'ancestors 0.80', 'button'],
  ['wrapped thrice', 0.93, 'match', 0, 'ancestors 0.73', 'button'],
  ['moved to the header', 0.92, 'match', 0, 'ancestors 0.67', 'button'],
  ['test id changed, same text', 0.76, 'drift', 0, 'testId 0.00', null],
  ['test id changed, no id, same text', 0.69, 'drift', 0, 'testId 0.00', null],
  ['another test attribute, same value', 0.88, 'match', 0, 'testId 0.50', '[data-test="save"]'],
  ['test ids stripped from the build', 0.8, 'drift', 0, 'testId 0.00', null],
  ['test id added', 0.75, 'drift', 1, 'testId 0.00', null],
  ['id renamed, no test id', 0.75, 'drift', 0, 'id 0.00', null],
  ['id generated anew (React)', 1.0, 'match', 1, '', null],
  ['id generated anew (Radix, in a prefix)', 1.0, 'match', 1, '', null],
  ['id counted anew (MUI)', 1.0, 'match', 1, '', null],
  ['ancestor ids generated anew', 1.0, 'match', 1, '', null],
  ['the element is gone', 0.0, 'gone', 0, '', null],
  [
    'gone, and another button is there',
    0.56,
    'drift',
    0,
    'roleAndName 0.50, text 0.00, attributes 0.25',
    null,
  ],
  ['two match after a copy', 1.0, 'match', 2, '', null],
  ['two match, one of them is new', 1.0, 'match', 2, '', '[data-testid="new-project"]'],
  ['button became a link', 0.67, 'drift', 0, 'tag 0.00, roleAndName 0.50, attributes 0.50', null],
  [
    'button became a link, with id and test id',
    0.8,
    'drift',
    0,
    'tag 0.00, roleAndName 0.50, attributes 0.50',
    null,
  ],
  ['aria-label added', 0.96, 'match', 1, 'roleAndName 0.86', null],
  ['icon-only button', 0.94, 'match', 1, 'attributes 0.50', null],
  ['icon-only button, relabelled', 0.83, 'drift', 0, 'roleAndName 0.50', null],
  [
    'icon-only button, and another of its kind',
    0.83,
    'drift',
    1,
    'roleAndName 0.50',
    '[aria-label="Help"]',
  ],
  ['label replaced by an icon', 0.75, 'drift', 1, 'text 0.00', null],
  ['input with another placeholder', 0.78, 'drift', 1, 'roleAndName 0.50, attributes 0.50', null],
  ['input with another placeholder, by its locale', 1.0, 'match', 1, '', null],
  ['input got a label and an id', 0.64, 'drift', 1, 'id 0.00, roleAndName 0.76', null],
  ['a person typed into the input', 1.0, 'match', 1, '', null],
  ['sibling row, same text', 1.0, 'match', 1, '', null],
  ['sibling row, its own test id', 0.69, 'drift', 1, 'testId 0.00', null],
  [
    'its row moved, its own test id',
    0.69,
    'drift',
    1,
    'testId 0.00',
    '[data-testid="delete-borealis"]',
  ],
  ['into a dialog that is open', 0.93, 'match', 0, 'ancestors 0.73', 'button'],
  [
    'redesigned page, same words',
    0.61,
    'drift',
    0,
    'tag 0.00, ancestors 0.44, attributes 0.00',
    null,
  ],
  [
    'redesigned page, same test id and words',
    0.67,
    'drift',
    1,
    'id 0.00, ancestors 0.44, attributes 0.00',
    null,
  ],
  [
    'redesigned page, nothing alike',
    0.11,
    'gone',
    0,
    'tag 0.00, roleAndName 0.00, text 0.00, ancestors 0.44, attributes 0.00',
    null,
  ],
]

test.each(table)('%s: %d, %s', (name, score, status, matchCount, signals, suggested) => {
  const { before, after, candidates, locales } = changes[name]!
  const [was, is] = locales ?? [null, null]
  const judged = judgeFingerprint(
    { print: allowedFingerprint(before), locale: was },
    {
      print: after && allowedFingerprint(after),
      locale: is,
      candidates: candidates.map(allowedFingerprint),
    },
  )
  const low = Object.entries(judged.signals)
    .filter(([signal, value]) => value < 1 && signal !== 'position')
    .map(([signal, value]) => `${signal} ${value.toFixed(2)}`)
  expect({
    score: Number(judged.score.toFixed(2)),
    status: judged.status,
    matchCount: after?.matchCount ?? 0,
    signals: low.join(', '),
    suggested: judged.suggestedSelector,
  }).toEqual({ score, status: status as typeof judged.status, matchCount, signals, suggested })
})

test('every change is in the table', () => {
  expect(table.map(([name]) => name)).toEqual(Object.keys(changes))
})

test.each([
  [':r1a:', false],
  ['radix-:R2l6:-trigger', false],
  ['«r4»', false],
  ['_r_1_', false],
  ['v-0-3', false],
  ['ember311', false],
  ['mui-98', false],
  ['mat-input-4', false],
  ['ui-id-7', false],
  ['ext-gen1041', false],
  ['headlessui-menu-button-12', false],
  ['react-select-2-input', false],
  ['rc-tabs-0-tab-1', false],
  ['field-0199c0de-0000-7000-8000-000000000001', false],
  ['new-project', true],
  ['step-2', true],
  ['v2-banner', true],
  ['remember1', true],
  ['material-list', true],
])('the id %s was chosen by an author: %p', (id, isAuthored) => {
  expect(authoredId(id)).toBe((isAuthored ? id : undefined) as string)
})

test('judging an id terminates, whatever id a page sends', () => {
  const parts = ['a', 'a-', '-', '_', 'rc-', '-_r_', ':r', 'f', 'f0', '0', '1-']
  for (const prefix of ['', 'rc-', 'mat-', ...parts]) {
    for (const part of parts) authoredId((prefix + part.repeat(50_000)).slice(0, 50_000))
  }
})

test('a language is the same however its tag is written', () => {
  const print = (text: string): Fingerprint => ({ matchCount: 1, tag: 'a', text })
  const scoreOf = (was: string | null, is: string | null) =>
    judgeFingerprint(
      { print: print('Save'), locale: was },
      { print: print('Quit'), locale: is, candidates: [] },
    ).score
  expect(scoreOf('de-AT', 'de_at')).toBeLessThan(1)
  expect(scoreOf('de-AT', 'en')).toBe(1)
  expect(scoreOf(null, 'en')).toBeLessThan(1)
})
