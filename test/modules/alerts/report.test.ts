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
  completionRateBefore: before[1] < 5 ? null : before[0] / before[1],
})

const reportOf = (flows: Report['flows']): Report => ({
  organisation: { slug: 'harbor', name: 'Harbor' },
  week: { from: '2026-11-09', to: '2026-11-15', timezone: 'UTC' },
  flows,
  flowsLeftOut: 0,
  alerts: [],
  url: null,
})

// As rates of four decimals these would be 0.1235 and 12.4 %, and 0.0275 and 2.7 %.
test('a weekly report is a table of plain text, with percentages computed from counts', () => {
  const flows = [
    flowOf('Welcome', [2_469, 20_000], [2_469, 20_000]),
    flowOf('An announcement whose name is much too long', [11, 400], [0, 3]),
  ]
  const text = reportText(reportOf(flows), 'https://cairn.example.com/mail/x')
  // The dash is between thin spaces.
  expect(text.replace(/\s–\s/, '–')).toBe(`\
Harbor, 9–15 November 2026 (UTC)

Flow                                      Starts  Week before  Completed  Week before
Welcome                                    20000        20000     12.3 %       12.3 %
An announcement whose name is much too …     400            3      2.8 %            –

No alerts.

Unsubscribe: https://cairn.example.com/mail/x
`)
})

test('an alert has the rates as they are', () => {
  const facts = { flow: 'welcome', rate: 0.2875, rateBefore: 0.6, starts: 80, startsBefore: 50 }
  expect(rules['completion.fell'].message(facts)).toContain('from 60 % to 28.75 %')
})
