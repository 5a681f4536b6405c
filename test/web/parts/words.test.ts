import { describe, expect, test } from 'bun:test'
import { byLanguage, wordsFor } from '../../../src/web/snippet/stage/words.ts'

/** The snippet's own words. */

const { en, ...others } = byLanguage

test('are there in twenty languages or more', () => {
  const languages = new Set(Object.keys(byLanguage).map(tag => tag.split('-')[0]))
  expect(languages.size).toBeGreaterThanOrEqual(20)
  for (const tag of Object.keys(byLanguage)) expect(Intl.getCanonicalLocales(tag)).toEqual([tag])
})

describe.each(Object.entries(others))('%s', (_, words) => {
  test('has all of them, in its own translation', () => {
    expect(Object.keys(words)).toEqual(Object.keys(en!))
    for (const [name, word] of Object.entries(words)) {
      if (typeof word !== 'string') continue
      expect(word.trim(), name).toBe(word)
      expect(word, name).not.toBe('')
      if (word.length > 6) expect(word, name).not.toBe(en![name as 'next'])
    }
    expect(words.of(2, 5)).toMatch(/^2 \S+ 5$/)
    expect(new Set([words.next, words.back, words.done, words.skip, words.close]).size).toBe(5)
  })
})

test.each([
  ['de-AT', 'de', 'en'],
  ['pt-PT', 'pt-PT', 'en'],
  ['pt-BR', 'pt', 'en'],
  ['zh-TW', 'zh-Hant', 'en'],
  ['zh-CN', 'zh', 'en'],
  ['no', 'nb', 'en'],
  ['iw', 'he', 'en'],
  ['cy', 'fr', 'fr'],
  [undefined, 'fr', 'fr-CA'],
  [undefined, 'en', 'tlh'],
])('for the language %p those in %s are used on a page in %s', (language, tag, page) => {
  const told = { document: { documentElement: { lang: page } }, navigator: { language: 'ja' } }
  expect(wordsFor(told as unknown as Window, language)).toBe(byLanguage[tag]!)
})
