import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseTime } from '../../../src/core/time/clock.ts'
import { rounds } from '../../support/rounds.ts'

describe('times are read', () => {
  test.each<[string | number, string]>([
    ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20t09:30:00.123456z', '2026-11-20T09:30:00.123Z'],
    ['2026-11-20 09:30:00.5+05:45', '2026-11-20T03:45:00.500Z'],
    ['2026-11-20T09:30:00-00:30', '2026-11-20T10:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    [0, '1970-01-01T00:00:00.000Z'],
    [1_795_000_000_000.9, '2026-11-18T11:06:40.000Z'],
  ])('%p', (given, expected) => {
    expect(new Date(parseTime(given) as number).toISOString()).toBe(expected)
  })

  test('what a date prints is read as that date', () => {
    fc.assert(
      fc.property(
        fc.date({
          noInvalidDate: true,
          min: new Date('0000-01-01T00:00:00Z'),
          max: new Date('9999-12-31T23:59:59.999Z'),
        }),
        date => {
          expect(parseTime(date.toISOString())).toBe(date.getTime())
          expect(parseTime(date.getTime())).toBe(date.getTime())
        },
      ),
    )
  })

  test.each<[unknown]>([
    ['2026-11-20'],
    ['2026-11-20T09:30:00'],
    ['2026-02-30T00:00:00Z'],
    ['2023-02-29T00:00:00Z'],
    ['2026-13-01T00:00:00Z'],
    ['2026-11-20T24:00:00Z'],
    ['2026-11-20T09:60:00Z'],
    ['2026-11-20T09:30:61Z'],
    ['2026-11-20T09:30:00+24:00'],
    ['20261120T093000Z'],
    [' 2026-11-20T09:30:00Z'],
    ['now'],
    [''],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [1e300],
    [null],
    [undefined],
    [{}],
    [[]],
    [true],
  ])('%p is no time', given => {
    expect(parseTime(given)).toBeNull()
  })

  test('the usual form is read as the same moment as any other form', () => {
    const two = fc.integer({ min: 0, max: 99 }).map(n => `${n}`.padStart(2, '0'))
    const year = fc.integer({ min: 0, max: 9_999 }).map(n => `${n}`.padStart(4, '0'))
    const milliseconds = fc.integer({ min: 0, max: 999 }).map(n => `${n}`.padStart(3, '0'))
    fc.assert(
      fc.property(
        fc.tuple(year, two, two, two, two, two, milliseconds),
        ([y, month, day, hour, minute, second, ms]) => {
          const local = `${y}-${month}-${day}T${hour}:${minute}:${second}.${ms}`
          expect(parseTime(`${local}Z`)).toBe(parseTime(`${local}+00:00`))
        },
      ),
      { numRuns: rounds(5_000) },
    )
    // Most of the texts above are not times; these all are.
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }), date => {
        const text = date.toISOString()
        expect(parseTime(text)).toBe(date.getTime())
        expect(parseTime(text.replace('Z', '+00:00'))).toBe(date.getTime())
      }),
    )
  })
})
