import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Problem } from '../../../src/core/errors.ts'
import { resolveRange, type TimeRange } from '../../../src/core/time/time-range.ts'

type Query = Parameters<typeof resolveRange>[0]

const HOUR = 3_600_000
const NOW = Date.parse('2026-03-15T23:30:00Z')

function rangeOf(query: Query, nowMs = NOW): TimeRange {
  const resolved = resolveRange(query, nowMs)
  if ('problems' in resolved) throw new Error(JSON.stringify(resolved.problems))
  return resolved.range
}

function problemsOf(query: Query, nowMs = NOW): Problem[] {
  const resolved = resolveRange(query, nowMs)
  return 'problems' in resolved ? resolved.problems : []
}

const hours = (range: TimeRange) => range.days.map(day => (day.endMs - day.startMs) / HOUR)

describe('resolveRange', () => {
  const defaults: [string, Query, string, string, number][] = [
    ['nothing asked: 30 days with today', {}, '2026-02-14', '2026-03-15', 30],
    ["today is the zone's", { timezone: 'Asia/Tokyo' }, '2026-02-15', '2026-03-16', 30],
    ['only from: up to today', { from: '2026-03-01' }, '2026-03-01', '2026-03-15', 15],
    ['only from, today', { from: '2026-03-15' }, '2026-03-15', '2026-03-15', 1],
    ['only to: the 30 days up to it', { to: '2025-12-31' }, '2025-12-02', '2025-12-31', 30],
    ['only to, ahead', { to: '2026-04-30' }, '2026-04-01', '2026-04-30', 30],
    ['only to, near the earliest', { to: '1970-01-10' }, '1970-01-01', '1970-01-10', 10],
    ['a leap day', { from: '2024-02-29', to: '2024-02-29' }, '2024-02-29', '2024-02-29', 1],
    ['400 days', { from: '2025-01-01', to: '2026-02-04' }, '2025-01-01', '2026-02-04', 400],
    ['the last year', { from: '9999-12-31', to: '9999-12-31' }, '9999-12-31', '9999-12-31', 1],
  ]
  test.each(defaults)('%s', (_, query, from, to, days) => {
    const range = rangeOf(query)
    expect(range).toMatchObject({ from, to, timezone: query.timezone ?? 'UTC' })
    expect(range.days).toHaveLength(days)
  })

  test('a clock at the epoch, in a zone west of UTC, has a day to show', () => {
    expect(rangeOf({ timezone: 'America/Lima' }, 0)).toMatchObject({
      from: '1970-01-01',
      to: '1970-01-01',
    })
  })

  const refused: [Query, string[]][] = [
    [{ from: '2026-02-30' }, ['/from']],
    [{ from: '2026-2-3' }, ['/from']],
    [{ from: '' }, ['/from']],
    [{ from: '2026-02-03\n' }, ['/from']],
    [{ from: '20260203' }, ['/from']],
    [{ from: '1969-12-31' }, ['/from']],
    [{ from: '10000-01-01' }, ['/from']],
    [{ from: '２０２６-01-01' }, ['/from']],
    [{ to: '2026-13-01' }, ['/to']],
    [{ to: '2026-01-01T00:00' }, ['/to']],
    [{ to: 'today' }, ['/to']],
    [{ timezone: '' }, ['/timezone']],
    [{ timezone: ' UTC' }, ['/timezone']],
    [{ timezone: '+05:30' }, ['/timezone']],
    [{ timezone: 'UTC+1' }, ['/timezone']],
    [{ timezone: 'Mars/Olympus' }, ['/timezone']],
    [{ timezone: '2026-01-01T00:00+01:00[Europe/Paris]' }, ['/timezone']],
    [{ from: 'x', to: 'y', timezone: 'z' }, ['/from', '/to', '/timezone']],
    [{ from: '2026-03-02', to: '2026-03-01' }, ['/from']],
    [{ from: '2026-03-02', to: '2026-03-01', timezone: 'z' }, ['/timezone', '/from']],
    [{ from: '2026-03-16' }, ['/from']],
    [{ from: '2025-01-01', to: '2026-02-05' }, ['/from']],
    [{ from: '2024-01-01' }, ['/from']],
  ]
  test.each(refused)('%j is rejected, without the value in the message', (query, paths) => {
    const problems = problemsOf(query)
    expect(problems.map(({ path }) => path)).toEqual(paths)
    // "UTC" is skipped: it is among the rejected values, and the advice names it.
    for (const value of Object.values(query).filter(text => text.trim().length > 3)) {
      expect(problems.map(({ message }) => message).join(' ')).not.toContain(value)
    }
  })

  test('a rejection says what is wrong', () => {
    expect(problemsOf({ from: '2026-03-16' })[0]?.message).toBe(
      'Must not be after today, where the range ends without "to"',
    )
    expect(problemsOf({ from: '2026-03-02', to: '2026-03-01' })[0]?.message).toBe(
      'Must not be after "to"',
    )
    expect(problemsOf({ from: '2025-01-01', to: '2026-02-05' })[0]?.message).toContain('400 days')
    expect(problemsOf({ timezone: '+05:30' })[0]?.message).toContain('offsets are not taken')
  })

  test.each([
    ['utc', 'UTC'],
    ['europe/BERLIN', 'Europe/Berlin'],
    ['Asia/Calcutta', 'Asia/Calcutta'],
    ['US/Pacific', 'US/Pacific'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
  ])('the zone %s is kept as %s', (requested, timezone) => {
    expect(rangeOf({ timezone: requested }).timezone).toBe(timezone)
  })

  // [zone, from, to, hours of the days, first instant]
  const clockChanges: [string, string, string, number[], string][] = [
    ['Europe/Berlin', '2026-03-28', '2026-03-30', [24, 23, 24], '2026-03-27T23:00:00Z'],
    ['Europe/Berlin', '2026-10-24', '2026-10-26', [24, 25, 24], '2026-10-23T22:00:00Z'],
    ['America/Sao_Paulo', '2018-11-03', '2018-11-05', [24, 23, 24], '2018-11-03T03:00:00Z'],
    ['America/Sao_Paulo', '2018-11-04', '2018-11-04', [23], '2018-11-04T03:00:00Z'],
    ['Asia/Beirut', '2024-03-30', '2024-04-01', [24, 23, 24], '2024-03-29T22:00:00Z'],
    ['Australia/Lord_Howe', '2024-04-07', '2024-04-07', [24.5], '2024-04-06T13:00:00Z'],
    ['Asia/Kathmandu', '2026-01-01', '2026-01-01', [24], '2025-12-31T18:15:00Z'],
    ['America/St_Johns', '2010-11-06', '2010-11-08', [24, 25, 24], '2010-11-06T02:30:00Z'],
    ['Pacific/Apia', '2011-12-29', '2011-12-31', [24, 0, 24], '2011-12-29T10:00:00Z'],
  ]
  test.each(clockChanges)(
    '%s, %s to %s: days of %p hours',
    (timezone, from, to, lengths, start) => {
      const range = rangeOf({ from, to, timezone })
      expect(hours(range)).toEqual(lengths)
      expect(new Date(range.startMs).toISOString()).toBe(start.replace('Z', '.000Z'))
    },
  )

  const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
  const somewhen = fc.integer({ min: 0, max: Date.parse('2037-12-31') / HOUR }).map(h => h * HOUR)
  const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const requested = fc.record({
    timezone: zone,
    fromMs: somewhen,
    length: fc.integer({ min: 1, max: 400 }),
  })

  test('days tile the range, in every zone', () => {
    fc.assert(
      fc.property(requested, ({ timezone, fromMs, length }) => {
        const from = dateOf(fromMs)
        const to = dateOf(fromMs + (length - 1) * 24 * HOUR)
        const range = rangeOf({ from, to, timezone })
        expect(range).toMatchObject({ from, to })
        expect(range.days).toHaveLength(length)
        let endMs = range.startMs
        for (const [i, day] of range.days.entries()) {
          expect(day.date).toBe(dateOf(fromMs + i * 24 * HOUR))
          expect(day.startMs).toBe(endMs)
          expect(day.endMs).toBeGreaterThanOrEqual(day.startMs)
          endMs = day.endMs
        }
        expect(range.endMs).toBe(endMs)
      }),
    )
  })

  test('an instant lies in the day that the zone’s calendar says', () => {
    fc.assert(
      fc.property(zone, somewhen, (timezone, ms) => {
        const calendar = new Intl.DateTimeFormat('en-CA', {
          timeZone: timezone,
          dateStyle: 'short',
        })
        const date = calendar.format(ms)
        if (date < '1970-01-01') return
        const { startMs, endMs } = rangeOf({ from: date, to: date, timezone })
        expect(startMs).toBeLessThanOrEqual(ms)
        expect(endMs).toBeGreaterThan(ms)
        expect(calendar.format(startMs)).toBe(date)
        expect(calendar.format(endMs) > date).toBe(true)
      }),
    )
  })

  test('a resolved range is the same when it is asked for again', () => {
    fc.assert(
      fc.property(zone, somewhen, somewhen, (timezone, nowMs, laterMs) => {
        const range = rangeOf({ timezone }, nowMs)
        const { from, to } = range
        expect(rangeOf({ from, to, timezone: range.timezone }, laterMs)).toEqual(range)
      }),
    )
  })
})
