import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CST, Lexer, parseDocument, stringify } from 'yaml'
import { type Change, change } from '../../../src/core/flow/edit/change.ts'
import type { Plain } from '../../../src/core/flow/plain.ts'
import { isSame } from '../../../src/core/flow/plain.ts'
import { rounds } from '../../support/rounds.ts'

/** What the form writes into the text of a flow. */

const text = `# The welcome tour.
key: welcome                  # keep it
name: 'Welcome tour'
frequency: until_completed    # not once
targeting:
  urls: [{ match: prefix, pattern: https://app.example.com/projects }]
steps:
# Where everything begins.
- key: create
  kind: tooltip               # beside the button
  title: "Start"
  body: |                     # Markdown
    Everything begins **here**.

    Really.
  target: { selector: "[data-test=new]", waitMs: 500 }
  buttons: [{ label: Next, action: next }]
    # About buttons: none is needed.

# For those who are in a team.
- key: invite
  title: Bring your team

- key: last
  target:
    selector: "#done"
`

const lines = (of: string) => of.split('\n')

/** Lines that went and lines that came. */
function difference(before: string, after: string | null) {
  const [old, fresh] = [lines(before), lines(after!)]
  return [
    ...old.filter(line => !fresh.includes(line)).map(line => `- ${line.trim()}`),
    ...fresh.filter(line => !old.includes(line)).map(line => `+ ${line.trim()}`),
  ]
}

/** What is written, however it is spaced within its lines: what changes is written anew, and the rest is not. */
const unspaced = (of: string | null) => of?.replace(/[ \t]+/g, '')

const set = (path: Change['path'], value: Plain, order?: string[]): Change => ({
  kind: 'set',
  path,
  value,
  ...(order && { order }),
})

describe('a change of one field changes its own lines, and no others', () => {
  test.each<[string, Change, string[]]>([
    [
      'beside a comment',
      set(['key'], 'hello'),
      ['- key: welcome                  # keep it', '+ key: hello # keep it'],
    ],
    [
      'in quotes that nobody needs',
      set(['name'], 'Tour'),
      [`- name: 'Welcome tour'`, `+ name: 'Tour'`],
    ],
    [
      'in quotes that it needs no more',
      set(['steps', 2, 'target', 'selector'], '.done'),
      ['- selector: "#done"', '+ selector: .done'],
    ],
    [
      'within brackets',
      set(['steps', 0, 'target', 'selector'], '#a, b'),
      [
        '- target: { selector: "[data-test=new]", waitMs: 500 }',
        '+ target: { selector: "#a, b", waitMs: 500 }',
      ],
    ],
    [
      'several lines that become one',
      set(['steps', 0, 'body'], 'Here.'),
      [
        '- body: |                     # Markdown',
        '- Everything begins **here**.',
        '- Really.',
        '+ body: Here. # Markdown',
      ],
    ],
    [
      'one line that becomes several',
      set(['steps', 0, 'kind'], 'a\nb'),
      [
        '- kind: tooltip               # beside the button',
        '+ kind: |- # beside the button',
        '+ a',
        '+ b',
      ],
    ],
    [
      'one that was not there, in the order of files',
      set(['steps', 1, 'placement', 'side'], 'top', ['key', 'title', 'target', 'placement']),
      ['+ placement: { side: top }'],
    ],
    [
      'one more within brackets',
      set(['steps', 0, 'target', 'nth'], 2),
      [
        '- target: { selector: "[data-test=new]", waitMs: 500 }',
        '+ target: { selector: "[data-test=new]", waitMs: 500, nth: 2 }',
      ],
    ],
    [
      'away, and what was said beside it stays',
      { kind: 'unset', path: ['frequency'] },
      ['- frequency: until_completed    # not once', '+ # not once'],
    ],
    [
      'away, with what is empty without it',
      { kind: 'unset', path: ['steps', 2, 'target', 'selector'] },
      ['- target:', '- selector: "#done"'],
    ],
    [
      'away within brackets',
      { kind: 'unset', path: ['steps', 0, 'target', 'waitMs'] },
      [
        '- target: { selector: "[data-test=new]", waitMs: 500 }',
        '+ target: { selector: "[data-test=new]" }',
      ],
    ],
  ])('%s', (_, requested, expected) => {
    expect(difference(text, change(text, requested))).toEqual(expected)
  })

  test('works in a text without a line end, with those of Windows, and in an empty text', () => {
    expect(change('key: a', set(['name'], 'b'))).toBe('key: a\nname: b')
    expect(change('key: a\r\nname: c\r\n', set(['key'], 'b'))).toBe('key: b\r\nname: c\r\n')
    expect(change('', set(['key'], 'b'))).toBe('key: b\n')
  })

  test('is refused if the text is not YAML, or an anchor shares the value', () => {
    expect(change('key: [', set(['key'], 'b'))).toBeNull()
    const shared = 'a: &one { title: x, body: y }\nb: *one\n'
    expect(change(shared, set(['a', 'title'], 'y'))).toBeNull()
    expect(change(shared, set(['b', 'title'], 'y'))).toBeNull()
  })
})

describe('steps', () => {
  const order = (of: string | null) =>
    [...of!.matchAll(/(?:^# [FW].*|- key: \w+|# About.*)$/gm)].map(([found]) => found)

  test('move with their comments', () => {
    const moved = change(text, { kind: 'move', path: ['steps'], from: 0, to: 2 })
    expect(order(moved)).toEqual([
      '# For those who are in a team.',
      '- key: invite',
      '- key: last',
      '# Where everything begins.',
      '- key: create',
      '# About buttons: none is needed.',
    ])
    const back = change(moved!, { kind: 'move', path: ['steps'], from: 2, to: 0 })
    expect(unspaced(back)).toBe(unspaced(text))
  })

  test('are removed with their comments, and inserted with room between', () => {
    const removed = change(text, { kind: 'remove', path: ['steps'], index: 1 })
    expect(difference(text, removed)).toEqual([
      '- # For those who are in a team.',
      '- - key: invite',
      '- title: Bring your team',
    ])
    const inserted = change(text, {
      kind: 'insert',
      path: ['steps'],
      index: 1,
      value: { key: 'new', title: 'New' },
    })
    expect(inserted).toContain('\n\n- key: new\n  title: New\n\n# For those')
    expect(change(inserted!, { kind: 'remove', path: ['steps'], index: 1 })).toBe(text)
  })

  test('removing the last one removes the list, and inserting the first one creates it', () => {
    const one = 'key: a\nsteps:\n  - key: b\n'
    const none = change(one, { kind: 'remove', path: ['steps'], index: 0 })
    expect(none).toBe('key: a\n')
    const insert: Change = { kind: 'insert', path: ['steps'], index: 0, value: { key: 'b' } }
    expect(change(none!, insert)).toBe(one)
    const rules = 'key: a\ntargeting:\n  audience:\n    rules:\n      - { attribute: plan }\n'
    const path = ['targeting', 'audience', 'rules']
    expect(change(rules, { kind: 'remove', path, index: 0 })).toBe('key: a\n')
    expect(change('steps: []\n', insert)).toBe('steps:\n  - key: b\n')
    expect(change('steps: [{ key: a }]\n', insert)).toBe('steps: [{ key: b }, { key: a }]\n')
  })
})

// Laws.

const word = fc
  .stringMatching(/^[a-z][a-z ]{0,8}[a-z]$/)
  .filter(one => !/^(true|false|null)$/.test(one))
const anyText = fc.oneof(
  word,
  fc.constantFrom(
    'a: b',
    '- x',
    '# no',
    '"q"',
    "it's",
    '12',
    'true',
    '',
    ' x ',
    'a\nb',
    '*a',
    '{',
    'ü 🎉',
  ),
  fc.string({ maxLength: 12 }).filter(one => !/[\uD800-\uDFFF]/.test(one)),
)

/** Flows as people write them, in block or flow style, with comments. */
const written = fc
  .record({
    titles: fc.array(word, { minLength: 1, maxLength: 4 }),
    bodies: fc.array(fc.oneof(word, fc.constant('a\n\nb\n')), { minLength: 4, maxLength: 4 }),
    remarks: fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }),
    isIndented: fc.boolean(),
    isFlow: fc.boolean(),
    gap: fc.constantFrom('', '\n'),
  })
  .map(({ titles, bodies, remarks, isIndented, isFlow, gap }) => {
    const remark = (index: number) => (remarks[index] ? `   # remark ${index}` : '')
    const above = (index: number) => (remarks[index] ? `# above ${index}\n` : '')
    const indent = isIndented ? '  ' : ''
    const entries = titles.map((title, index) => {
      const target = isFlow
        ? `target: { selector: "#a${index}", nth: ${index} }`
        : `target:\n${indent}    selector: "#a${index}"${remark(5)}\n${indent}    nth: ${index}`
      const body = stringify({ body: bodies[index] }).trimEnd().replaceAll('\n', `\n${indent}  `)
      return `${above(index) && indent + above(index)}${indent}- key: step-${index}${remark(4)}\n${indent}  title: ${title}${remark(index)}\n${indent}  ${body}\n${indent}  ${target}\n`
    })
    return `${above(6)}key: flow${remark(7)}\nname: ${titles[0]}${remark(8)}\nsteps:\n${entries.join(gap)}`
  })

const paths: Change['path'][] = [
  ['name'],
  ['title'],
  ['theme', 'accent'],
  ['steps', 0, 'title'],
  ['steps', 0, 'body'],
  ['steps', 0, 'target', 'selector'],
  ['steps', 0, 'target', 'text'],
  ['steps', 0, 'placement', 'side'],
]

const readOf = (of: string) => parseDocument(of).toJS() as Plain

/** Every comment of a text. */
function remarksOf(text: string): string[] {
  const comments: string[] = []
  let isText = false
  for (const lexeme of new Lexer().lex(text)) {
    const type: string | null = isText ? 'text' : CST.tokenType(lexeme)
    isText = type === 'scalar'
    if (type === 'comment') comments.push(lexeme.trimEnd())
  }
  return comments
}

function withValue(of: Plain, [name, ...rest]: Change['path'], value: Plain): Plain {
  if (name === undefined) return value
  const holder = (of ?? {}) as Record<string, Plain>
  const inner = Object.hasOwn(holder, name) ? holder[name]! : {}
  const put = withValue(inner, rest, value)
  if (Array.isArray(of)) return of.with(Number(name), put)
  return { ...holder, [name]: put }
}

describe('laws', () => {
  test('a field’s change leaves every other value and all comments as they were', () => {
    fc.assert(
      fc.property(written, fc.constantFrom(...paths), anyText, (of, path, value) => {
        const after = change(of, set(path, value))!
        expect(isSame(readOf(after), withValue(readOf(of), path, value))).toBe(true)
        expect(remarksOf(after)).toEqual(remarksOf(of))
      }),
      { numRuns: rounds(100) },
    )
  })

  test('changing it back gives the same text, but for spacing', () => {
    const at = paths.filter(path => path.at(-1) !== 'body')
    fc.assert(
      fc.property(written, fc.constantFrom(...at), anyText, (of, path, value) => {
        const before = path.reduce<Plain | undefined>(
          (held, name) => (held as Record<string, Plain> | undefined)?.[name],
          readOf(of),
        )
        const after = change(of, set(path, value))!
        const back: Change = before === undefined ? { kind: 'unset', path } : set(path, before)
        expect(unspaced(change(after, back))).toBe(unspaced(of))
      }),
      { numRuns: rounds(100) },
    )
  })

  test('entries that are moved keep everything in them', () => {
    fc.assert(
      fc.property(written, fc.nat(3), fc.nat(3), (of, a, b) => {
        const { steps } = readOf(of) as { steps: Plain[] }
        const [from, to] = [a % steps.length, b % steps.length]
        const moved = change(of, { kind: 'move', path: ['steps'], from, to })!
        const expected = steps.toSpliced(from, 1).toSpliced(to, 0, steps[from]!)
        expect(isSame((readOf(moved) as { steps: Plain[] }).steps, expected)).toBe(true)
        expect(remarksOf(moved).toSorted()).toEqual(remarksOf(of).toSorted())
        const back = change(moved, { kind: 'move', path: ['steps'], from: to, to: from })
        expect(unspaced(back)).toBe(unspaced(of))
      }),
      { numRuns: rounds(100) },
    )
  })
})
