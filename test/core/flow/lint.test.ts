import { describe, expect, test } from 'bun:test'
import { type FileProblem, readFlowFile } from '../../../src/core/flow/file.ts'
import { storedFlowErrors } from '../../../src/core/flow/lint.ts'
import type { OtherFlow } from '../../../src/core/flow/lint-references.ts'

const problemsOf = (flow: object) =>
  readFlowFile(JSON.stringify({ key: 'a', ...flow }), { format: 'json' }).problems

/** Severity, code and path: a problem without its place and message. */
const brief = ({ severity, code, path }: FileProblem) => `${severity} ${code} ${path}`

const step = { key: 's', title: 'S' }
const target = { selector: '#save' }
const stepWith = (fields: object) => ({ steps: [{ ...step, ...fields }] })
const stepOn = (path: string, more: object = {}) => ({
  ...step,
  page: { match: 'exact', pattern: path },
  ...more,
})
const shownOn = (...urls: object[]) => ({ steps: [step], targeting: { urls } })
const pattern = (match: string, text: string) => shownOn({ match, pattern: text })
const rule = (fields: object) => ({
  steps: [step],
  targeting: { audience: { rules: [{ attribute: 'plan', ...fields }] } },
})
const rules = (...all: object[]) => ({
  steps: [step],
  targeting: { audience: { rules: all.map(fields => ({ attribute: 'plan', ...fields })) } },
})
const items = (...all: object[]) => ({
  title: 'To do',
  checklist: { items: all.map((fields, index) => ({ key: `i${index}`, title: 'I', ...fields })) },
})

const launcher = (...all: object[]) => ({
  title: 'Help',
  launcher: { items: all.map((fields, index) => ({ key: `i${index}`, title: 'I', ...fields })) },
})

describe('an error keeps a flow from being pushed', () => {
  test.each<[string, object, string]>([
    ['nothing to show', {}, 'empty_flow /steps'],
    ['an empty checklist', items(), 'empty_flow /checklist/items'],
    ['an empty launcher', launcher(), 'empty_flow /launcher/items'],
    ['a launcher without items', { kind: 'launcher', title: 'A' }, 'empty_flow /launcher/items'],
    [
      'a launcher with steps',
      { ...launcher({ href: '/a' }), kind: 'launcher', steps: [step] },
      'launcher_has_more /steps',
    ],
    [
      'a launcher that ends',
      { ...launcher({ href: '/a' }), frequency: 'once' },
      'launcher_frequency /frequency',
    ],
    ['an item that opens nothing', launcher({}), 'what_it_opens /launcher/items/0'],
    [
      'an item that opens two things',
      launcher({ href: '/a', announcements: true }),
      'what_it_opens /launcher/items/0',
    ],
    [
      'a link of a launcher with a script',
      launcher({ href: 'javascript:alert(1)' }),
      'invalid_value /launcher/items/0/href',
    ],
    [
      'a checklist with steps alone',
      { kind: 'checklist', steps: [step] },
      'empty_flow /checklist/items',
    ],
    ['a tour with items alone', { kind: 'tour', ...items({ href: '/x' }) }, 'empty_flow /steps'],
    ['media that is nothing', stepWith({ media: { alt: 'A' } }), 'missing_media /steps/0/media'],
    [
      'an image and a video',
      stepWith({ media: { image: '/a.png', video: '/a.mp4', captions: '/a.vtt', alt: 'A' } }),
      'image_and_video /steps/0/media/image',
    ],
    [
      'a video that is loaded over plain http',
      stepWith({ media: { video: 'http://a.example/a.mp4' } }),
      'invalid_value /steps/0/media/video',
    ],
    [
      'an image that is a script',
      stepWith({ media: { image: 'javascript:alert(1)' } }),
      'invalid_value /steps/0/media/image',
    ],
    ['a tooltip without a target', stepWith({ kind: 'tooltip' }), 'missing_target /steps/0/target'],
    [
      'an invalid selector',
      stepWith({ target: { selector: 'a[' } }),
      'invalid_selector /steps/0/target/selector',
    ],
    [
      'a page that is none',
      { steps: [stepOn('projects')] },
      'invalid_pattern /steps/0/page/pattern',
    ],
    [
      'a page without a pattern',
      stepWith({ page: { match: 'exact' } }),
      'missing_field /steps/0/page/pattern',
    ],
    [
      'an invalid alternate',
      stepWith({ target: { ...target, alternates: ['#store', 'a['] } }),
      'invalid_selector /steps/0/target/alternates/1',
    ],
    [
      'more than five alternates',
      stepWith({ target: { ...target, alternates: ['#a', '#b', '#c', '#d', '#e', '#f'] } }),
      'invalid_value /steps/0/target/alternates',
    ],
    [
      'a fingerprint that many elements have',
      stepWith({ target: { ...target, fingerprint: { tag: 'button', role: 'button' } } }),
      'weak_fingerprint /steps/0/target/fingerprint',
    ],
    [
      'a value of a field in a fingerprint',
      stepWith({ target: { ...target, fingerprint: { tag: 'input', id: 'q', value: 'typed' } } }),
      'unknown_field /steps/0/target/fingerprint/value',
    ],
    [
      'waiting for no event',
      stepWith({ advance: { on: 'event' } }),
      'missing_event /steps/0/advance/event',
    ],
    [
      'waiting for a blank event',
      stepWith({ advance: { on: 'event', event: ' ' } }),
      'never_sent /steps/0/advance/event',
    ],
    [
      'a link to nowhere',
      stepWith({ buttons: [{ label: 'Go', action: 'link' }] }),
      'missing_href /steps/0/buttons/0/href',
    ],
    [
      'a click on no element',
      stepWith({ advance: { on: 'click' } }),
      'missing_target /steps/0/target',
    ],
    [
      'a link that runs in a body',
      stepWith({ body: 'See [this](javascript:alert(1))' }),
      'unsafe_link /steps/0/body',
    ],
    [
      'a link that runs in a description',
      items({ href: '/x', description: '<javascript:alert(1)>' }),
      'unsafe_link /checklist/items/0/description',
    ],
    [
      'a link that runs',
      stepWith({ buttons: [{ label: 'Go', action: 'link', href: 'javascript:alert(1)' }] }),
      'invalid_value /steps/0/buttons/0/href',
    ],
    [
      "an item that waits for one of Cairn's own events",
      items({ completeOn: { event: 'flow_completed' } }),
      'never_completed /checklist/items/0/completeOn/event',
    ],
    [
      'a pattern that is no address',
      pattern('exact', 'app.example'),
      'invalid_pattern /targeting/urls/0/pattern',
    ],
    [
      'a star in a host that is no glob',
      pattern('prefix', 'https://*.example/'),
      'invalid_pattern /targeting/urls/0/pattern',
    ],
    [
      'a regular expression that looks ahead',
      pattern('regex', '/a(?=b)'),
      'invalid_pattern /targeting/urls/0/pattern',
    ],
    [
      'a button that starts no flow',
      stepWith({ buttons: [{ label: 'Go', action: 'start' }] }),
      'missing_flow /steps/0/buttons/0/flow',
    ],
    [
      'a button that starts its own flow',
      stepWith({ buttons: [{ label: 'Go', action: 'start', flow: 'a' }] }),
      'starts_itself /steps/0/buttons/0/flow',
    ],
    [
      'an item that starts its own flow',
      items({ flow: 'a' }),
      'starts_itself /checklist/items/0/flow',
    ],
    [
      'a click on nothing that starts a flow',
      { steps: [step], when: { trigger: { on: 'click' } } },
      'missing_trigger /when/trigger/element',
    ],
    [
      'an event without a name that starts a flow',
      { steps: [step], when: { trigger: { on: 'event' } } },
      'missing_trigger /when/trigger/event',
    ],
    [
      'a click on what no browser finds',
      { steps: [step], when: { trigger: { on: 'click', element: '#' } } },
      'invalid_selector /when/trigger/element',
    ],
    ['eq without a value', rule({ op: 'eq' }), 'invalid_rule /targeting/audience/rules/0/value'],
    [
      'eq with a list',
      rule({ op: 'eq', value: ['a'] }),
      'invalid_rule /targeting/audience/rules/0/value',
    ],
    [
      'in with a text',
      rule({ op: 'in', value: 'free' }),
      'invalid_rule /targeting/audience/rules/0/value',
    ],
    [
      'gt with true',
      rule({ op: 'gt', value: true }),
      'invalid_rule /targeting/audience/rules/0/value',
    ],
    [
      'contains with a list',
      rule({ op: 'contains', value: ['a'] }),
      'invalid_rule /targeting/audience/rules/0/value',
    ],
    [
      'exists with a text',
      rule({ op: 'exists', value: 'yes' }),
      'invalid_rule /targeting/audience/rules/0/value',
    ],
  ])('%s', (_, flow, problem) => {
    const { flows, problems } = readFlowFile(JSON.stringify({ key: 'a', ...flow }))
    expect(problems.map(brief)).toEqual([`error ${problem}`])
    expect(flows).toEqual([])
  })
})

describe('a warning does not keep a flow from being pushed', () => {
  const projects = { urls: [{ match: 'prefix', pattern: '/projects' }] }
  test.each<[string, object, string]>([
    [
      'a launcher of a tour',
      { ...launcher({ href: '/a' }), kind: 'announcement', steps: [step] },
      'not_a_launcher /launcher',
    ],
    [
      'announcements in a checklist',
      items({ announcements: true }),
      'announcements_elsewhere /checklist/items/0/announcements',
    ],
    [
      'an item of a launcher that is ticked',
      launcher({ href: '/a', completeOn: { event: 'e' } }),
      'nothing_to_tick /launcher/items/0/completeOn',
    ],
    ['a banner that is none', stepWith({ banner: {} }), 'unused_banner /steps/0/banner'],
    ['a dot that is none', stepWith({ opens: 'hover' }), 'unused_opens /steps/0/opens'],
    ['light on nothing', stepWith({ spotlight: 'dim' }), 'unused_spotlight /steps/0/spotlight'],
    [
      'a video without captions',
      stepWith({ media: { video: '/a.mp4', alt: 'A' } }),
      'missing_captions /steps/0/media/video',
    ],
    [
      'an image without words',
      stepWith({ media: { image: '/a.png' } }),
      'missing_alt /steps/0/media/image',
    ],
    [
      'items that are not shown',
      { steps: [step], ...items({ href: '/done' }) },
      'items_not_shown /checklist/items',
    ],
    [
      'steps that are not shown',
      { kind: 'checklist', steps: [step], ...items({ href: '/done' }) },
      'steps_not_shown /steps',
    ],
    [
      'a fragile selector',
      stepWith({ target: { selector: '.css-1a2b3c' } }),
      'fragile_selector /steps/0/target/selector',
    ],
    [
      'a fragile alternate',
      stepWith({ target: { ...target, alternates: ['.css-1q2w3e'] } }),
      'fragile_selector /steps/0/target/alternates/0',
    ],
    ['the root alone', pattern('exact', '/'), 'only_root /targeting/urls/0/pattern'],
    ['a star that is none', pattern('exact', '/a/*'), 'plain_star /targeting/urls/0/pattern'],
    ['a tag in a body', stepWith({ body: 'Press <b>Save</b>' }), 'html /steps/0/body'],
    ['a step without text', stepWith({ title: ' ', body: '\n' }), 'no_text /steps/0/title'],
    [
      'buttons that only lead back',
      stepWith({ buttons: [{ label: 'Back', action: 'back' }] }),
      'dead_end /steps/0/buttons',
    ],
    [
      'a number in quotes',
      rule({ op: 'gt', value: '5' }),
      'number_as_text /targeting/audience/rules/0/value',
    ],
    [
      'rules that contradict each other',
      rules({ op: 'eq', value: 'free' }, { op: 'neq', value: 'free' }),
      'contradiction /targeting/audience/rules/1',
    ],
    [
      'an event that nothing waits for',
      stepWith({ advance: { event: 'saved' } }),
      'unused_event /steps/0/advance/event',
    ],
    [
      'a link that no button follows',
      stepWith({ buttons: [{ label: 'Go', action: 'next', href: '/x' }] }),
      'unused_href /steps/0/buttons/0/href',
    ],
    [
      'a flow that no button starts',
      stepWith({ buttons: [{ label: 'Go', action: 'next', flow: 'b' }] }),
      'unused_flow /steps/0/buttons/0/flow',
    ],
    [
      'a button that starts a flow of another file',
      stepWith({ buttons: [{ label: 'Go', action: 'start', flow: 'b' }] }),
      'unknown_flow /steps/0/buttons/0/flow',
    ],
    [
      'an item that starts a flow of another file',
      items({ flow: 'b' }),
      'unknown_flow /checklist/items/0/flow',
    ],
    [
      'an element beside an event that starts a flow',
      { steps: [step], when: { trigger: { on: 'event', event: 'e', element: '#a' } } },
      'unused_field /when/trigger/element',
    ],
    [
      'a first step that is for a page where the flow is not shown',
      { targeting: projects, steps: [stepOn('/settings')] },
      'never_begins /steps/0/page',
    ],
  ])('%s', (_, flow, problem) => {
    const { flows, problems } = readFlowFile(JSON.stringify({ key: 'a', ...flow }))
    expect(problems.map(brief)).toEqual([`warning ${problem}`])
    expect(flows).toHaveLength(1)
  })
})

test('a flow that is named has to be published', () => {
  const flow = { key: 'a', ...stepWith({ buttons: [{ label: 'Go', action: 'start', flow: 'b' }] }) }
  const codes = (...others: OtherFlow[]) =>
    readFlowFile(JSON.stringify(flow), { others }).problems.map(brief)
  const place = '/steps/0/buttons/0/flow'
  expect(codes({ key: 'b', status: 'published' })).toEqual([])
  expect(codes({ key: 'b', status: 'draft' })).toEqual([`warning unpublished_flow ${place}`])
  expect(codes({ key: 'c', status: 'published' })).toEqual([`warning unknown_flow ${place}`])
})

describe('nothing is wrong with', () => {
  test.each<[string, object]>([
    [
      'a first step for a page whose host nobody knows',
      {
        targeting: { urls: [{ match: 'glob', pattern: 'https://*.example/a' }] },
        steps: [stepOn('/settings')],
      },
    ],
    ['a modal without a target', stepWith({ kind: 'modal' })],
    ['a banner without a target', stepWith({ kind: 'banner' })],
    ['an item with a link', items({ href: '/x' })],
    ['an item with an event', items({ completeOn: { event: 'project_created' } })],
    ['a body without a title', { steps: [{ key: 's', body: 'B' }] }],
    ['a step without buttons', stepWith({ buttons: [] })],
    [
      'a way back from a step that goes on by an event',
      stepWith({
        advance: { on: 'event', event: 'saved' },
        buttons: [{ label: 'Back', action: 'back' }],
      }),
    ],
    ['a click on an element', stepWith({ target, advance: { on: 'click' } })],
    [
      'the same address in two ways',
      shownOn({ match: 'exact', pattern: '/a' }, { match: 'prefix', pattern: '/a' }),
    ],
    ['a version in quotes', rule({ op: 'gte', value: '1.2.3' })],
    ['exists alone', rule({ op: 'exists' })],
    ['exists false', rule({ op: 'exists', value: false })],
    ['eq false', rule({ op: 'eq', value: false })],
    ['eq of an empty text', rule({ op: 'eq', value: '' })],
    ['gt with a time', rule({ op: 'gt', value: '2026-11-20T00:00:00Z' })],
    ['contains a number', rule({ op: 'contains', value: 3 })],
    ['the whole site', pattern('prefix', '/')],
    ['a glob', pattern('glob', 'https://*.example/**')],
    ['tags in code', stepWith({ body: 'Write `<b>`, or:\n\n```\n<div>\n```\n' })],
    [
      'addresses and comparisons',
      stepWith({ body: '<https://a.example> a < b and c > d, x <y> z' }),
    ],
    ['items that a click ticks', items({}, { href: '/guide' })],
    ['a placeholder', stepWith({ body: 'Call it <name> or <your project>' })],
  ])('%s', (_, flow) => {
    expect(problemsOf(flow)).toEqual([])
  })
})

test('a flow is checked as a whole only if every field has the right type', () => {
  expect(readFlowFile('{ key: a, steps: [{ key: s, kind: hotspot }] }').isComplete).toBe(true)
  expect(readFlowFile('{ key: 1, steps: [{ key: s, kind: hotspot }] }').isComplete).toBe(false)
  expect(readFlowFile('key: [').isComplete).toBe(false)
})

describe('a problem is reported at its exact place', () => {
  const places = (text: string) =>
    readFlowFile(text).problems.map(
      ({ line, column, code, path }) => `${line}:${column} ${code} ${path}`,
    )
  const lines = (...all: string[]) => all.join('\n')

  test.each<[string, string, string[]]>([
    [
      'what lacks the field',
      lines('key: a', 'steps:', '  - title: S', '    key: s', '    kind: tooltip'),
      ['3:5 missing_target /steps/0/target'],
    ],
    [
      'the group, where that is there',
      lines('key: a', 'steps:', '  - title: S', '    key: s', '    advance: { on: event }'),
      ['5:14 missing_event /steps/0/advance/event'],
    ],
    [
      'the flow',
      lines('- key: a', '- key: b'),
      ['1:3 empty_flow /0/steps', '2:3 empty_flow /1/steps'],
    ],
    [
      'what an alias stands for',
      lines(
        '- key: a',
        '  steps: [{ key: s, title: S, target: &t { selector: "a[" } }]',
        '- key: b',
        '  steps: [{ key: s, title: S }, { key: r, title: R, target: *t }]',
      ),
      ['2:54 invalid_selector /0/steps/0/target/selector'],
    ],
  ])('%s', (_, text, expected) => {
    expect(places(text)).toEqual(expected)
  })

  test('a problem that flows share by alias is reported once, and holds all of them back', () => {
    const text =
      '- { key: a, steps: &s [{ key: s, title: S, kind: tooltip }] }\n- { key: b, steps: *s }'
    expect(places(text)).toEqual(['1:24 missing_target /0/steps/0/target'])
    expect(readFlowFile(text).flows).toEqual([])
  })
})

describe('of many problems', () => {
  const many = (count: number, fields: string) =>
    Array.from({ length: count }, (_, index) => `  - { key: k${index}, ${fields} }`)
  const read = (...steps: string[]) => readFlowFile(['key: a', 'steps:', ...steps].join('\n'))
  const warned = 'advance: { event: x }'

  test('no error is left out to make room for warnings', () => {
    const { problems, flows } = read(...many(60, warned), '  - { key: s, kind: tooltip }')
    expect(problems.filter(({ severity }) => severity === 'error').map(brief)).toEqual([
      'error missing_target /steps/60/target',
    ])
    expect(problems.at(-1)).toMatchObject({ severity: 'warning', code: 'more_problems' })
    expect(flows).toEqual([])
  })

  test('warnings alone hold no flow back, however many there are', () => {
    const { problems, flows } = read(...many(60, warned))
    expect(problems).toHaveLength(51)
    expect(problems.every(({ severity }) => severity === 'warning')).toBe(true)
    expect(flows).toHaveLength(1)
  })
})

describe('checking terminates, whatever an author writes:', () => {
  test.each<[string, object]>([
    ['long selectors', { target: { selector: `${'.aB1_'.repeat(60)} > ${'_a'.repeat(150)}` } }],
    ['long names', { target: { selector: `.A${'_a'.repeat(48)}`.repeat(10) } }],
    [
      'deep selectors',
      { target: { selector: `${':not('.repeat(10)}${'a'.repeat(900)}${')'.repeat(10)}` } },
    ],
    ['tags that never end', { body: '<a '.repeat(3_000) }],
    ['links that never end', { body: '[a](x:'.repeat(1_600) }],
    ['links in links', { body: `x:${'['.repeat(9_000)}` }],
    ['ticks that never end', { body: '```<b'.repeat(1_500) }],
    ['links', { target, buttons: [{ label: 'Go', action: 'link', href: `/${'a'.repeat(290)}` }] }],
  ])('%s beside many patterns', (_, fields) => {
    const steps = Array.from({ length: 50 }, (_, i) => ({ key: `s${i}`, title: 'S', ...fields }))
    const urls = Array.from({ length: 50 }, (_, i) => ({
      match: 'glob',
      pattern: `https://h${i}.example/${'*a'.repeat(10)}b`,
    }))
    expect(
      readFlowFile(JSON.stringify({ key: 'a', targeting: { urls }, steps })).flows,
    ).toHaveLength(1)
  })
})

test('of launchers on the same pages all but the first are warned about', () => {
  const at = (key: string, ...patterns: string[]) => ({
    ...launcher({ href: '/a' }),
    key,
    targeting: { urls: patterns.map(pattern => ({ match: 'prefix', pattern })) },
  })
  const { problems } = readFlowFile(JSON.stringify([at('a', '/app'), at('b', '/docs'), at('c')]))
  expect(problems.map(brief)).toEqual(['warning several_launchers /2/targeting/urls'])
})

test('an item that names a flow is warned about unless that flow is known', () => {
  const text = JSON.stringify({ key: 'a', ...launcher({ flow: 'there' }, { flow: 'nowhere' }) })
  const { problems } = readFlowFile(text, {
    others: [{ key: 'there', status: 'published' }],
  })
  expect(problems.map(brief)).toEqual(['warning unknown_flow /launcher/items/1/flow'])
})

describe('a stored flow', () => {
  test('with a repeated key has an error', () => {
    const [flow] = readFlowFile('{ key: a, steps: [{ key: s }] }').flows
    const twice = { ...flow!, steps: [flow!.steps[0]!, flow!.steps[0]!] }
    expect(storedFlowErrors(flow)).toEqual([])
    expect(storedFlowErrors(twice)).toMatchObject([
      {
        code: 'repeated_key',
        path: '/steps/1/key',
        message: 'The key "s" is used already: change it',
      },
    ])
  })

  test('in another shape has an error for each place', () => {
    expect(storedFlowErrors({ key: 'a' })).toContainEqual({
      severity: 'error',
      code: 'invalid_value',
      path: '/steps',
      message: 'This does not have the shape that a flow has now: push its file again',
    })
    expect(storedFlowErrors(null)).toMatchObject([{ path: '' }])
  })
})
