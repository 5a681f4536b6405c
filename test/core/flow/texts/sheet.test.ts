import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { js2xliff, xliff2js } from 'xliff'
import { readFlowFile } from '../../../../src/core/flow/file.ts'
import type { FlowDefinition } from '../../../../src/core/flow/flow.ts'
import { importTexts, withText } from '../../../../src/core/flow/texts/import.ts'
import { SheetProblem, sheetFormats, sheetOf } from '../../../../src/core/flow/texts/sheet.ts'
import { readSheet, sheetText } from '../../../../src/core/flow/texts/sheet-file.ts'
import { textUnits } from '../../../../src/core/flow/texts/units.ts'

const flow: FlowDefinition = readFlowFile(`
key: welcome
locale: en
title: Welcome
steps:
  - key: hello.there
    title: Hello
    body: |
      Read **this** & <that>.

      Twice.
    buttons: [{ label: Next, action: next }, { label: Later, action: dismiss }]
checklist:
  items: [{ key: invite, title: Invite, description: Your *team* }]
`).flows[0]!
const units = textUnits(flow)
const ids = [
  'title',
  'steps.hello:there.title',
  'steps.hello:there.body',
  'steps.hello:there.buttons.0',
  'steps.hello:there.buttons.1',
  'items.invite.title',
  'items.invite.description',
]

test('every text has a name that says where it stands', () => {
  expect(units.map(({ id }) => id)).toEqual(ids)
  expect(units.map(({ pointer }) => pointer)).toEqual([
    '/title',
    '/steps/0/title',
    '/steps/0/body',
    '/steps/0/buttons/0/label',
    '/steps/0/buttons/1/label',
    '/checklist/items/0/title',
    '/checklist/items/0/description',
  ])
})

/** Texts that flows may have, with characters that files have to handle with care. */
const anyText = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    fc.constantFrom(
      'a\r\nb',
      ']]>',
      '&amp;',
      '<b>"x"</b>',
      '\u202eabc',
      ' a ',
      'a\n\n b',
      '\u0085',
      '\u{e0041}x',
    ),
  )
  .map(text => text.toWellFormed().replaceAll('\0', ''))
  .filter(text => text.trim() !== '')
const anyTexts = fc
  .array(fc.option(anyText), { minLength: units.length, maxLength: units.length })
  .map(texts => units.reduce((told, { path }, i) => withText(told, path, texts[i] ?? null), {}))

describe.each(sheetFormats)('%s', format => {
  const isExact = (text: string) =>
    format === 'json' || !/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(text)

  test('what is exported and imported is the same', () => {
    fc.assert(
      fc.property(anyTexts, texts => {
        const told = { ...flow, texts: { de: texts } }
        const sheet = readSheet(sheetText(sheetOf(told, 'de'), format))
        const onto = { ...flow, texts: { de: {} } }
        const found = importTexts(onto, sheet, { locale: 'de' })
        if (
          Object.values(sheetOf(told, 'de').entries).every(({ target }) => isExact(target ?? ''))
        ) {
          expect(found.texts).toEqual(texts)
        }
        expect([...found.outdated, ...found.superfluous]).toEqual([])
        const again = importTexts({ ...flow, texts: { de: found.texts } }, sheet, { locale: 'de' })
        expect(again.changed).toEqual([])
      }),
    )
  })
})

describe('other programs', () => {
  const told = { ...flow, texts: { de: withText({}, units[1]!.path, 'Hallo & <du>') } }

  test('read XLIFF 2.0 as it was written', async () => {
    const read = await xliff2js(sheetText(sheetOf(told, 'de'), 'xliff'))
    expect([read.sourceLanguage, read.targetLanguage]).toEqual(['en', 'de'])
    const texts = read.resources.welcome!
    expect(Object.keys(texts)).toEqual(ids)
    expect(texts['steps.hello:there.title']).toMatchObject({
      source: 'Hello',
      target: 'Hallo & <du>',
    })
    // This reader drops trailing line feeds, as some translators' programs do.
    expect(texts['steps.hello:there.body']?.source).toBe('Read **this** & <that>.\n\nTwice.')
    expect(texts['steps.hello:there.body']?.target).toBeUndefined()
  })

  test('write XLIFF, and it is read', async () => {
    const resources = { welcome: { title: { source: 'Welcome', target: 'Willkommen <hier>' } } }
    const text = await js2xliff({ sourceLanguage: 'en', targetLanguage: 'de', resources })
    const { changed } = importTexts(flow, readSheet(text))
    expect(changed.map(({ unit, after }) => [unit.id, after])).toEqual([
      ['title', 'Willkommen <hier>'],
    ])
  })

  const xliff = (units: string, attributes = 'srcLang="en" trgLang="de"') =>
    `<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" ${attributes}><file id="welcome">${units}</file></xliff>`
  const entriesOf = (units: string) =>
    readSheet(xliff(units)).entries.map(({ source, target }) => [source, target])

  test.each([
    [
      'segments of a unit stand one after another, with what is between them',
      '<unit id="a"><segment><source>A.</source><target>B.</target></segment><ignorable><source> </source></ignorable><segment><source>C.</source><target>D.</target></segment></unit>',
      [['A. C.', 'B. D.']],
    ],
    [
      'marks around words are left out, and proposals',
      '<unit id="a"><mtc:matches xmlns:mtc="m"><mtc:match><source>x</source><target>y</target></mtc:match></mtc:matches><segment><source>A <mrk id="1">b</mrk></source><target><pc id="1">B</pc> <![CDATA[<c>]]></target></segment></unit>',
      [['A b', 'B <c>']],
    ],
    [
      'an empty translation is none',
      '<unit id="a"><segment><source>A</source><target> </target></segment></unit>',
      [['A', null]],
    ],
    [
      'groups are looked into',
      '<group id="g"><unit id="a"><segment><source>A</source></segment></unit></group>',
      [['A', null]],
    ],
  ])('%s', (_, units, expected) => {
    expect(entriesOf(units)).toEqual(expected)
  })

  const unit =
    '<unit id="title"><segment><source>Welcome</source><target>W</target></segment></unit>'

  test.each([
    ['a document type', `<!DOCTYPE a [<!ENTITY b "c">]>${xliff(unit)}`, 'document type'],
    [
      'an entity',
      xliff('<unit id="a"><segment><source>&b;</source></segment></unit>'),
      'undefined entity',
    ],
    ['a unit twice', xliff(unit + unit), 'is repeated'],
    [
      'a code in a text',
      xliff('<unit id="a"><segment><source>A<ph id="1"/></source></segment></unit>'),
      '<ph> is not allowed',
    ],
    [
      'half a translation',
      xliff(
        '<unit id="a"><segment><source>A</source><target>B</target></segment><segment><source>C</source></segment></unit>',
      ),
      'partly translated',
    ],
    ['a unit within another', xliff('<unit id="a"><unit id="b"/></unit>'), 'is nested in "a"'],
    [
      'a unit within a text',
      xliff('<unit id="a"><segment><source><unit id="b"/><ph/></source></segment></unit>'),
      'is nested in "a"',
    ],
    ['too deep', xliff('<group>'.repeat(60)), 'levels deep'],
    ['another file', '<html></html>', 'not XLIFF'],
    ['half a file', xliff(unit).slice(0, -10), 'invalid XML'],
    ['too long', ' '.repeat(4_194_305), 'over 4 MiB'],
    ['neither', 'title: Hallo', 'neither valid XLIFF'],
    ['a list', '[]', 'a JSON object'],
    ['nested JSON', '{"steps": {}}', 'must be a text'],
  ])('%s is rejected with a message', (_, text, words) => {
    expect(() => readSheet(text)).toThrow(words)
  })

  test('whatever a file is made of, it is read or rejected with a message', () => {
    const names = ['file', 'unit', 'trans-unit', 'segment', 'ignorable', 'source', 'target', 'mrk']
    const attributes = ['', ' id="a"', ' id=""', ' id="__proto__"']
    const tag = fc
      .tuple(
        fc.constantFrom('<', '<', '</'),
        fc.constantFrom(...names, 'cp', 'ph', 'note', 'xliff'),
        fc.constantFrom(...attributes),
        fc.constantFrom('>', '>', '/>'),
      )
      .map(([open, name, more, close]) =>
        open === '</' ? `</${name}>` : open + name + more + close,
      )
    const part = fc.oneof(
      { weight: 4, arbitrary: tag },
      fc.constantFrom('A', ' ', '&lt;', '&#x110000;', '&#xd800;', '&x;', '<![CDATA[', ']]>', '\0'),
    )
    // Most files that are put together at random end at the first tag that is not closed.
    const nested: fc.Arbitrary<string> = fc.letrec<{ element: string }>(tie => ({
      element: fc
        .tuple(
          fc.constantFrom(...names, 'cp', 'note'),
          fc.constantFrom(...attributes),
          fc.array(fc.oneof({ maxDepth: 5 }, fc.constantFrom('A', ' '), tie('element')), {
            maxLength: 3,
          }),
        )
        .map(([name, more, inside]) => `<${name}${more}>${inside.join('')}</${name}>`),
    })).element
    const isRejected = (text: string) => {
      try {
        readSheet(text)
      } catch (error) {
        expect(error).toBeInstanceOf(SheetProblem)
      }
    }
    fc.assert(fc.property(fc.array(part), parts => isRejected(xliff(parts.join('')))))
    fc.assert(
      fc.property(fc.array(nested, { maxLength: 3 }), parts => isRejected(xliff(parts.join('')))),
      { numRuns: 1_000 },
    )
  })

  test.each([
    ['another flow', { flow: 'other' }, 'of the flow "other"'],
    ['another source', { from: 'fr' }, 'translated from "fr"'],
    ['no language', { to: null }, 'does not name its language'],
    ['a language that is none', { to: 'jp' }, 'did you mean "ja"'],
    ['the flow’s own', { to: 'en' }, 'is written in "en"'],
  ])('a file of %s is rejected', (_, change, words) => {
    expect(() => importTexts(flow, { ...sheetOf(flow, 'de'), ...change })).toThrow(words)
  })
})

test('a translation of another text is outdated, and one of a removed text is superfluous', () => {
  const sheet = sheetOf({ ...flow, texts: { de: withText({}, ['title'], 'Willkommen') } }, 'de')
  sheet.entries.push({ id: 'steps.hello:there.titel', source: 'x', target: 'y' })
  const now = { ...flow, title: 'Hello again' }
  const skipped = importTexts(now, sheet)
  expect(skipped.changed).toEqual([])
  expect(skipped.outdated.map(({ unit, source }) => [unit.id, source])).toEqual([
    ['title', 'Welcome'],
  ])
  expect(skipped.superfluous).toEqual([
    { id: 'steps.hello:there.titel', hint: ': did you mean "steps.hello:there.title"?' },
  ])
  const taken = importTexts(now, sheet, { takesOutdated: true })
  expect(taken.texts).toEqual({ title: 'Willkommen' })
})
