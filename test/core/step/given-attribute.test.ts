import { expect, test } from 'bun:test'
import { givenRank } from '../../../src/core/step/given-attribute.ts'

const ranked = (attributes: readonly (readonly [name: string, value: string])[]) =>
  attributes.map(([name, value]) => givenRank(name, value))

test.each([
  [
    'a tour',
    ['data-tour', 'data-tour-id', 'data-app-tour', 'data-onboarding', 'data-guide-step'],
    0,
  ],
  ['an action', ['data-action', 'data-action-id'], 1],
  [
    'a test',
    ['data-test', 'data-testid', 'data-test-id', 'data-test-subj', 'data-cy', 'data-qa', 'data-pw'],
    2,
  ],
  ['something else', ['data-name', 'data-feature', 'data-nav', 'data-element-id', 'data-key'], 3],
])('what was set for %s has its place', (_, names, rank) => {
  const values = ['create', 'new-project', 'nav.settings', 'createButton', 'billing:open', 'step2']
  for (const name of names) {
    expect(ranked(values.map(value => [name, value]))).toEqual(values.map(() => rank))
  }
})

test('a tour and a test may name an element in any way, but not by what a library makes up', () => {
  expect(
    ranked([
      ['data-testid', 'Row 12'],
      ['data-tour', '3'],
    ]),
  ).toEqual([2, 0])
  expect(
    ranked([
      ['data-testid', ''],
      ['data-tour', 'radix-:r1:'],
    ]),
  ).toEqual([null, null])
})

test.each([
  ['a state', ['data-state', 'data-open', 'data-selected', 'data-headlessui-state', 'data-status']],
  ['a look', ['data-side', 'data-theme', 'data-variant', 'data-slot', 'data-orientation']],
  [
    'a library',
    [
      'data-v-1a2b3c',
      'data-reactid',
      'data-radix-collection-item',
      'data-bs-toggle',
      'data-controller',
    ],
  ],
  ['a person', ['data-user', 'data-username', 'data-owner', 'data-email', 'data-customer-id']],
  ['a text', ['data-title', 'data-label', 'data-tooltip', 'data-content']],
])('what says %s finds nothing', (_, names) => {
  expect(ranked(names.map(name => [name, 'create']))).toEqual(names.map(() => null))
})

test.each([
  'true',
  'open',
  'Primary',
  '3',
  'a',
  'New project',
  'ord-4711',
  'a8f3e2b1',
  'menu#open',
  'x'.repeat(61),
])('an attribute with the value %p is nobody’s name', value =>
  expect(givenRank('data-thing', value)).toBeNull(),
)
