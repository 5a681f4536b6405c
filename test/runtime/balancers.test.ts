import { describe, expect, test } from 'bun:test'
import { Balancers } from '../../src/runtime/balancers.ts'

describe('balancers', () => {
  test('are told once each has heard twice in succession that the server is not ready', () => {
    const balancers = new Balancers()
    expect(balancers.areTold(0)).toBe(true)
    for (const [at, isReady] of [
      [0, false],
      [1_000, true],
      [2_000, true],
      [3_000, false],
    ] as const) {
      balancers.asked('a', isReady, at)
      balancers.asked('b', isReady, at + 100)
    }
    expect(balancers.areTold(3_200)).toBe(false)
    balancers.asked('a', false, 4_000)
    expect(balancers.areTold(4_050)).toBe(false)
    balancers.asked('b', false, 4_100)
    expect(balancers.areTold(4_100)).toBe(true)
  })

  test('that have stopped asking are not waited for, whatever their pace was', () => {
    for (const [pace, silent] of [
      [20, 2_000],
      [2_000, 4_000],
      [9_000, 10_000],
    ] as const) {
      const balancers = new Balancers()
      balancers.asked('a', true, 0)
      balancers.asked('a', true, pace)
      expect(balancers.areTold(pace + silent)).toBe(false)
      expect(balancers.areTold(pace + silent + 1)).toBe(true)
    }
  })

  test('do not include somebody who asked once, or asks now and then', () => {
    const balancers = new Balancers()
    for (const minute of [0, 1, 2]) {
      balancers.asked('a', true, minute * 60_000)
      expect(balancers.areTold(minute * 60_000 + 1)).toBe(true)
    }
  })
})
