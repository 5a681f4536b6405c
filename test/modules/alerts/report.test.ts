import { expect, test } from 'bun:test'
import { type Report, reportText } from '../../../src/modules/alerts/report.ts'
import { messageOf } from '../../../src/modules/alerts/wording.ts'

const line = (now: readonly [number, number], before: readonly [number, number]) => {
  const report: Report = {
    organisation: { slug: 'harbor', name: 'Harbor' },
    week: { from: '2026-11-09', to: '2026-11-15', timezone: 'UTC' },
    flows: [
      {
        ...{ key: 'welcome', name: 'Welcome', csv: null },
        ...{ completions: now[0], starts: now[1], completionRate: now[0] / now[1] },
        ...{ completionsBefore: before[0], startsBefore: before[1] },
        completionRateBefore: before[0] / before[1],
      },
    ],
    ...{ flowsLeftOut: 0, alerts: [], brokenSteps: [], url: null },
  }
  return reportText(report).match(/started .*/)?.[0]
}

test.each([
  // As rates of four decimals these would be 0.1235 and 12.4 %, and 0.0275 and 2.7 %.
  [[2_469, 20_000], [2_469, 20_000], 'started 20000 (as before), completed 12.3 % (as before)'],
  [[11, 400], [0, 400], 'started 400 (as before), completed 2.8 % (+2.8 points)'],
  [[0, 400], [11, 400], 'started 400 (as before), completed 0.0 % (−2.8 points)'],
  [[0, 1_999], [0, 2_000], 'started 1999 (−0.1 %), completed 0.0 % (as before)'],
] as const)(
  'a weekly report computes its percentages from counts: %j after %j',
  (now, before, said) => {
    expect(line(now, before)).toBe(said)
  },
)

test('an alert says its rates as they are', () => {
  const facts = { flow: 'welcome', rate: 0.2875, rateBefore: 0.6, starts: 80, startsBefore: 50 }
  expect(messageOf({ rule: 'completion.fell', facts })).toContain('from 60 % to 28.75 %')
})
