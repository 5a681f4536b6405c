import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { UrlRule } from '../../../src/core/flow/flow.ts'
import { pagesOverlap } from '../../../src/core/flow/page-overlap.ts'
import { urlMatches } from '../../../src/core/flow/url-rule.ts'

/** Whether two flows can be on the same page. */

const rule = (text: string): UrlRule => {
  const [match, pattern] = text.split(' ') as [UrlRule['match'], string]
  return { match, pattern }
}

describe('on the same page', () => {
  test.each([
    ['exact /home', 'exact https://app.example.com/home'],
    ['prefix /pro', 'exact /projects/1'],
    ['glob /*/settings', 'glob /projects/*'],
    ['glob /a/*/c', 'glob /*/b/c'],
    ['glob **/edit', 'prefix https://app.example.com/'],
    ['exact /home?tab=1', 'exact /home'],
    ['exact /home#a', 'exact /home?tab=1'],
  ])('%s and %s can be', (one, other) => {
    expect(pagesOverlap([rule(one)], [rule(other)])).toBe(true)
    expect(pagesOverlap([rule(other)], [rule(one)])).toBe(true)
  })

  test.each([
    ['exact /home', 'exact /help'],
    ['exact /home', 'exact /home/'],
    ['prefix /projects/', 'exact /projects'],
    ['glob /*/settings', 'exact /a/b/settings'],
    ['glob /a/*', 'prefix /b'],
    ['prefix https://app.example.com/', 'prefix https://www.example.com/'],
    ['exact /home?tab=1', 'exact /home?tab=2'],
  ])('%s and %s cannot be', (one, other) => {
    expect(pagesOverlap([rule(one)], [rule(other)])).toBe(false)
    expect(pagesOverlap([rule(other)], [rule(one)])).toBe(false)
  })

  test('flows without rules are on every page', () => {
    expect(pagesOverlap([], [])).toBe(true)
    expect(pagesOverlap([], [rule('exact /home')])).toBe(true)
  })
})

test('a page that both match is never missed', () => {
  const part = fc.constantFrom('a', 'b', 'ab', 'a%20b')
  const path = fc.array(part, { maxLength: 3 }).map(parts => `/${parts.join('/')}`)
  const query = fc.constantFrom('', '?t=1', '#x', '?t=1#x')
  const address = fc
    .tuple(fc.constantFrom('https://app.example.com', 'https://b.example.com'), path, query)
    .map(texts => texts.join(''))
  const glob = fc
    .array(fc.constantFrom('a', 'b', '/', '*', '**', '/a'), { maxLength: 4 })
    .map(parts => `/${parts.join('')}`.replaceAll('//', '/').replace(/\*{3,}/g, '**'))
  const anyRule: fc.Arbitrary<UrlRule> = fc.oneof(
    fc.record({
      match: fc.constantFrom('exact' as const, 'prefix' as const),
      pattern: fc.oneof(
        address,
        fc.tuple(path, query).map(texts => texts.join('')),
      ),
    }),
    fc.record({ match: fc.constant('glob' as const), pattern: glob }),
    fc.constant({ match: 'glob' as const, pattern: 'https://*.example.com/**' }),
    fc.record({
      match: fc.constant('regex' as const),
      pattern: fc.constantFrom(
        '/a+',
        '/ab?',
        '/(a|b)/.*',
        '^/a$',
        '/a/|/b',
        'https://b\\.e[a-z.]+/a',
        '/a\\?t=\\d',
      ),
    }),
  )
  let both = 0
  const law = fc.property(anyRule, anyRule, address, (one, other, at) => {
    const url = new URL(at)
    if (!urlMatches(one, url) || !urlMatches(other, url)) return
    both++
    expect(pagesOverlap([one], [other])).toBe(true)
  })
  fc.assert(law, { numRuns: 3_000 })
  expect(both).toBeGreaterThan(10)
})
