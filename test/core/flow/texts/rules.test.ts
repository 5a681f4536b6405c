import { describe, expect, test } from 'bun:test'
import { readFlowFile } from '../../../../src/core/flow/file.ts'
import { flowText } from '../../../../src/core/flow/text.ts'
import { localeProblem } from '../../../../src/core/flow/texts/locale.ts'
import { maxLocales } from '../../../../src/core/flow/texts/shape.ts'

const flow = (texts: string, locale = 'locale: en') => `
key: welcome
${locale}
steps:
  - { key: hello, title: Hello, body: Hi, buttons: [{ label: Next, action: next }] }
texts: ${texts}
`
const whole = 'steps: { hello: { title: Hallo, body: Hi, buttons: [Weiter] } }'

const problemsOf = (text: string) =>
  readFlowFile(text).problems.map(({ severity, code, path }) => [severity, code, path].join(' '))

describe('texts of a flow', () => {
  test.each([
    ['are right where all are there', `{ de: { ${whole} } }`, []],
    ['may be none yet', '{}', []],
    ['warn of what is missing', '{ de: {} }', ['warning missing_text /texts/de']],
    [
      'warn of a step that is not there, of a field and of a button too many',
      '{ de: { steps: { hello: { title: a, body: b, buttons: [c, d] }, helo: { title: x } }, title: T, items: { a: { title: b } } } }',
      [
        'warning superfluous_text /texts/de/steps/hello/buttons/1',
        'warning superfluous_text /texts/de/steps/helo',
        'warning superfluous_text /texts/de/items/a',
      ],
    ],
    ['are not the flow’s own', `{ en: { ${whole} } }`, ['error same_locale /texts/en']],
    ['need a language', `{ jp: { ${whole} } }`, ['error unknown_locale /texts/jp']],
    ['are not missing in what is no language', '{ jp: {} }', ['error unknown_locale /texts/jp']],
    [
      'lead nowhere that a page must not go',
      '{ de: { steps: { hello: { title: a, body: "[x](javascript:alert(1))", buttons: [c] } } } }',
      ['error unsafe_link /texts/de/steps/hello/body'],
    ],
    [
      'have no fields but texts',
      '{ de: { steps: { hello: { kind: modal } } } }',
      ['error unknown_field /texts/de/steps/hello/kind'],
    ],
    [
      'are not empty',
      '{ de: { steps: { hello: { title: "" } } } }',
      ['error invalid_value /texts/de/steps/hello/title'],
    ],
    ['are named by tags', '{ "d e": {} }', ['error invalid_value /texts/d e']],
    ['are mappings', '{ de: Hallo }', ['error invalid_value /texts/de']],
  ])('%s', (_, texts, expected) => {
    expect(problemsOf(flow(texts))).toEqual(expected)
  })

  test('have the same length limits as the texts that they translate', () => {
    const title = 'x'.repeat(201)
    expect(problemsOf(flow(`{ de: { steps: { hello: { title: ${title} } } } }`))).toEqual([
      'error invalid_value /texts/de/steps/hello/title',
    ])
  })

  test('require the flow to name its own language', () => {
    expect(problemsOf(flow(`{ de: { ${whole} } }`, 'priority: 0'))).toEqual([
      'error missing_locale /locale',
    ])
    expect(problemsOf('key: a\nlocale: en_US\nsteps: [{ key: a, title: b }]')).toEqual([
      'error unknown_locale /locale',
    ])
  })

  test(`are in at most ${maxLocales} languages`, () => {
    const tags = Array.from({ length: maxLocales + 1 }, (_, i) => `"en-${100 + i}": {}`)
    expect(problemsOf(flow(`{ ${tags.join(', ')} }`))).toEqual(['error invalid_value /texts'])
  })

  test('have one order in the text of a flow, however they were written', () => {
    const one = readFlowFile(flow(`{ fr: { ${whole} }, de: { ${whole} } }`)).flows[0]!
    const other = readFlowFile(flow(`{ de: { ${whole} }, fr: { ${whole} } }`)).flows[0]!
    expect(flowText(one)).toBe(flowText(other))
    expect(readFlowFile(flowText(one)).flows).toEqual([one])
  })
})

test.each<[string, string | null]>([
  ...['en', 'de-CH', 'pt-BR', 'zh-Hant', 'sr-Latn-RS', 'nb', 'fil', 'es-419'].map(
    (tag): [string, null] => [tag, null],
  ),
  ['en_US', 'en-US'],
  ['EN', 'en'],
  ['zh-hant', 'zh-Hant'],
  ['jp', 'ja'],
  ['jp-jp', 'ja-JP'],
  ['jp-yy', 'ja'],
  ['cz', 'cs'],
  ['ua', 'uk'],
  ['deu', 'de'],
  ['iw', 'he'],
  ['german', 'de'],
  ['de-XX', 'de'],
])('the tag %s: did you mean %p', (tag, meant) => {
  const fault = localeProblem(tag)
  if (meant === null) expect(fault).toBeNull()
  else expect(fault).toContain(`did you mean "${meant}"?`)
})

test('a tag like no language gets no guess', () => {
  expect(localeProblem('xx-yy-zz')).toBe(
    '"xx-yy-zz" is not a language: write a BCP 47 tag such as de, pt-BR or zh-Hant',
  )
})
