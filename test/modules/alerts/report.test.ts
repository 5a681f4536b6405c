import { expect, test } from 'bun:test'
import { type Report, reportText } from '../../../src/modules/alerts/report.ts'
import { rules } from '../../../src/modules/alerts/rules.ts'

type Counts = readonly [completions: number, starts: number]

const flowOf = (name: string, now: Counts, before: Counts) => ({
  key: name.toLowerCase(),
  name,
  completions: now[0],
  starts: now[1],
  completionRate: now[0] / now[1],
  completionsBefore: before[0],
  startsBefore: before[1],
  completionRateBefore: before[0] / before[1],
})

const reportOf = (flows: Report['flows']): Report => ({
  organisation: { slug: 'harbor', name: 'Harbor' },
  week: { from: '2026-11-09', to: '2026-11-15', timezone: 'UTC' },
  flows,
  flowsLeftOut: 0,
  alerts: [],
  url: null,
})

test('a weekly report is a table of plain text', () => {
  const flows = [
    flowOf('Welcome', [2_469, 20_000], [2_469, 20_000]),
    flowOf('An announcement whose name is much too long', [11, 400], [0, 200]),
  ]
  const text = reportText(reportOf(flows), 'https://cairn.example.com/mail/x')
  // The dash is between thin spaces.
  expect(text.replace(/\s–\s/, '–')).toBe(`\
Harbor, 9–15 November 2026 (UTC)

Flow                                      Starts     Change  Completed       Change
Welcome                                    20000  unchanged     12.3 %    unchanged
An announcement whose name is much too …     400     +100 %      2.8 %  +2.8 points

No alerts.

Unsubscribe: https://cairn.example.com/mail/x
`)
})

test.each([
  // As rates of four decimals these would be 0.1235 and 12.4 %, and 0.0275 and 2.7 %.
  [
    [2_469, 20_000],
    [2_469, 20_000],
    ['20000', 'unchanged', '12.3 %', 'unchanged'],
  ],
  [
    [11, 400],
    [0, 400],
    ['400', 'unchanged', '2.8 %', '+2.8 points'],
  ],
  [
    [0, 400],
    [11, 400],
    ['400', 'unchanged', '0.0 %', '−2.8 points'],
  ],
  [
    [0, 1_999],
    [0, 2_000],
    ['1999', '−0.1 %', '0.0 %', 'unchanged'],
  ],
] as const)(
  'a weekly report computes its percentages from counts: %j after %j',
  (now, before, cells) => {
    const text = reportText(reportOf([flowOf('Welcome', now, before)]))
    expect(text.match(/Welcome +(.*)/)![1]!.split(/ {2,}/)).toEqual([...cells])
  },
)

test('an alert has the rates as they are', () => {
  const facts = { flow: 'welcome', rate: 0.2875, rateBefore: 0.6, starts: 80, startsBefore: 50 }
  expect(rules['completion.fell'].message(facts)).toContain('from 60 % to 28.75 %')
})
