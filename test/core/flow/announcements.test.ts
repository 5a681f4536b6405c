import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { announcementsFor } from '../../../src/core/flow/announcements.ts'
import { noHistory } from '../../../src/core/flow/decision.ts'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import type { Flow } from '../../../src/core/flow/flow.ts'
import { pageFlow } from '../../../src/core/flow/forms.ts'
import { rounds } from '../../support/rounds.ts'

/** Which announcements a launcher lists for a person, and which of them are unread. */

const now = Date.UTC(2026, 10, 20, 12)

const announcement = (key: string, fields: object = {}, publishedAt = 0): Flow => {
  const written = { key, kind: 'announcement', steps: [{ key: 's', title: key }], ...fields }
  const { flows } = readFlowFile(JSON.stringify(written), { format: 'json' })
  return pageFlow({ definition: flows[0]!, version: 1, publishedAt })
}
const seen = { ...noHistory, runs: 1, startedAt: 1 }
const listed = (flows: readonly Flow[], past: Record<string, typeof noHistory> = {}, traits = {}) =>
  announcementsFor(flows, { past, traits, person: 'uann', now }).map(
    ({ flow, isUnread }) => `${flow.key}${isUnread ? ' unread' : ''}`,
  )

test('the newest comes first, and what was seen in any browser is read', () => {
  const flows = [announcement('a', {}, 1), announcement('b', {}, 3), announcement('c', {}, 2)]
  expect(listed(flows, { c: seen })).toEqual(['b unread', 'c', 'a unread'])
})

describe('not listed is', () => {
  const rules = [{ attribute: 'plan', op: 'eq', value: 'pro' }]
  test.each<[string, object]>([
    ['a tour', { kind: 'tour' }],
    ['what is for other people', { targeting: { audience: { rules } } }],
    ['what has not begun', { schedule: { from: '2026-11-21', timezone: 'UTC' } }],
    ['what has ended', { schedule: { to: '2026-11-19', timezone: 'UTC' } }],
    ['what waits for an event', { when: { event: 'paid' } }],
    ['what waits for another flow', { when: { after: 'welcome' } }],
    ['what is for nobody yet', { rollout: { percent: 0 } }],
  ])('%s', (_, fields) => {
    expect(listed([announcement('a', fields)])).toEqual([])
  })
})

test('what has waited for something stays in the list once it was seen', () => {
  const flow = announcement('a', { when: { event: 'paid' } })
  expect(listed([flow], { a: seen })).toEqual(['a'])
})

test('its pages do not matter, because it can be opened from any', () => {
  const urls = [{ match: 'exact', pattern: '/elsewhere' }]
  expect(listed([announcement('a', { targeting: { urls } })])).toEqual(['a unread'])
})

test('reading one makes it read, and changes nothing else', () => {
  const keys = ['a', 'b', 'c', 'd', 'e']
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.constantFrom(...keys)),
      fc.array(fc.nat(3), { minLength: 5, maxLength: 5 }),
      fc.constantFrom(...keys),
      (read, times, opened) => {
        const flows = keys.map((key, i) => announcement(key, {}, times[i]))
        const past = Object.fromEntries(read.map(key => [key, seen]))
        const before = listed(flows, past)
        const after = listed(flows, { ...past, [opened]: seen })
        expect(after).toEqual(before.map(one => (one === `${opened} unread` ? opened : one)))
      },
    ),
    { numRuns: rounds(100) },
  )
})
