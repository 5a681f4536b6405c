import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readRegex } from '../../../src/core/flow/regex-program.ts'
import { regexProblem } from '../../../src/core/flow/url-regex.ts'
import { urlMatches } from '../../../src/core/flow/url-rule.ts'
import { rounds } from '../../support/rounds.ts'

const app = 'https://app.example.com'

test.each([
  ['/projects/\\d+', `${app}/projects/12`, true],
  ['/projects/\\d+', `${app}/projects/12/edit`, false],
  ['/projects/\\d+', `${app}/projects/new`, false],
  ['^/projects/\\d+$', `${app}/projects/12?tab=1#top`, true],
  ['/(en|de)?/?pricing', `${app}/pricing`, true],
  ['/(en|de)?/?pricing', `${app}/de/pricing`, true],
  ['/(en|de)?/?pricing', `${app}/fr/pricing`, false],
  ['/[^/]{2,3}/x', `${app}/abc/x`, true],
  ['/[^/]{2,3}/x', `${app}/abcd/x`, false],
  ['/[\\w.-]+', `${app}/a.b-c_d`, true],
  ['/a.c', `${app}/a/c`, true],
  ['/a\\.c', `${app}/abc`, false],
  ['/search\\?q=\\w+', `${app}/search?q=cairn`, true],
  ['/search\\?q=\\w+', `${app}/search`, false],
  ['/#/tasks/\\d+', `${app}/#/tasks/7`, true],
  ['https://[a-z]+\\.example\\.com/.*', `${app}/x/y`, true],
  ['https://[a-z]+\\.example\\.com/.*', 'https://app.example.org/x', false],
  ['/%C3%BCber', `${app}/über`, true],
  ['/a|/b', `${app}/b`, true],
  ['.*', `${app}/anything/at/all`, true],
  ['/(', `${app}/(`, false],
] as const)('%s matches %s: %p', (pattern, url, is) => {
  expect(urlMatches({ match: 'regex', pattern }, new URL(url))).toBe(is)
})

describe('a pattern is rejected with its place and what to write instead', () => {
  test.each([
    ['(a)\\1', 'reference to a group', 4],
    ['a(?=b)', 'Lookahead or lookbehind', 2],
    ['a(?<!b)c', 'Lookahead or lookbehind', 2],
    ['(?<name>a)', 'This kind of group', 1],
    ['/(a', 'not closed: add ")"', 2],
    ['/a)', 'remove it', 3],
    ['/[a', 'not closed: add "]"', 2],
    ['/[]', 'class is empty', 2],
    ['/[z-a]', 'from a lower character', 2],
    ['*a', 'write \\*', 1],
    ['a**', 'remove one', 3],
    ['a{2', 'write \\{', 2],
    ['a{3,2}', 'swap them', 2],
    ['a$b', 'write \\$', 3],
    ['a^b', 'write \\^', 2],
    ['a\\bc', 'only \\d', 2],
    ['a]', 'write \\]', 2],
  ])('%s', (pattern, message, place) => {
    expect(regexProblem(pattern)).toContain(message)
    expect(regexProblem(pattern)).toEndWith(`(character ${place})`)
  })

  test.each([
    ['/über', 'write %C3%BC'],
    [`/${'a'.repeat(200)}`, 'at most 200 characters'],
    ['((a{100}){100}){100}', 'use smaller numbers'],
  ])('%s', (pattern, message) => expect(regexProblem(pattern)).toContain(message))
})

/** Patterns of all that is accepted, and some that are not. */
const pattern = fc.letrec<{ part: string }>(tie => ({
  part: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('a', 'b', '/', '.', '\\.', '\\d', '\\W', '[ab]', '[^a/]', '[a-c\\d-]', '\\('),
    fc.tuple(tie('part'), tie('part')).map(([a, b]) => a + b),
    fc.tuple(tie('part'), tie('part')).map(([a, b]) => `(${a}|${b})`),
    fc.tuple(tie('part'), tie('part')).map(([a, b]) => `(?:${a}|${b}|)`),
    fc
      .tuple(tie('part'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,}', '*?', '+?'))
      .map(([a, times]) => `(${a})${times}`),
    fc.tuple(tie('part'), fc.constantFrom('^', '$', '*', ')', '[')).map(([a, odd]) => a + odd),
  ),
})).part

test('what is accepted means what it means in JavaScript', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '/', '.', '('), maxLength: 8 })
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 5, maxLength: 5 }), (source, texts) => {
      fc.pre(regexProblem(source) === null)
      const program = readRegex(source)
      const own = new RegExp(`^(?:${source})$`)
      for (const one of texts) expect(program.matches(one)).toBe(own.test(one))
    }),
    { numRuns: rounds(500) },
  )
})

test('a text is compared in linear time, whatever the pattern', () => {
  const hard = fc.constantFrom('(a*)*b', '(a|a)*b', '(a|ab)*(c|bcd)*', '(.*a){20}', '(a?){60}a{60}')
  fc.assert(
    fc.property(fc.oneof(pattern, hard), fc.constantFrom('a', 'ab', 'a/'), (source, unit) => {
      fc.pre(regexProblem(source) === null)
      const program = readRegex(source)
      const text = unit.repeat(2_000)
      expect(program.run(text).visits).toBeLessThanOrEqual(program.size * (text.length + 1))
    }),
    { numRuns: rounds(100) },
  )
})

test('any text is either accepted or rejected with a sentence', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), source => {
      const problem = regexProblem(source)
      if (problem === null) expect(() => new RegExp(source)).not.toThrow()
      else expect(problem.length).toBeGreaterThan(10)
    }),
    { numRuns: rounds(1_000) },
  )
})
