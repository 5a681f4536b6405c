import { expect, test } from 'bun:test'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import { meantFor } from '../../../src/web/dashboard/authoring/meant-for.ts'

/** What the dialog before publishing shows about a flow. */

const shown = (fields: object) => {
  const flow = { key: 'a', steps: [{ key: 's', title: 'S' }], ...fields }
  const { flows } = readFlowFile(JSON.stringify(flow), { format: 'json' })
  return meantFor(flows[0]!).map(([, words]) => words)
}
const rule = (attribute: string, op: string, value?: unknown) => ({ attribute, op, value })
const page = (pattern: string, match = 'prefix') => ({ match, pattern })

test('a flow without rules is for everyone everywhere', () => {
  expect(shown({})).toEqual(['Every page', 'Everyone', 'As long as it is published'])
})

test('rules are shown in words', () => {
  const targeting = {
    urls: [page('/projects'), page('/a/*', 'glob')],
    audience: { rules: [rule('plan', 'in', ['free', 'team']), rule('role', 'exists', false)] },
  }
  const schedule = { from: '2026-12-01T09:00', to: '2026-12-24', timezone: 'Europe/Berlin' }
  expect(shown({ targeting, schedule, rollout: { percent: 20 } })).toEqual([
    'Address begins with /projects or matches the pattern /a/*',
    '20% of: plan is one of free, team and role is not set',
    'From 1 Dec 2026, 09:00 until 24 Dec 2026 (Berlin time)',
  ])
})

test('one time alone, any of the rules, and many of them', () => {
  const six = Array.from({ length: 6 }, (_, at) => rule('seats', 'gt', at))
  const targeting = { audience: { match: 'any', rules: six } }
  const [, people, time] = shown({ targeting, schedule: { to: '2026-12-24', timezone: 'UTC' } })
  expect(people).toEndWith('seats is greater than 4 or 1 more')
  expect(time).toBe('Until 24 Dec 2026 (UTC time)')
})
