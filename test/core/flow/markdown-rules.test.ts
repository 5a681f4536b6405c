import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { unsafeLinkIn } from '../../../src/core/flow/markdown-rules.ts'

describe('a link that a page must not follow is found, however it is written', () => {
  test.each([
    '[x](javascript:alert(1))',
    'Before\n\n> - [x](javascript:alert(1)) after',
    '![x](javascript:alert(1))',
    '![x](data:image/svg+xml,<svg/onload=alert(1)>)',
    '[![x](data:text/html,x)](https://a.example)',
    '<javascript:alert(1)>',
    '<vbscript:x>',
    '[x](JaVaScRiPt:alert(1))',
    '[x](<javascript:alert(1)> "Title")',
    '[x](<java\tscript:alert(1)>)',
    '[x](java&Tab;script:alert(1))',
    '[x](java&NewLine;script:alert(1))',
    '[x](&#106;avascript&colon;alert(1))',
    '[x](&#x6A;avascript:alert(1))',
    '[x](javascript\\:alert(1))',
    '[x](<  javascript:alert(1)>)',
    '[x][1]\n\n[1]: javascript:alert(1)',
    '[1]: javascript:alert(1)',
    '[1]:\n  <javascript:alert(1)>\n  "Title"',
    '[x](file:///etc/passwd)',
    '[x](blob:https://a.example/1)',
    '[x](ftp://a.example)',
    '| a |\n| - |\n| [x](javascript:alert(1)) |',
    '<div>\n[x](javascript:alert(1))\n</div>',
    '` [x](javascript:alert(1)) ``',
    '*[x](javascript:alert(1))*',
    '# [x](javascript:alert(1))',
  ])('%j', markdown => {
    expect(unsafeLinkIn(markdown)).toMatch(/^The link ".*" is not one that a page may follow: /)
  })
})

describe('nothing is wrong with', () => {
  test.each([
    '',
    'Note: 10:30, a:b, javascript: is a scheme',
    '[x](https://a.example/?q=a:b) <http://a.example> <ann@a.example>',
    '[x](HTTPS://a.example) [x](mailto:ann@a.example) [x](tel:+49123)',
    '[x](/help) [x](help) [x](#more) [x](?a=b:c) [x](//a.example/x:y) [x]()',
    '![x](/a.png "Title: x") [x](/a:b) [x](</a b>)',
    '[x][1]\n\n[1]: /help "One: two"',
    '`[x](javascript:alert(1))`',
    '```\n[x](javascript:alert(1))\n```',
    '    [x](javascript:alert(1))',
    '\\[x](javascript:alert(1))',
    '[x] (javascript:alert(1))',
  ])('%j', markdown => {
    expect(unsafeLinkIn(markdown)).toBeNull()
  })
})

test('only the harmless schemes are let through', () => {
  const harmless = ['http', 'https', 'mailto', 'tel']
  const scheme = fc
    .oneof(fc.stringMatching(/^[a-z][a-z0-9+.-]{0,12}$/), fc.constantFrom(...harmless))
    .chain(word => fc.mixedCase(fc.constant(word)))
  fc.assert(
    fc.property(scheme, word => {
      const isHarmless = harmless.includes(word.toLowerCase())
      expect(unsafeLinkIn(`[x](${word}:y)`) === null).toBe(isHarmless)
      expect(unsafeLinkIn(`[1]: ${word}:y`) === null).toBe(isHarmless)
    }),
  )
})

test('a link is shown as a page would follow it, without characters that move a cursor', () => {
  expect(unsafeLinkIn('[x](<java\tscript:1>)')).toStartWith('The link "java�script:1" is')
})
