import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readFlowFile } from '../../../../src/core/flow/file.ts'
import type { FlowDefinition } from '../../../../src/core/flow/flow.ts'
import { directionOf, inLanguage, servingTags } from '../../../../src/core/flow/texts/language.ts'

const flowOf = (yaml: string): FlowDefinition => {
  const { flows, problems } = readFlowFile(yaml)
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  return flows[0]!
}

const welcome = () =>
  flowOf(`
key: welcome
title: Welcome
locale: en
steps:
  - key: hello
    title: Hello
    body: Nice to see you.
    buttons: [{ label: Next, action: next }, { label: Not now, action: dismiss }]
  - key: constructor
    title: Build
texts:
  de:
    title: Willkommen
    steps:
      hello: { title: Hallo, body: Schön., buttons: [Weiter, Jetzt nicht] }
  de-CH:
    steps: { hello: { title: Grüezi, buttons: [null, Nöd jetzt] } }
  fr:
    steps: { hello: { title: Bonjour } }
`)

describe('the tags that serve a wanted language', () => {
  test.each([
    ['de-CH', ['en', 'de', 'de-CH'], ['de-CH', 'de']],
    ['de-CH-1996', ['de', 'de-CH'], ['de-CH', 'de']],
    ['DE', ['de'], ['de']],
    ['en', ['en-US', 'de'], ['en-US']],
    ['pt-PT', ['pt-BR', 'pt'], ['pt', 'pt-BR']],
    ['zh-TW', ['zh', 'zh-Hant'], ['zh-Hant', 'zh']],
    ['zh-CN', ['zh-Hant', 'zh'], ['zh']],
    ['sr-Latn', ['sr-Cyrl'], []],
    ['iw', ['he'], ['he']],
    ['no', ['nb'], ['nb']],
    ['fr', ['de'], []],
    ['', ['de'], []],
    ['not a tag', ['de'], []],
  ])('%s of %p', (wanted, tags, expected) => {
    expect(servingTags(wanted, tags)).toEqual(expected)
  })

  const tags = 'de de-CH de-AT en en-US zh zh-Hant zh-TW pt pt-BR sr sr-Latn'.split(' ')
  const tag = fc.constantFrom(...tags)

  test('the tag itself comes first, and what RFC 4647 looks up is always among them', () => {
    fc.assert(
      fc.property(tag, fc.uniqueArray(tag), (wanted, tags) => {
        const serving = servingTags(wanted, tags)
        if (tags.includes(wanted)) expect(serving[0]).toBe(wanted)
        const ranges = wanted.split('-').map((_, i, all) => all.slice(0, all.length - i).join('-'))
        const lookedUp = ranges.find(range => tags.includes(range))
        if (lookedUp) expect(serving).toContain(lookedUp)
        expect(serving.every(one => one.split('-')[0] === wanted.split('-')[0])).toBe(true)
        expect(new Set(serving).size).toBe(serving.length)
      }),
    )
  })
})

describe('a flow in a language', () => {
  const told = (...wanted: string[]) => {
    const { flow, languageOf } = inLanguage(welcome(), wanted)
    const [hello, build] = flow.steps
    return {
      texts: [flow.title, hello!.title, hello!.body, ...hello!.buttons.map(({ label }) => label)],
      build: build!.title,
      languages: [languageOf(), languageOf(hello), languageOf(build)],
    }
  }
  const english = ['Welcome', 'Hello', 'Nice to see you.', 'Next', 'Not now']

  test('is shown text by text: in the wanted tag, else the next one, else its own language', () => {
    expect(told('de-CH')).toEqual({
      texts: ['Willkommen', 'Grüezi', 'Schön.', 'Weiter', 'Nöd jetzt'],
      build: 'Build',
      languages: ['de', 'de-CH', 'en'],
    })
  })

  test('goes by the first wanted language that it has, and mixes in no other but its own', () => {
    expect(told('fr', 'de').texts).toEqual([
      'Welcome',
      'Bonjour',
      'Nice to see you.',
      'Next',
      'Not now',
    ])
    expect(told('ja', 'de').texts[1]).toBe('Hallo')
    expect(told('en-GB', 'de').texts).toEqual(english)
    expect(told('ja').texts).toEqual(english)
    expect(told().texts).toEqual(english)
  })

  test('differs in nothing but its texts, and leaves the given flow unchanged', () => {
    const flow = welcome()
    const before = structuredClone(flow)
    const { flow: shown } = inLanguage(flow, ['de'])
    expect(flow).toEqual(before)
    expect(shown.steps.map(({ key, kind }) => [key, kind])).toEqual(
      flow.steps.map(({ key, kind }) => [key, kind]),
    )
    expect(shown.steps[0]!.target).toBe(flow.steps[0]!.target)
    expect(shown.steps[0]!.buttons[0]!.action).toBe('next')
  })

  test('without texts, as older releases stored it, is returned as it is', () => {
    const { texts: _, locale: __, ...old } = welcome()
    const { flow, languageOf } = inLanguage(old, ['de'])
    expect(flow).toBe(old)
    expect(languageOf()).toBeNull()
  })
})

test.each([
  ['ar', 'rtl'],
  ['he', 'rtl'],
  ['fa-AF', 'rtl'],
  ['ur', 'rtl'],
  ['az-Arab', 'rtl'],
  ['az', 'ltr'],
  ['de', 'ltr'],
  ['nonsense tag', 'ltr'],
] as const)('%s is written %s', (tag, direction) => {
  expect(directionOf(tag)).toBe(direction)
})
