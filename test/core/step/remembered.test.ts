import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { FlowFingerprint, pinnedFingerprint } from '../../../src/core/flow/fingerprint.ts'
import { isTelling, rememberedLikeness } from '../../../src/core/step/comparison.ts'
import type { Fingerprint } from '../../../src/core/step/fingerprint.ts'
import { allowedFingerprint } from '../../../src/core/step/fingerprint.ts'
import { textHash } from '../../../src/core/text/text-hash.ts'

const seen: Fingerprint = {
  selector: '#buy',
  matchCount: 1,
  tag: 'button',
  id: 'buy',
  role: 'button',
  name: 'Buy for Ann',
  text: 'Buy for Ann',
  classes: ['primary'],
  attributes: { type: 'submit' },
  ancestors: [{ tag: 'form', id: 'checkout' }, { tag: 'main' }],
  nthOfType: 2,
  rect: { x: 1, y: 2, width: 3, height: 4 },
}

describe('what a pinned fingerprint keeps of a baseline', () => {
  test('no plain text, no place on the page, and everything else that is compared', () => {
    expect(pinnedFingerprint(seen, 'en')).toEqual({
      tag: 'button',
      id: 'buy',
      role: 'button',
      textHash: textHash('Buy for Ann'),
      classes: ['primary'],
      attributes: { type: 'submit' },
      ancestors: [{ tag: 'form', id: 'checkout' }, { tag: 'main' }],
      locale: 'en',
    })
  })

  test('a name, if it is not the text', () => {
    expect(pinnedFingerprint({ ...seen, name: 'Close' }, null)?.name).toBe('Close')
    const { name, ...labelled } = seen
    expect(pinnedFingerprint({ ...labelled, ariaLabel: 'Close' }, null)?.name).toBe('Close')
  })

  test('nothing where the baseline says too little', () => {
    expect(
      pinnedFingerprint({ matchCount: 1, tag: 'div', ancestors: [{ tag: 'main' }] }, null),
    ).toBeNull()
    expect(pinnedFingerprint({ ...seen, tag: undefined }, null)).toBeNull()
  })

  test('whatever a page sends: nothing, or what fits a flow and is like itself', () => {
    const odd = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('buy', 'a'.repeat(300), '\0'),
    )
    const raw = fc.record(
      {
        tag: fc.constantFrom('button', 'A', 'x'.repeat(201)),
        id: odd,
        role: odd,
        name: odd,
        text: odd,
        testId: fc.record({ attr: odd, value: odd }),
        classes: fc.array(odd),
        attributes: fc.dictionary(fc.constantFrom('type', 'title', 'href', 'data-test-a'), odd),
        ancestors: fc.array(fc.record({ tag: odd, nth: fc.nat() }, { requiredKeys: [] })),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(raw, fc.option(odd), (sent, locale) => {
        const print = allowedFingerprint({ ...sent, matchCount: 1 })
        const pinned = pinnedFingerprint(print, locale)
        if (pinned === null) return
        expect(Value.Check(FlowFingerprint, pinned)).toBe(true)
        expect(JSON.parse(JSON.stringify(pinned))).toEqual(pinned)
        const again = pinnedFingerprint({ ...pinned, matchCount: 1 } as Fingerprint, locale)
        expect(again).toEqual(pinned)
        expect(rememberedLikeness(pinned, { ...pinned, matchCount: 1 }, locale)).toBe(1)
      }),
    )
  })
})

describe('the likeness of an element to the remembered one', () => {
  const pinned = pinnedFingerprint(seen, 'en')!
  const likeness = (more: Partial<Fingerprint>, locale: string | null = 'en') =>
    rememberedLikeness(pinned, { ...seen, ...more }, locale)

  test('is too low with another id or text, or without them', () => {
    expect(likeness({ id: 'sell' })).toBeLessThan(0.85)
    expect(likeness({ text: 'Sell' })).toBeLessThan(0.85)
    expect(likeness({ id: undefined, text: undefined })).toBeLessThan(0.85)
  })

  test('leaves out words of another language, and what is left has to be enough', () => {
    expect(likeness({ text: 'Kaufen', name: 'Kaufen' }, 'de')).toBe(1)
    const { id, ...without } = pinned
    expect(rememberedLikeness(without, seen, 'de')).toBe(0)
    expect(rememberedLikeness(without, seen, 'EN')).toBe(1)
  })

  test('is 0 where there is too little to compare', () => {
    expect(isTelling({ tag: 'button', role: 'button' })).toBe(false)
    expect(isTelling({ tag: 'button', role: 'button', text: 'Buy', ancestors: [{}] })).toBe(true)
    expect(rememberedLikeness({ tag: 'button', role: 'button' }, seen, null)).toBe(0)
  })
})
