import { describe, expect, spyOn, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { Parser, stringify } from 'yaml'
import { describeProblem, type FileProblem, readFlowFile } from '../../../src/core/flow/file.ts'
import { FlowDefinition } from '../../../src/core/flow/flow.ts'
import { flowProblems } from '../../../src/core/flow/lint.ts'
import type { FlowProblem } from '../../../src/core/flow/problem.ts'
import { anyFlow, byKey, isRight } from '../../support/any-flow.ts'
import { rounds } from '../../support/rounds.ts'

const lines = (...all: string[]) => all.join('\n')

/** Place, code and path: a problem without its message. */
const brief = ({ line, column, code, path }: FileProblem) => `${line}:${column} ${code} ${path}`

const briefs = (text: string, format?: 'yaml' | 'json') =>
  readFlowFile(text, { format }).problems.map(brief)

const messages = (text: string) => readFlowFile(text).problems.map(({ message }) => message)

/** The smallest flow, on two lines and on one. */
const minimal = (key: string) => `key: ${key}\nsteps: [{ key: s, title: S }]`
const inline = (key: string, more = '') => `{ key: ${key}, steps: [{ key: s, title: S }]${more} }`
const json = (key: string) => `{"key": "${key}", "steps": [{"key": "s", "title": "S"}]}`

const flowKeys = (text: string, format?: 'yaml' | 'json') =>
  readFlowFile(text, { format }).flows.map(({ key }) => key)

describe('defaults', () => {
  test('a key and a step are a flow', () => {
    expect(readFlowFile('key: a\nsteps: [{ key: s }]').flows).toMatchObject([
      {
        key: 'a',
        name: 'a',
        kind: 'tour',
        priority: 0,
        frequency: 'once',
        targeting: { urls: [], audience: { match: 'all', rules: [] } },
        theme: null,
        steps: [{ key: 's' }],
        checklist: null,
      },
    ])
  })

  test('a step with a target is a tooltip, one without a modal', () => {
    const { flows } = readFlowFile(
      lines(
        'key: a',
        'steps:',
        '  - { key: one, title: One, target: { selector: "#x" } }',
        '  - { key: two, buttons: [{ label: Go, action: next }] }',
      ),
    )
    const rest = {
      body: '',
      placement: { side: 'bottom', align: 'center' },
      advance: { on: 'button', event: null },
    } as const
    const target = {
      selector: '#x',
      text: null,
      nth: null,
      waitMs: 3_000,
      required: true,
      onMissing: 'skip',
    } as const
    const buttons = [{ label: 'Go', action: 'next', href: null }] as const
    expect(flows[0]?.steps).toEqual([
      { key: 'one', title: 'One', kind: 'tooltip', target, buttons: [], ...rest },
      { key: 'two', title: '', kind: 'modal', target: null, buttons: [...buttons], ...rest },
    ])
  })

  test('a checklist without steps makes the flow one; its items complete by hand', () => {
    const { flows } = readFlowFile('{ key: a, checklist: { items: [{ key: i, title: Do }] } }')
    expect(flows[0]?.kind).toBe('checklist')
    expect(flows[0]?.checklist).toEqual({
      order: 'any',
      items: [{ key: 'i', title: 'Do', description: null, completeOn: null, href: null }],
    })
  })

  test('missing fields of a group get their defaults', () => {
    const [flow] = readFlowFile(
      lines(minimal('a'), 'targeting: { audience: { match: any } }', 'theme: { radius: 4 }'),
    ).flows
    expect(flow?.targeting).toEqual({ urls: [], audience: { match: 'any', rules: [] } })
    expect(flow?.theme).toEqual({ accent: null, background: null, text: null, radius: 4 })
  })

  test('text over several lines is read as YAML says', () => {
    const body = (...written: string[]) =>
      readFlowFile(lines('key: a', 'steps:', '- key: s', '  title: S', ...written)).flows[0]
        ?.steps[0]?.body
    expect(body('  body: |', '    # One', '', '    - two: 2')).toBe('# One\n\n- two: 2\n')
    expect(body('  body: >-', '    one', '    line')).toBe('one line')
  })

  test('two flows never share a default', () => {
    const { flows } = readFlowFile(`[${inline('a')}, ${inline('b')}]`)
    expect(flows[0]?.targeting).not.toBe(flows[1]?.targeting)
  })
})

describe('a file holds', () => {
  test.each<[string, string, 'yaml' | 'json', string[]]>([
    ['one flow', minimal('a'), 'yaml', ['a']],
    ['a list', `- ${inline('a')}\n- ${inline('b')}`, 'yaml', ['a', 'b']],
    ['flows by name', `flows:\n  - ${inline('a')}\n  - ${inline('b')}`, 'yaml', ['a', 'b']],
    [
      'documents',
      `---\n${minimal('a')}\n---\n- ${inline('b')}\n- ${inline('c')}\n---\n`,
      'yaml',
      ['a', 'b', 'c'],
    ],
    ['a flow after a byte order mark', `\uFEFF${minimal('a')}`, 'yaml', ['a']],
    ['lines of Windows', `${minimal('a').replaceAll('\n', '\r\n')}\r\n`, 'yaml', ['a']],
    ['JSON', `{"flows": [${json('a')}]}`, 'json', ['a']],
    ['JSON indented by tabs', json('a').replaceAll(' ', '\n\t'), 'json', ['a']],
    ['JSON after a byte order mark', `\uFEFF${json('a')}`, 'json', ['a']],
    [
      'aliases',
      '- &a { key: a, steps: &s [{ key: s, title: S }], theme: &t { radius: 1 } }\n- { key: b, steps: *s, theme: *t }',
      'yaml',
      ['a', 'b'],
    ],
  ])('%s', (_, text, format, keys) => {
    expect(briefs(text, format)).toEqual([])
    expect(flowKeys(text, format)).toEqual(keys)
  })
})

describe('a common mistake is named for what it is, where it was made', () => {
  const noTab = 'A tab cannot indent YAML: use spaces'
  const noFit = 'The indentation does not match: align this with its neighbours, inside its parent'
  const further =
    'This is indented further than the line above, whose field already has a value: align it'
  const comment = 'what follows " #" is a comment, so put such text in quotes'
  const step = 'key: a\nsteps:\n  - key: s\n    '
  test.each([
    ['a list that is not closed', 'key: [unclosed', '1:6', 'This "[" is not closed: add "]"'],
    [
      'one above others',
      'key: a\r\nsteps: [{ key: s }\r\nname: b',
      '2:8',
      'This "[" is not closed: add "]"',
    ],
    [
      'a list that is not closed before a field that is further in',
      'foo: [bar\n  key: welcome\n',
      '1:6',
      'This "[" is not closed: add "]"',
    ],
    ['closed twice', 'key: a\nsteps: [a]]', '2:11', 'This bracket closes nothing: remove it'],
    [
      'double quotes that do not end',
      'key: a\nname: "b\nkind: tour',
      '2:7',
      'This " is not closed: add the closing one',
    ],
    [
      'quotes in quotes',
      'key: a\nname: "A "big" one"',
      '2:11',
      'The quotes end before this: inside them, write \\" for "',
    ],
    ['a tab', 'key: a\nsteps:\n\t- key: s', '3:1', noTab],
    ['a field too far in', 'key: a\n  name: b', '2:3', further],
    ['a field too far out', `${step}title: S\n   body: x`, '5:1', noFit],
    [
      'no space behind a colon',
      'key: a\nname:b\nkind: tour',
      '2:1',
      'A space is missing after the colon: write "name: value"',
    ],
    [
      'no space behind a dash',
      'key: a\nsteps:\n  -key: s',
      '3:3',
      'Must be a list, not a mapping: put a space after the dash',
    ],
    [
      'a colon in a text',
      'key: a\nname: Step: one',
      '2:7',
      'A second colon on one line: put the text in quotes',
    ],
    [
      'no comma between fields',
      'key: a\ntheme: { text: red accent: red }',
      '2:16',
      'A comma is missing between two fields here: add it',
    ],
    [
      'a name twice',
      'key: a\nname: b\nname: c',
      '3:1',
      'The field "name" is already set on line 2: keep one',
    ],
    [
      'a text that begins with an @',
      'key: a\nname: @ann',
      '2:7',
      'Text cannot begin with this character: put it in quotes',
    ],
    [
      'with an asterisk',
      'key: a\nname: *new*',
      '2:7',
      'Nothing above is anchored as &new*: write the value out, or put text that begins with "*" in quotes',
    ],
    [
      'with an ampersand',
      'key: a\nname: & more',
      '2:7',
      'Text cannot begin with "&" or "*", which name anchors: put it in quotes',
    ],
    [
      'with an exclamation mark',
      'key: a\nname: !new',
      '2:7',
      'Tags (!name) mean nothing here: remove it, or put the text in quotes',
    ],
    [
      'an id as a selector',
      `${step}target: { selector: "#a", text: #save }`,
      '4:13',
      `This "{" is not closed: add "}"; ${comment}`,
    ],
    [
      'an attribute as a selector',
      `${step}target: { selector: [data-x] }`,
      '4:25',
      'Must be a text, not a list: put it in quotes',
    ],
    [
      'a backslash in quotes',
      'key: a\nname: "a\\.b"',
      '2:9',
      'Unknown escape in double quotes: write \\\\ for a backslash, or use single quotes',
    ],
  ])('%s', (_, text, place, message) => {
    const [problem] = readFlowFile(text).problems
    expect(problem).toMatchObject({ severity: 'error', message })
    expect(`${problem?.line}:${problem?.column}`).toBe(place)
  })

  test('also where the file is JSON', () => {
    const [problem] = readFlowFile('{"key": "a",\n "steps": [{"key": "s"}', {
      format: 'json',
    }).problems
    expect(problem).toMatchObject({
      line: 2,
      column: 11,
      message: 'This "[" is not closed: add "]"',
    })
  })
})

describe('a file that cannot be read has one problem, with its place', () => {
  const bomb = lines('- &a { key: a }', ...Array.from({ length: 101 }, () => '- *a'))
  test.each<[string, string, 'yaml' | 'json', string]>([
    ['empty', '', 'yaml', '1:1 empty_file '],
    ['empty JSON', ' \n', 'json', '1:1 empty_file '],
    ['comments alone', '# nothing\n', 'yaml', '1:1 empty_file '],
    ['an empty list', 'flows: []', 'yaml', '1:1 empty_file '],
    ['text', '\nhello', 'yaml', '2:1 not_a_flow '],
    ['a number', '42', 'json', '1:1 not_a_flow '],
    ['a list of text', '- hello', 'yaml', '1:3 invalid_value /0'],
    ['flows that are no list', 'flows: a', 'yaml', '1:8 invalid_value /flows'],
    ['a trailing comma in JSON', '{"key": "a",\n}', 'json', '1:12 invalid_syntax '],
    ['a comment in JSON', '{"key": "a" // x\n}', 'json', '1:13 invalid_syntax '],
    ['JSON without quotes', '{\n  key: 1}', 'json', '2:3 invalid_syntax '],
    ['JSON without a comma', '{"key": "a"\n "name": "b"}', 'json', '2:2 invalid_syntax '],
    ['JSON cut off', '{"key": "a', 'json', '1:9 invalid_syntax '],
    ['a repeated field in JSON', '{"key": "a", "key": "a"}', 'json', '1:14 repeated_field /key'],
    ['a value that holds itself', 'key: a\nsteps: &s [*s]', 'yaml', '2:12 unknown_alias /steps/0'],
    ['too many aliases', bomb, 'yaml', '102:3 too_many_aliases '],
    ['21 levels', `key: ${'['.repeat(21)}${']'.repeat(21)}`, 'yaml', '1:25 too_deep '],
    ['200,000 levels', '['.repeat(200_000), 'json', '1:21 too_deep '],
    ['over 1 MiB', `key: ${'é'.repeat(524_288)}`, 'yaml', '1:1 too_large '],
  ])('%s', (_, text, format, problem) => {
    expect(briefs(text, format)).toEqual([problem])
    if (!problem.includes('too_many')) expect(readFlowFile(text, { format }).flows).toEqual([])
  })

  test.each([
    ['12345678901234567890', '4:6 inexact_number /priority'],
    ['9007199254740993', '4:6 inexact_number /priority'],
    ['9007199254740991', ''],
    ['1.0000000000000000001', ''],
    ['0x1e5', ''],
    ['+5e1', ''],
  ])('a whole number beyond 2^53 is reported, and no other: %s', (value, problem) => {
    const text = `key: a\nsteps: [{ key: b, kind: modal, title: c }]\npriority:\n     ${value}`
    expect(briefs(text, 'yaml').filter(brief => brief.includes('inexact'))).toEqual(
      problem === '' ? [] : [problem],
    )
  })

  // Comparing every pair of fields would take longer than the test runner waits.
  test('a mapping of 60,000 fields is read all the same', () => {
    const text = Array.from({ length: 60_000 }, (_, index) => `k${index}:`).join('\n')
    expect(readFlowFile(text).problems).toHaveLength(51)
  })

  test.each(['[', '- ', '? ', '{a: '])('what is too deep is read no further: %s', opening => {
    const next = spyOn(Parser.prototype, 'next')
    expect(briefs(opening.repeat(10_000))).toEqual([`1:${20 * opening.length + 1} too_deep `])
    expect(next.mock.calls.length).toBeLessThan(200)
    next.mockRestore()
  })

  describe('a text of a million characters is read no further than its faults or its tokens allow', () => {
    const closesNothing = 'closes nothing: remove it'
    const tooMany = 'More than 250000 tokens'
    test.each<[string, string, string, string, number]>([
      ['}', '', '1:1 invalid_syntax ', closesNothing, 100],
      [']', '', '1:1 invalid_syntax ', closesNothing, 100],
      ['}', '[', '1:1 invalid_syntax ', 'is not closed', 100],
      ['"a"', 'a: ', '1:749992 too_many_tokens ', tooMany, 250_000],
      ['*a ', '', '1:375001 too_many_tokens ', tooMany, 250_000],
      ['- a }\n', '', '50001:1 too_many_tokens ', tooMany, 250_000],
      ['- ', '', '1:41 too_deep ', 'More than 20 levels', 100],
      ['? ', '', '1:41 too_deep ', 'More than 20 levels', 100],
      ['\uFEFF', '', '1:1 too_large ', 'over 1 MiB', 0],
    ])('%p after %p', (part, before, problem, message, lexemes) => {
      const next = spyOn(Parser.prototype, 'next')
      const { problems } = readFlowFile(before + part.repeat(1_000_000 / part.length))
      const { length } = next.mock.calls
      next.mockRestore()
      expect(problems.map(brief)).toEqual([problem])
      expect(problems[0]?.message).toContain(message)
      expect(length).toBeLessThanOrEqual(lexemes + 1)
    })
  })

  test('20 levels and 100 aliases are not too many', () => {
    expect(briefs(`key: ${'['.repeat(19)}${']'.repeat(19)}`)).toEqual(['1:6 invalid_value /key'])
    const audience = (rules: string) => `, targeting: { audience: { rules: [${rules}] } }`
    const rules = Array.from({ length: 50 }, () => '*r').join(', ')
    const flow = (key: string) => `- ${inline(key, audience(rules))}`
    const first = audience('&r { attribute: plan, op: exists }')
    const text = `- ${inline('c', first)}`
    expect(briefs(lines(text, flow('a'), flow('b')))).toEqual([])
  })
})

describe('a wrong field is reported with its place', () => {
  test.each<[string, string, string, string]>([
    [
      'unknown',
      'key: a\nnme: b',
      '2:1 unknown_field /nme',
      'There is no field "nme": did you mean "name"?',
    ],
    [
      'unknown and like nothing',
      'key: a\nchecklist: { items: [], colour: 1 }',
      '2:25 unknown_field /checklist/colour',
      'There is no field "colour": remove it, or use one of order, items',
    ],
    ['missing', 'name: a', '1:1 missing_field /key', 'The field "key" is missing: add it'],
    [
      'a word that is none of them',
      'key: a\nkind: tuor',
      '2:7 invalid_value /kind',
      'Must be one of tour, checklist, announcement, launcher, not "tuor": did you mean "tour"?',
    ],
    [
      'a number for text',
      'key: 12',
      '1:6 invalid_value /key',
      'Must be a text, not 12: put it in quotes',
    ],
    [
      'an operator of other tools',
      'key: a\ntargeting: { audience: { rules: [{ attribute: plan, op: not_exists }] } }',
      '2:57 invalid_value /targeting/audience/rules/0/op',
      'Must be one of eq, neq, in, nin, gt, gte, lt, lte, contains, exists, not "not_exists": for "must not be there" write op: exists with value: false',
    ],
    ['nothing', 'key: a\nname:', '2:6 invalid_value /name', 'Must be a text, not empty'],
    [
      'too long',
      `key: ${'k'.repeat(65)}`,
      '1:6 invalid_value /key',
      'Must have at most 64 characters, not 65',
    ],
    [
      'a link that runs',
      'key: a\nsteps: [{ key: s, buttons: [{ label: Go, action: link, href: "JAVA\\tscript:x" }] }]',
      '2:62 invalid_value /steps/0/buttons/0/href',
      'Must be a link that begins with http:, https:, mailto: or tel:, or a relative one such as /help, without a space before it or control characters in it, not "JAVA�script:x"',
    ],
    [
      'a merge key',
      'key: a\ntheme: { <<: { radius: 1 } }',
      '2:10 unknown_field /theme/<<',
      'Merge keys (<<) are not supported: write the fields out',
    ],
    [
      '__proto__',
      'key: a\n__proto__: { b: 1 }',
      '2:1 unknown_field /__proto__',
      `There is no field "__proto__": remove it, or use one of ${Object.keys(FlowDefinition.properties).join(', ')}`,
    ],
  ])('%s', (_, text, problem, message) => {
    const { flows, problems } = readFlowFile(text)
    expect(problems.map(brief)).toEqual([problem])
    expect(problems[0]?.message).toBe(message)
    expect(flows).toEqual([])
  })

  test('__proto__ and constructor reach no prototype', () => {
    readFlowFile('key: a\n__proto__: { polluted: 1 }\nconstructor: { prototype: { polluted: 1 } }')
    readFlowFile('{"__proto__": {"polluted": 1}, "key": "a"}', { format: 'json' })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('a JSON pointer escapes the characters that need it', () => {
    expect(briefs('key: a\nx/y~z: 1')).toEqual(['2:1 unknown_field /x~1y~0z'])
  })

  test('several documents are distinguished by their index', () => {
    expect(briefs(`${minimal('a')}\n---\nkey: 1`)).toEqual(['4:6 invalid_value /1/key'])
  })

  test('a flow with a problem is left out, its neighbours are not', () => {
    expect(
      flowKeys(lines(`- ${inline('a')}`, '- key: b', '  kind: c', `- ${inline('d')}`)),
    ).toEqual(['a', 'd'])
  })

  test('a problem behind an anchor is reported once, however often it is used', () => {
    const text =
      '- { key: a, theme: &t { radius: x } }\n- { key: b, theme: *t }\n- { key: c, theme: *t }'
    expect(briefs(text)).toEqual(['1:33 invalid_value /0/theme/radius'])
    expect(flowKeys(text)).toEqual([])
  })
})

describe('a repeated key is an error where it is repeated', () => {
  test.each<[string, string, string]>([
    ['flow', `- ${inline('a')}\n- ${inline('a')}`, '2:10 repeated_key /1/key'],
    [
      'flow of another document',
      `${minimal('a')}\n---\n${minimal('a')}`,
      '4:6 repeated_key /1/key',
    ],
    [
      'step',
      'key: a\nsteps:\n  - { key: b, title: B }\n  - { key: b, title: C }',
      '4:12 repeated_key /steps/1/key',
    ],
    [
      'item',
      'key: a\ntitle: A\nchecklist:\n  items:\n  - { key: b, title: B, href: / }\n  - { key: b, title: C, href: / }',
      '6:12 repeated_key /checklist/items/1/key',
    ],
    [
      'entry by alias',
      'key: a\nsteps: [&s { key: b, title: B }, *s]',
      '2:34 repeated_key /steps/1/key',
    ],
  ])('%s', (_, text, problem) => {
    expect(briefs(text)).toEqual([problem])
  })

  test('the message says where it was first', () => {
    expect(messages(`- ${inline('a')}\n- ${inline('a')}`)).toEqual([
      'The key "a" is used already on line 1: change it',
    ])
  })

  test('two flows may have steps of the same key', () => {
    const flow = (key: string) => `- { key: ${key}, steps: [{ key: s, title: S }] }`
    expect(briefs(lines(flow('a'), flow('b')))).toEqual([])
  })
})

test("what GET answered can be pushed again: the server's own fields are dropped", () => {
  const step = { id: 's', position: 0, key: 'one', title: 'One' }
  const item = { id: 'i', position: 0, key: 'do', title: 'Do', href: '/do' }
  const flow = { id: 'f', version: 3, publishedAt: '2026-01-01T00:00:00Z', key: 'a' }
  const answer = { ...flow, steps: [step], checklist: { order: 'any', items: [item] } }
  for (const body of [answer, { flows: [answer], version: 'w' }]) {
    const { flows, problems } = readFlowFile(JSON.stringify(body), { format: 'json' })
    expect(problems.map(({ code }) => code)).toEqual(['items_not_shown'])
    expect(flows[0]).not.toContainAnyKeys(['id', 'version', 'publishedAt'])
    expect(flows[0]?.steps[0]).not.toContainAnyKeys(['id', 'position'])
    expect(flows[0]?.checklist?.items[0]).not.toContainAnyKeys(['id', 'position'])
  }
})

test('problems are in the order of the file, whatever order they are found in', () => {
  expect(
    briefs(lines('steps:', '  - title: 1', '    kye: b', 'kind: c', 'name: a', 'name: a')),
  ).toEqual([
    '1:1 missing_field /key',
    '2:5 missing_field /steps/0/key',
    '2:12 invalid_value /steps/0/title',
    '3:5 unknown_field /steps/0/kye',
    '4:7 invalid_value /kind',
    '6:1 repeated_field /name',
  ])
})

test('fifty problems are reported, then how many more there are', () => {
  const of = (count: number) =>
    readFlowFile(lines('key: a', ...Array.from({ length: count }, (_, index) => `x${index}: 1`)))
      .problems
  expect(of(50)).toHaveLength(50)
  expect(of(50).at(-1)?.code).toBe('unknown_field')
  expect(of(57)).toHaveLength(51)
  expect(of(57).at(-1)).toEqual({
    severity: 'error',
    code: 'more_problems',
    path: '',
    message: '7 more: fix the ones above and read the file again',
    line: null,
    column: null,
  })
})

test('a problem is described in one line, from which editors can jump to the place', () => {
  const problem: FileProblem = {
    ...{ severity: 'error', code: 'invalid_value', path: '/steps/0/kind', message: 'Must be …' },
    ...{ line: 12, column: 5 },
  }
  const line = '12:5 error invalid_value /steps/0/kind Must be …'
  expect(describeProblem(problem, 'welcome.yaml')).toBe(`welcome.yaml:${line}`)
  expect(describeProblem(problem, 'a\tb.yaml')).toBe(`a\ufffdb.yaml:${line}`)
  expect(describeProblem({ ...problem, line: null, column: null, path: '' }, 'w.yaml')).toBe(
    'w.yaml error invalid_value Must be …',
  )
})

test.each(['welcome-tour', 'getting-started', 'spring-release', 'saved-views'])(
  'the demo flow %s is read without problems',
  async name => {
    const url = new URL(`../../../src/cli/demo/flows/${name}.yaml`, import.meta.url)
    const { flows, problems } = readFlowFile(await Bun.file(url).text())
    expect(problems.map(problem => describeProblem(problem, name))).toEqual([])
    expect(flows).toHaveLength(1)
  },
)

describe('laws', () => {
  // The library loses blank lines where it spreads a text over lines: ' \n' comes back as '\n'.
  const exact = { blockQuote: false, doubleQuotedMinMultiLineLength: 1_000_000 } as const

  test('flows written as YAML or JSON are read back the same, and judged the same', () => {
    const brief = (path: string, problem: FlowProblem) =>
      [problem.severity, problem.code, path + problem.path, problem.message].join(' ')
    let right = 0
    fc.assert(
      fc.property(byKey(anyFlow), flows => {
        const expected = flows.flatMap((flow, index) =>
          flowProblems(flow).map(problem => brief(`/${index}`, problem)),
        )
        fc.pre(flows.length > 0 && expected.length <= 50)
        right += flows.filter(isRight).length
        for (const format of ['yaml', 'json'] as const) {
          const file = format === 'yaml' ? stringify(flows, exact) : JSON.stringify(flows)
          const others = [{ key: 'not-drawn', status: 'published' as const }]
          const read = readFlowFile(file, { format, others })
          expect(read.flows).toEqual(flows.filter(isRight))
          expect(read.problems.map(problem => brief('', problem)).sort()).toEqual(expected.sort())
        }
      }),
      { numRuns: rounds(150) },
    )
    expect(right).toBeGreaterThan(rounds(90))
  })

  test('one wrong field hides no problem of the others', () => {
    const brief = ({ code, path, message }: FlowProblem) => `${code} ${path} ${message}`
    fc.assert(
      fc.property(anyFlow, flow => {
        const expected = flowProblems(flow).filter(({ code }) => code !== 'empty_flow')
        fc.pre(expected.length < 50)
        const text = JSON.stringify({ ...flow, priority: 'high' })
        const { problems } = readFlowFile(text, { format: 'json' })
        const others = problems.filter(({ path }) => path !== '/priority')
        expect(others.map(brief).sort()).toEqual(expected.map(brief).sort())
      }),
      { numRuns: rounds(150) },
    )
  })

  const words = [
    ...['key', 'name', 'steps', 'target', 'flows', 'checklist', 'items', 'theme', '__proto__'],
    ...[': ', ':', '- ', '\n', '\n  ', '\t', ', ', '{', '}', '[', ']', '"', "'", '|', '>', '?'],
    ...['&a ', '*a', '!', '%', '#', '---\n', '...', '<<', '0', '~', 'a', '\0', '\ud800', '\r'],
  ]
  const soup = fc.array(fc.constantFrom(...words), { maxLength: 40 }).map(parts => parts.join(''))
  const anyText = fc.oneof(soup, fc.string({ unit: 'binary', maxLength: 200 }))

  test('reading any text never throws; it gives flows or says why not, in order, briefly', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom('yaml', 'json'), (file, format) => {
        const { flows, problems } = readFlowFile(file, { format })
        expect(flows.length + problems.length).toBeGreaterThan(0)
        for (const read of flows) expect(Value.Check(FlowDefinition, read)).toBe(true)
        const places = problems.map(({ line, column }) => line! * 10_000 + column!)
        expect(places).toEqual(places.toSorted((a, b) => a - b))
        for (const problem of problems) {
          expect(problem.line).toBeGreaterThanOrEqual(1)
          expect(problem.column).toBeGreaterThanOrEqual(1)
          expect(describeProblem(problem, 'f')).not.toMatch(/[\0-\x1f\x7f-\x9f]/)
        }
      }),
      { numRuns: rounds(3_000) },
    )
  })

  test('what is read as JSON is JSON', () => {
    fc.assert(
      fc.property(soup, file => {
        if (readFlowFile(file, { format: 'json' }).flows.length > 0) {
          expect(() => JSON.parse(file)).not.toThrow()
        }
      }),
      { numRuns: rounds(1_000) },
    )
  })

  test('a message never shows more than 60 characters of the file', () => {
    const long = fc.integer({ min: 61, max: 2_000 }).map(length => 'Q'.repeat(length))
    const place = fc.constantFrom(
      (value: string) => `key: ${value} ${value}`,
      (value: string) => `key: a\nkind: ${value}`,
      (value: string) => `key: a\n${value}: 1`,
      (value: string) => `key: a\nsteps: ${value}`,
      (value: string) => `key: *${value}`,
      (value: string) => `key: !${value} a`,
      (value: string) => `[{ key: "${value}" }, { key: "${value}" }]`,
      (value: string) => `{ key: a, "${value}": 1, "${value}": 2 }`,
      (value: string) => `"${value}": "${value}`,
      (value: string) => `]${value}`,
    )
    fc.assert(
      fc.property(long, place, (value, write) => {
        const told = readFlowFile(write(value)).problems.map(problem =>
          describeProblem(problem, ''),
        )
        expect(told).not.toBeEmpty()
        for (const one of told) expect(one).not.toMatch(/Q{61}/)
      }),
      { numRuns: rounds(500) },
    )
  })
})
