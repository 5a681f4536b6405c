import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { compareFingerprints, suggestSelector } from '../../../src/core/step/comparison.ts'
import type { Fingerprint } from '../../../src/core/step/fingerprint.ts'
import { allowedFingerprint } from '../../../src/core/step/fingerprint.ts'
import { textHash } from '../../../src/core/text/text-hash.ts'
import { rounds } from '../../support/rounds.ts'

const same = { sameLocale: true }
const other = { sameLocale: false }

const save: Fingerprint = {
  selector: '#save',
  matchCount: 1,
  tag: 'button',
  id: 'save',
  testId: { attr: 'data-testid', value: 'save-button' },
  name: 'Save project',
  role: 'button',
  text: 'Save project',
  classes: ['btn', 'btn-primary'],
  attributes: { type: 'submit', title: 'Save it' },
  ancestors: [
    { tag: 'form', id: 'project', nth: 1 },
    { tag: 'main', role: 'main', nth: 1 },
    { tag: 'body', nth: 1 },
  ],
  nthOfType: 2,
  rect: { x: 10, y: 20, width: 100, height: 40 },
}

const word = fc.string({ maxLength: 12 })
const some = <T extends object>(parts: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(parts, { requiredKeys: [] })
const pixel = fc.oneof(fc.double(), fc.double({ min: 0, max: 9_999_999 }), fc.nat({ max: 200 }))
const print: fc.Arbitrary<Fingerprint> = some({
  selector: word,
  matchCount: fc.nat({ max: 3 }),
  tag: fc.constantFrom('button', 'a', 'DIV'),
  id: word,
  testId: fc.record({ attr: fc.constantFrom('data-testid', 'data-test'), value: word }),
  name: word,
  role: fc.constantFrom('button', 'link'),
  ariaLabel: word,
  text: fc.oneof(word, fc.string({ minLength: 500, maxLength: 600, unit: 'grapheme' })),
  textHash: word.map(textHash),
  classes: fc.array(word, { maxLength: 60 }),
  attributes: fc.dictionary(
    fc.oneof(fc.constantFrom('href', 'title', 'type', 'value', 'data-test'), word),
    fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), word),
  ),
  ancestors: fc.array(
    some({ tag: word, id: word, role: word, testId: word, nth: fc.nat({ max: 3 }) }),
    { maxLength: 12 },
  ),
  nthOfType: fc.nat({ max: 5 }),
  rect: fc.record({ x: pixel, y: pixel, width: pixel, height: pixel }),
}).map(allowedFingerprint)

describe('allowedFingerprint', () => {
  test('drops everything else, and parts of a wrong type', () => {
    const sent = {
      matchCount: 1,
      innerHTML: '<b>secret</b>',
      value: 'secret',
      tag: 7,
      id: '',
      testId: { attr: 'data-testid', value: 3 },
      text: '  \n ',
      textHash: 'not a hash',
      classes: 'btn',
      attributes: [],
      ancestors: [null, 'x'],
      nthOfType: -1,
      rect: { x: 0, y: 0, width: -1, height: 1 },
    }
    expect(allowedFingerprint(sent)).toEqual({ matchCount: 1 })
  })

  test('attributes: only those on an allow-list, and never a value', () => {
    const attributes = {
      NAME: 'email',
      type: 'email',
      for: 'email',
      placeholder: 'Your address',
      title: 'Address',
      'data-test': 'a',
      'data-testid': 'b',
      'data-test-id': 'c',
      value: 'ada@example.com',
      onclick: 'go()',
      style: 'color: red',
      'data-user': 'ada',
      __proto__: 'x',
    }
    expect(allowedFingerprint({ matchCount: 1, attributes }).attributes).toEqual({
      name: 'email',
      type: 'email',
      for: 'email',
      placeholder: 'Your address',
      title: 'Address',
      'data-test': 'a',
      'data-testid': 'b',
      'data-test-id': 'c',
    })
  })

  test.each([
    ['/a/b?token=1#x', '/a/b'],
    ['https://user:pass@app.example/a?x=1', '/a'],
    ['//cdn.example/x#y', '/x'],
    ['settings', '/settings'],
    ['../up', '/up'],
    ['?tab=1', '/'],
    ['https://app.example//double', '/double'],
    ['mailto:ada@example.com', undefined],
    ['javascript:alert(1)', undefined],
    ['tel:+4930', undefined],
    ['', undefined],
    [`/${'x'.repeat(600)}`, undefined],
  ])('href %s keeps %p', (href, path) => {
    expect(allowedFingerprint({ matchCount: 1, attributes: { href } }).attributes?.href).toBe(
      path as string,
    )
  })

  test('has bounds', () => {
    const long = 'x'.repeat(600)
    const many = Array.from({ length: 100 }, (_, i) => `c${i}`)
    const bounded = allowedFingerprint({
      selector: long,
      matchCount: 1,
      tag: 'İ'.repeat(600),
      id: long,
      text: `${'x'.repeat(511)}😀`,
      classes: many,
      attributes: Object.fromEntries(many.map(name => [`data-test-${name}`, long])),
      ancestors: many.map(id => ({ id })),
    })
    expect(bounded.selector).toBeUndefined()
    expect(bounded.tag).toHaveLength(512)
    expect(bounded.id).toHaveLength(512)
    expect(bounded.text).toBe('x'.repeat(511))
    expect(bounded.textHash).toBe(textHash(`${'x'.repeat(511)}😀`))
    expect(bounded.classes).toHaveLength(50)
    expect(Object.keys(bounded.attributes!)).toHaveLength(30)
    expect(bounded.attributes!['data-test-c0']).toHaveLength(512)
    expect(bounded.ancestors).toHaveLength(10)
  })

  test('changes nothing when applied twice, or after a round trip through JSON', () => {
    fc.assert(
      fc.property(print, once => {
        expect(allowedFingerprint(once)).toEqual(once)
        expect(allowedFingerprint(JSON.parse(JSON.stringify(once)))).toEqual(once)
      }),
      { numRuns: rounds(500) },
    )
  })

  test('whatever is sent, nothing unknown is kept', () => {
    const known = new Set([...Object.keys(save), 'ariaLabel', 'textHash'])
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...known, 'x'), fc.anything()), sent => {
        const kept = allowedFingerprint(sent)
        expect(Object.keys(kept).filter(key => !known.has(key))).toEqual([])
        expect(compareFingerprints(kept, save, same).score).toBeWithin(0, 1.0001)
      }),
    )
  })
})

describe('compareFingerprints', () => {
  const scoreOf = (seen: Fingerprint, baseline = save) => compareFingerprints(baseline, seen, same)
  const without = (...parts: (keyof Fingerprint)[]): Fingerprint => {
    const rest = { ...save }
    for (const part of parts) delete rest[part]
    return rest
  }

  test('an element that is not there is gone', () => {
    expect(compareFingerprints(save, null, same)).toEqual({ status: 'gone', score: 0, signals: {} })
  })

  const table: [string, Partial<Fingerprint>, number, string][] = [
    ['another id', { id: 'store' }, 0.8, 'drift'],
    ['another test id', { testId: { attr: 'data-testid', value: 'x' } }, 0.7647, 'drift'],
    ['another tag', { tag: 'a' }, 0.9, 'match'],
    ['another role', { role: 'link' }, 0.925, 'match'],
    ['other words', { text: '1234', name: '1234' }, 0.775, 'drift'],
    ['other classes', { classes: ['x'] }, 0.975, 'match'],
    ['another place', { nthOfType: 9, rect: { x: 900, y: 0, width: 1, height: 1 } }, 1, 'match'],
    ['no ancestors', { ancestors: [] }, 0.85, 'match'],
    ['another id and tag', { id: 'x', tag: 'a' }, 0.7, 'drift'],
    ['another id, tag and role', { id: 'x', tag: 'a', role: 'x', name: '' }, 0.55, 'drift'],
    ['no ids, another text', { id: '', testId: undefined, text: '1234' }, 0.45, 'gone'],
  ]
  test.each(table)('%s', (_, change, score, status) => {
    const seen = allowedFingerprint({ ...save, ...change })
    expect(scoreOf(seen)).toMatchObject({ score, status })
  })

  test('a signal absent on both sides leaves the sum; on one side it scores 0', () => {
    const plain = without('id', 'testId', 'ancestors')
    expect(scoreOf(plain, plain)).toMatchObject({ score: 1 })
    expect(scoreOf(plain, plain).signals).not.toHaveProperty('id')
    expect(scoreOf(without('id')).signals.id).toBe(0)
    expect(scoreOf(save, without('id')).signals.id).toBe(0)
    expect(scoreOf(without('id')).score).toBe(0.8)
  })

  test('another locale leaves out every word', () => {
    const german = {
      ...save,
      text: 'Projekt speichern',
      name: 'Projekt speichern',
      attributes: { type: 'submit', title: 'Speichern' },
    }
    const compared = compareFingerprints(save, german, other)
    expect(compared).toMatchObject({ status: 'match', score: 1 })
    expect(compared.signals).not.toHaveProperty('text')
    expect(scoreOf(german).score).toBeLessThan(0.85)
  })

  test('an equal text does not outvote another test id', () => {
    const row = (value: string, text: string): Fingerprint => ({
      matchCount: 1,
      tag: 'a',
      testId: { attr: 'data-testid', value },
      text,
    })
    const deleted = scoreOf(row('row-2', 'Delete'), row('row-1', 'Delete'))
    expect(deleted).toMatchObject({ score: 0.3333, status: 'gone', signals: { text: 1 } })
    fc.assert(
      fc.property(print, print, fc.string(), (baseline, seen, text) => {
        const a = { ...baseline, ...row('row-1', text), tag: baseline.tag, textHash: undefined }
        const b = { ...seen, ...row('row-2', text), tag: seen.tag, textHash: undefined }
        const wordless = compareFingerprints(
          { ...a, text: undefined },
          { ...b, text: undefined },
          same,
        )
        expect(scoreOf(b, a).score).toBeLessThanOrEqual(wordless.score)
        expect(scoreOf(b, a).status).not.toBe('match')
      }),
    )
  })

  test('a text and the hash of a text can be compared', () => {
    const hashed = (text: string) => ({ ...without('text'), textHash: textHash(text) })
    expect(scoreOf(hashed(' Save\n  project ')).signals.text).toBe(1)
    expect(scoreOf(save, hashed('Save project')).signals.text).toBe(1)
    expect(scoreOf(hashed('Save'), hashed('Save')).signals.text).toBe(1)
    expect(scoreOf(hashed('Save projects')).signals.text).toBe(0)
    expect(textHash(' a \n b ')).toBe(
      'c8687a08aa5d6ed2044328fa6a697ab8e96dc34291e8c2034ae8c38e6fcc6d65',
    )
  })

  test('a partial likeness counts in part', () => {
    const text = (seen: string) => scoreOf({ ...save, text: seen }).signals.text!
    expect(text('Save projects')).toBeGreaterThan(0.9)
    expect(text('SAVE PROJECT')).toBe(1)
    expect(text('Save')).toBeWithin(0.3, 0.6)
    expect(text('Quit')).toBe(0)
    const wrapped = [{ tag: 'div' }, ...save.ancestors!]
    expect(scoreOf({ ...save, ancestors: wrapped }).signals.ancestors).toBe(0.8571)
    const reversed = save.ancestors!.toReversed()
    expect(scoreOf({ ...save, ancestors: reversed }).signals.ancestors).toBeLessThan(0.6)
    expect(scoreOf({ ...save, classes: ['btn', 'big'] }).signals.attributes).toBe(0.6667)
    const moved = { x: 60, y: 20, width: 100, height: 40 }
    expect(scoreOf({ ...save, rect: moved }).signals.position).toBe(0.6667)
  })

  test('is 1 with itself, the same both ways, and between 0 and 1', () => {
    fc.assert(
      fc.property(print, print, fc.boolean(), (a, b, sameLocale) => {
        expect(compareFingerprints(a, a, { sameLocale }).score).toBe(1)
        const there = compareFingerprints(a, b, { sameLocale })
        const back = compareFingerprints(b, a, { sameLocale })
        expect(Math.abs(there.score - back.score)).toBeLessThanOrEqual(0.000101)
        expect(there.score).toBeWithin(0, 1.0001)
        for (const signal of Object.values(there.signals)) expect(signal).toBeWithin(0, 1.0001)
      }),
      { numRuns: rounds(500) },
    )
  })
})

describe('suggestSelector', () => {
  const as = (selector: string | undefined, change: Partial<Fingerprint> = {}) =>
    allowedFingerprint({ ...save, selector, ...change })

  const table: [string, Fingerprint[], string | null][] = [
    ['no candidates', [], null],
    ['the one that matches', [as('#a'), as('#b', { id: 'x' })], '#a'],
    ['the best of two that match', [as('#a', { tag: 'a' }), as('#b')], '#b'],
    ['two that are equally good', [as('#a'), as('#b')], null],
    ['two that differ in little', [as('#a'), as('#b', { classes: ['btn'] })], null],
    ['the same one twice', [as('#a'), as('#a')], '#a'],
    ['one that its selector does not match alone', [as('#a', { matchCount: 2 })], null],
    ['one without a selector', [as(undefined)], null],
    ['a better one without a selector', [as('#a', { tag: 'a' }), as(undefined)], null],
    ['as good a one without a selector', [as('#a'), as(undefined)], null],
    ['one that only drifted', [as('#a', { id: 'x' })], null],
    ['one beyond the cap', [...Array(20).fill(as('#a', { id: 'x' })), as('#b')], null],
    ['the last within the cap', [...Array(19).fill(as('#a', { id: 'x' })), as('#b')], '#b'],
  ]
  test.each(table)('%s', (_, candidates, selector) => {
    expect(suggestSelector(save, candidates, same)).toBe(selector)
  })

  test('nothing to compare is no reason to suggest', () => {
    const bare = { matchCount: 1, selector: '#a', nthOfType: 1 }
    expect(suggestSelector(bare, [bare], same)).toBeNull()
  })

  test('is null or one of the candidates, and does not depend on their order', () => {
    fc.assert(
      fc.property(print, fc.array(print, { maxLength: 6 }), word, (baseline, prints, selector) => {
        const candidates = [...prints, { ...baseline, selector }]
        const suggested = suggestSelector(baseline, candidates, same)
        if (suggested !== null) expect(candidates.map(c => c.selector)).toContain(suggested)
        expect(suggestSelector(baseline, candidates.toReversed(), same)).toBe(suggested)
      }),
    )
  })
})
