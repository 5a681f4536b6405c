import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { numberIn } from '../../../src/web/dashboard/parts/format.ts'
import { matching } from '../../../src/web/dashboard/parts/options.ts'

describe('a number that was typed', () => {
  test('is itself within the bounds, and none outside them', () => {
    fc.assert(
      fc.property(fc.integer({ min: -500, max: 500 }), number => {
        const isWithin = number >= 1 && number <= 100
        expect(numberIn(` ${number} `, 1, 100, true)).toBe(isWithin ? number : Number.NaN)
      }),
    )
  })

  test.each([
    ['', null],
    ['2.5', Number.NaN],
    ['1e1', Number.NaN],
    ['ten', Number.NaN],
  ])('%p is %p where a whole number belongs', (text, number) => {
    expect(numberIn(text, 0, 100, true)).toBe(number)
  })

  test('may have a part of one where that is possible', () => {
    expect(numberIn('2.5', 0, 100, false)).toBe(2.5)
  })
})

describe('what a combobox offers', () => {
  const zones = [
    { value: 'America/New_York', label: 'New York', note: 'America' },
    { value: 'Europe/York', label: 'York', note: 'Europe' },
    { value: 'Asia/Tokyo', label: 'Tokyo', note: 'Asia' },
  ]
  const labels = (typed: string) => matching(zones, typed).map(({ label }) => label)

  test('has every typed word, in the name or what is beside it', () => {
    expect(labels('york america')).toEqual(['New York'])
    expect(labels('nowhere')).toEqual([])
    expect(labels('')).toHaveLength(3)
  })

  test('begins with what begins so', () => {
    expect(labels('york')).toEqual(['York', 'New York'])
  })
})
