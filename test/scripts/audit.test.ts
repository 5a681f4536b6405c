import { expect, test } from 'bun:test'
import { advisoriesIn, verdictOn } from '../../scripts/audit.ts'

const advisory = (severity: string) => ({ severity, title: 'Reads too much', url: 'https://x' })

test('a high or critical advisory is a failure; others are told', () => {
  const mild = { a: [advisory('low'), advisory('moderate')] }
  expect(verdictOn(mild)).toEqual({
    isBad: false,
    lines: [
      'audit: low: a: Reads too much (https://x)',
      'audit: moderate: a: Reads too much (https://x)',
      'audit: 2 known advisories, 0 of them high or critical',
    ],
  })
  for (const severity of ['high', 'critical']) {
    expect(verdictOn({ ...mild, b: [advisory(severity)] }).isBad).toBe(true)
  }
  expect(verdictOn({})).toMatchObject({ isBad: false })
})

test('what a registry without advisories says is none', () => {
  expect(advisoriesIn('{}')).toEqual({})
  for (const text of ['', 'error: POST … - 405', '[]', 'null']) {
    expect(advisoriesIn(text)).toBeNull()
  }
})
