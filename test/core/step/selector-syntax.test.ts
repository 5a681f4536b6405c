import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readSelector } from '../../../src/core/step/selector-syntax.ts'
import { rounds } from '../../support/rounds.ts'

/** The lists were made with Chromium 156: what its `document.querySelector` accepts and rejects. */

const isRead = (selector: string) => 'tree' in readSelector(selector)

function problemOf(selector: string): string {
  const read = readSelector(selector)
  return 'problem' in read ? read.problem : ''
}

describe('what a browser accepts is read', () => {
  test.each([
    'a',
    '*',
    'div > a',
    '#a.b',
    '[x]',
    "[x='y']",
    '[x="y"]',
    '[x="y" i]',
    '[x=y I]',
    '[x|=y]',
    "[x^='y']",
    '[ x = y ]',
    "[data-test='1']",
    "[x='a\\'b']",
    '[x="a]b"]',
    '[*|x]',
    '[|x]',
    '*|a',
    '|a',
    'a, b',
    '#\\31 a',
    '#-a',
    '--a',
    '#a\\:b',
    '.w-\\[13px\\]',
    '.größe',
    '#😀',
    ':hover',
    'A:HOVER',
    ':not(a)',
    ':not(a, b)',
    ':not(a > b)',
    ':is(a, b)',
    ':has(> a)',
    ':has(a, > b)',
    ':is(:has(a))',
    ':not(:has(a))',
    ':has(:is(a))',
    ':nth-child(2n+1)',
    ':nth-child( 2n + 1 )',
    ':nth-child(EVEN)',
    ':nth-child(-n+3)',
    ':nth-child(+3)',
    ':nth-child(N)',
    ':nth-child(2 of a)',
    ':nth-child(2n- 1)',
    ':nth-child(2n-1)',
    ':nth-last-of-type(2n)',
    ':lang(en-US)',
    ':dir(rtl)',
    ':state(x)',
    ':root',
    ':scope > a',
    '\\61',
    'a\\ b',
    ' a ',
    '\na\n',
    '& > a',
    'input:checked + label',
    'my-element',
    'a:-webkit-autofill',
    'a:focus-visible',
    'option:checked',
    'dialog:modal',
    ':popover-open',
    'a:link',
    'a:user-invalid',
    'header [aria-label="Help"]',
    "[x='a\\\nb']",
    'a#b.c[d]:hover',
    'a:hover.b',
    "[x='']",
    '_a',
    'a:nth-child(1n+0)',
    ':nth-child(00)',
    'a+b>c~d',
    'a\u00a0b',
    'a\u200bb',
    '[x=--y]',
    '[x=a-]',
  ])('%j', selector => {
    expect(problemOf(selector)).toBe('')
  })
})

describe('what a browser rejects is a fault', () => {
  test.each([
    '[data-test=1]',
    '[x!=y]',
    '[x==y]',
    '[ns|x]',
    'ns|a',
    'a,',
    'a,,b',
    '>a',
    'a >',
    'a >> b',
    'a || b',
    'a >>> b',
    'a /deep/ b',
    '#1a',
    '.-',
    '#',
    '..a',
    'a.',
    '.1a',
    '.w-1/2',
    '.md:flex',
    '#:r1:',
    ':not()',
    ':not(> a)',
    ':has()',
    ':has(:has(a))',
    ':nth-child(+ 3)',
    ':nth-child(2n 1)',
    ':nth-child()',
    ':nth-child(a)',
    ':nth-of-type(2 of a)',
    ':first',
    ':eq(0)',
    ':contains(x)',
    ':visible',
    ':foo',
    'a:hover(x)',
    ':lang()',
    'a)',
    '(a)',
    'a]',
    'a[',
    'a{',
    'a;',
    'a@b',
    "'a'",
    '//div',
    './a',
    '',
    'a[href^=http://x]',
    'a::after:hover',
    'a:-moz-focusring',
    "[x='a\nb']",
    'a[b]c',
    '**',
    'a*',
    'a:',
    'a::',
    'a: hover',
    '# a',
    '[]',
    '[=x]',
    '[x=]',
    "[x='y' z]",
    '[x y]',
    '0',
    '[x=-]',
    '[x|y=z]',
    ":lang('en')",
  ])('%j', selector => {
    expect(isRead(selector)).toBe(false)
  })
})

describe('what a browser accepts, but closes itself or finds nothing by, is a fault too', () => {
  test.each([
    '[a',
    '[a=b',
    "[a='b'",
    ':not(a',
    'a/*x*/',
    'a /* x */ b',
    'a\\',
    'x-y::part(a)',
    'a::before',
    '::selection',
    ':host',
    'a::-webkit-scrollbar',
    ':is()',
    ':is(:foo)',
    ':is(> a)',
    'a\u0085b',
  ])('%j', selector => {
    expect(isRead(selector)).toBe(false)
  })
})

describe('a problem says what to do', () => {
  test.each([
    ['button:contains("Save")', 'use target.text'],
    ['li:eq(2)', 'use target.nth'],
    ['a:hoover', 'did you mean "hover"?'],
    ['.md:flex', 'write "\\:" for a colon that belongs to a name'],
    ['[data-test=1]', 'from "1]" on: correct it, quote attribute values'],
    ['.w-1/2', 'from "/2" on: correct it'],
    ['div >', 'from ">" on: correct it'],
    ['[data-test="save"', 'Brackets are not paired'],
    ['[data-test="save]', 'A quote is not closed'],
    ['.a)', 'Brackets are not paired'],
    ['a::before', '"::before" is not an element that a step can point at: remove it'],
    ['svg|a', 'Pages have no namespace "svg": remove it and the "|"'],
    ['//button[1]', 'This is an XPath, not a CSS selector'],
  ])('%j', (selector, advice) => {
    expect(problemOf(selector)).toContain(advice)
  })
})

test('reading any text terminates, with a tree or an error', () => {
  const marks = [
    ':not(',
    '(',
    '[',
    '"',
    '\\',
    '#',
    '.',
    ':',
    ' ',
    '--',
    '>',
    ',',
    '*|',
    'a',
    ':is(',
  ]
  const ends = ['', ')', ']', '\u00e9', '{']
  for (const mark of marks) {
    for (const end of ends) isRead((mark.repeat(1_000) + end).slice(0, 1_000))
  }
  const text = fc.array(fc.oneof(fc.constantFrom(...marks, ...ends), fc.string()))
  fc.assert(
    fc.property(text, parts => {
      const read = readSelector(parts.join('').slice(0, 1_000))
      expect('tree' in read || read.problem.length > 0).toBe(true)
    }),
    { numRuns: rounds(2_000) },
  )
})
