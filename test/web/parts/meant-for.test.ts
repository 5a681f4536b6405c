import { expect, test } from 'bun:test'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import { meantFor } from '../../../src/web/dashboard/authoring/meant-for.ts'

/** What the dialog before a publish says of a flow. */

const told = (fields: object) => {
  const flow = { key: 'a', steps: [{ key: 's', title: 'S' }], ...fields }
  const { flows } = readFlowFile(JSON.stringify(flow), { format: 'json' })
  return meantFor(flows[0]!).map(([, words]) => words)
}
const rule = (attribute: string, op: string, value?: unknown) => ({ attribute, op, value })
const page = (pattern: string, match = 'prefix') => ({ match, pattern })

test('a flow without rules is for everybody everywhere', () => {
  expect(told({})).toEqual(['Every page', 'Everyone', 'For as long as it is published'])
})

test('rules are told in words', () => {
  const targeting = {
    urls: [page('/projects'), page('/a/*', 'glob')],
    audience: { rules: [rule('plan', 'in', ['free', 'team']), rule('role', 'exists', false)] },
  }
  const schedule = { from: '2026-12-01T09:00', to: '2026-12-24', timezone: 'Europe/Berlin' }
  expect(told({ targeting, schedule, rollout: { percent: 20 } })).toEqual([
    'Address begins with /projects or matches the pattern /a/*',
    '20% of: plan is one of free, team and role is not set',
    'From 2026-12-01 09:00 to 2026-12-24, Europe/Berlin',
  ])
})

test('one time alone, any of the rules, and many of them', () => {
  const six = Array.from({ length: 6 }, (_, at) => rule('seats', 'gt', at))
  const targeting = { audience: { match: 'any', rules: six } }
  const [, people, time] = told({ targeting, schedule: { to: '2026-12-24', timezone: 'UTC' } })
  expect(people).toEndWith('seats is greater than 4 or 1 more')
  expect(time).toBe('To 2026-12-24, UTC')
})
