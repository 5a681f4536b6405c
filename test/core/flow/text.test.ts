import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import type { FlowDefinition } from '../../../src/core/flow/flow.ts'
import { minimalFlow } from '../../../src/core/flow/minimal.ts'
import { flowText } from '../../../src/core/flow/text.ts'
import { byKey, rightFlow } from '../../support/any-flow.ts'
import { rounds } from '../../support/rounds.ts'

const lines = (...all: string[]) => `${all.join('\n')}\n`

/** The flow that a text holds, which must have no errors. */
function read(text: string): FlowDefinition {
  const { flows, problems } = readFlowFile(text)
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  return flows[0]!
}

describe('laws', () => {
  test('a written definition is read back exactly', () => {
    fc.assert(
      fc.property(rightFlow, flow => {
        expect(readFlowFile(flowText(flow)).flows).toEqual([flow])
      }),
      { numRuns: rounds(150) },
    )
  })

  test('so are several definitions, as documents or as JSON', () => {
    fc.assert(
      fc.property(byKey(rightFlow), flows => {
        fc.pre(flows.length > 0)
        const documents = flows.map(flowText).join('---\n')
        expect(readFlowFile(documents).flows).toEqual(flows)
        const json = JSON.stringify(flows.map(minimalFlow))
        expect(readFlowFile(json, { format: 'json' }).flows).toEqual(flows)
      }),
      { numRuns: rounds(50) },
    )
  })

  test('any text at all survives, wherever it stands', () => {
    const unit = fc.constantFrom(
      ...['\n', '\n', ' ', '  ', '\t', '\r', '\u0085', '\u2028', '\ufeff', '\u202e', '\u007f'],
      ...['a', 'word', '#', ': ', '- ', '---', '...', '|', '>', '"', "'", '\\', '{', ']', ',', '%'],
      ...['&a', '*a', '!t', '?', '@', '`', '~', 'null', 'true', 'yes', '0x1F', '1e3', '<<', '😀'],
    )
    const anyText = fc
      .array(unit, { minLength: 1, maxLength: 12 })
      .map(units => units.join(''))
      .chain(text => fc.constantFrom(text, `${'some words before '.repeat(8)}${text}`))
    fc.assert(
      fc.property(anyText, text => {
        const flow = read('key: a\nsteps: [{ key: s, buttons: [{ label: x, action: next }] }]')
        const label = text.slice(0, 100).toWellFormed()
        const rule = { attribute: label, op: 'in' as const, value: [text, label] }
        const step = {
          ...flow.steps[0]!,
          body: text,
          buttons: [{ label, action: 'next', href: null }],
        }
        const written: FlowDefinition = {
          ...flow,
          name: text.slice(0, 200).toWellFormed(),
          targeting: { urls: [], audience: { match: 'all', rules: [rule] } },
          steps: [step as FlowDefinition['steps'][number]],
        }
        expect(readFlowFile(flowText(written)).flows).toEqual([written])
      }),
      { numRuns: rounds(1_000) },
    )
  })

  test('written text can neither move a cursor nor reverse the text around it', () => {
    fc.assert(
      fc.property(rightFlow, flow => {
        expect(flowText(flow).replaceAll(/[\n\t]/g, '')).not.toMatch(
          /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u,
        )
      }),
    )
  })
})

describe('the text of a flow', () => {
  test('leaves out what would be filled in anyway, derived defaults too', () => {
    const written = '{ key: a, name: a, kind: tour, steps: [{ key: s, body: "" }], theme: null }'
    expect(flowText(read(written))).toBe(lines('key: a', 'steps:', '  - key: s'))
    const checklist = 'key: a\nchecklist:\n  items:\n    - key: i\n      title: Do\n'
    expect(flowText(read(`${checklist}kind: checklist\n`))).toBe(checklist)
    const news = 'key: a\nkind: announcement\nsteps:\n  - key: s\n'
    expect(flowText(read(news))).toBe(news)
  })

  test('leaves out fields that a definition of an earlier release does not have', () => {
    const { theme, ...older } = read('key: a\npriority: 3\nsteps: [{ key: s }]')
    expect(flowText(older as FlowDefinition)).toBe(
      lines('key: a', 'priority: 3', 'steps:', '  - key: s'),
    )
  })

  test('has the order of the schema, whatever the author’s was', () => {
    expect(flowText(read('steps: [{ title: S, key: s }]\npriority: 1\nkey: a'))).toBe(
      lines('key: a', 'priority: 1', 'steps:', '  - key: s', '    title: S'),
    )
  })

  test('reads as an author would write it', () => {
    const text = lines(
      'key: welcome',
      'name: Welcome aboard',
      'targeting:',
      '  urls:',
      '    - { match: prefix, pattern: /projects }',
      '  audience:',
      '    rules:',
      '      - { attribute: role, op: in, value: [owner, "1", 1, "a, b"] }',
      'theme: { accent: "#0b7285", radius: 10 }',
      'steps:',
      '  - key: hello',
      '    title: "Hello: you"',
      '    body: |',
      '      Two',
      '',
      '      - paragraphs',
      '    target: { selector: \'[data-tour="new"]\' }',
      '    buttons:',
      '      - { label: Go, action: next }',
      '',
      '  - key: long',
      '    body: >-',
      `      ${'word '.repeat(15).trim()}`,
      '      word',
      '    buttons:',
      '      - label: Read the guide',
      '        action: link',
      `        href: https://harbor.example/${'x'.repeat(50)}`,
      '      - label: Done',
      '        action: complete',
    )
    expect(flowText(read(text))).toBe(text)
  })

  test.each([
    ['a space before it', ' a\nb'],
    ['a line of blanks', 'a\n  \nb'],
    ['empty lines at its end', 'a\n\n'],
    ['a carriage return', 'a\r\nb'],
    ['a character that turns text', 'a\u202eb\nc'],
  ])('has a text with %s in quotes', (_, body) => {
    const flow = read('key: a\nsteps: [{ key: s }]')
    const written = flowText({ ...flow, steps: [{ ...flow.steps[0]!, body }] })
    expect(written).toMatch(/body: "[\x20-\x7e]+"\n$/)
    expect(read(written).steps[0]?.body).toBe(body)
  })
})
