import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { colouredDiff } from '../../src/cli/flows/diff.ts'
import { publishCommand } from '../../src/cli/flows/records.ts'
import { wantsColour } from '../../src/core/text/colour.ts'
import { CommandLine } from '../support/command-line.ts'
import { prepared } from '../support/prepared.ts'

/** Flows between files and a server: diff, pull, schema. */

const withOrganisation = prepared(place => place.json(['org', 'create', 'Harbor']))

let cairn: CommandLine
beforeEach(async () => {
  cairn = new CommandLine()
  await withOrganisation(cairn)
})
afterEach(() => cairn.close())

/** Two flows as pull writes them. */
const flowA = 'key: a\npriority: 1\nsteps:\n  - key: s\n    title: S\n'
const flowB = 'key: b\nsteps:\n  - key: s\n    title: S\n'

const write = (name: string, text: string) => {
  writeFileSync(cairn.path(name), text)
  return name
}
const read = (name: string) => readFileSync(cairn.path(name), 'utf8')

const tour = (...steps: string[]) =>
  `key: welcome\nsteps:\n${steps.map(key => `  - key: ${key}\n    title: ${key}\n`).join('\n')}`

const flows = (...args: string[]) => cairn.run(['flows', ...args])
const pushed = (name: string, text: string) => flows('push', write(name, text), '--publish')

describe('diff', () => {
  test('of a flow that no server has says that it is new', async () => {
    expect(await flows('diff', write('a.yaml', tour('a')))).toEqual({
      stdout: 'welcome: new, from a.yaml\n',
      stderr: '',
      status: 1,
    })
  })

  test('of what is stored says that nothing changes, and whether a draft waits', async () => {
    await flows('push', write('a.yaml', tour('a')))
    const { stdout, status } = await flows('diff', 'a.yaml')
    expect([stdout, status]).toEqual(['welcome: unchanged, its draft is not published\n', 0])
    await flows('publish', 'welcome')
    expect(await flows('diff', 'a.yaml')).toEqual({
      stdout: 'welcome: unchanged\n',
      stderr: '',
      status: 0,
    })
  })

  test('names steps that are added, removed and moved, and shows the lines', async () => {
    await pushed('a.yaml', tour('a', 'b', 'old'))
    const { stdout, status } = await flows('diff', write('b.yaml', tour('b', 'a', 'create')))
    expect(status).toBe(1)
    expect(stdout).toStartWith(
      [
        'welcome: changed, against version 1',
        '  step "create" is new',
        '  step "old" is removed: its results end',
        '  step "a" moves',
        '--- welcome (published)',
        '+++ b.yaml',
        '@@ -1,10 +1,10 @@',
        ' key: welcome',
        '',
      ].join('\n'),
    )
    await pushed('b.yaml', tour('b', 'a', 'create'))
    expect((await flows('diff', 'a.yaml')).stdout).toContain(
      '  step "old" is back, with its old id\n',
    )
  })

  test('compares with the draft, or with --published with what callers see', async () => {
    await pushed('a.yaml', tour('a'))
    await flows('push', write('b.yaml', tour('a', 'b')))
    const change = async (...args: string[]) => {
      const { stdout, status } = await cairn.run(['flows', 'diff', ...args, '--json'])
      const [{ change, against }] = JSON.parse(stdout)
      return [change, against, status]
    }
    expect(await change('b.yaml')).toEqual(['unchanged', 'draft', 0])
    expect(await change('b.yaml', '--published')).toEqual(['changed', 'published', 1])
    expect(await change('a.yaml')).toEqual(['changed', 'draft', 1])
    expect(await change('a.yaml', '--published')).toEqual(['unchanged', 'published', 0])
    await flows('archive', 'welcome')
    expect(await change('a.yaml', '--published')).toEqual(['new', null, 1])
    expect((await flows('diff', 'a.yaml', '--published')).stdout).toBe(
      'welcome: new, not shown to visitors: it is archived\n',
    )
  })

  test('lists with --all the flows that no file has, except for archived ones', async () => {
    await pushed('a.yaml', tour('a'))
    await pushed(
      'others.yaml',
      '- { key: other, steps: [{ key: s, title: S }] }\n- { key: away, steps: [{ key: s, title: S }] }\n',
    )
    await flows('archive', 'away')
    expect((await flows('diff', 'a.yaml')).status).toBe(0)
    expect(await flows('diff', 'a.yaml', '--all')).toEqual({
      stdout: 'welcome: unchanged\nother: in no file, version 1\n',
      stderr: '',
      status: 1,
    })
  })

  test.each<[string, () => string[], string]>([
    ['a file with a mistake', () => [write('a.yaml', 'key: a b')], 'compared nothing, because'],
    ['a missing file', () => ['x.yaml'], 'compared nothing, because'],
    [
      'an unknown organisation',
      () => [write('a.yaml', flowA), '--org', 'x'],
      'organisation "x" not found',
    ],
    ['no data', () => [write('a.yaml', flowA), '--data', 'x'], 'no Cairn data'],
    ['no file', () => [], 'missing required argument'],
  ])('ends with 2 for %s', async (_, args, message) => {
    const { stdout, stderr, status } = await flows('diff', ...args())
    expect([stdout, status]).toEqual(['', 2])
    expect(stderr).toStartWith(`cairn: ${message}`)
  })

  test('is coloured on a terminal, unless NO_COLOR is set or it is a dumb one', () => {
    const terminal = { isTTY: true }
    expect(wantsColour(terminal, { TERM: 'xterm' })).toBe(true)
    expect(wantsColour(terminal, { TERM: 'xterm', NO_COLOR: '' })).toBe(true)
    expect(wantsColour(terminal, { NO_COLOR: '1' })).toBe(false)
    expect(wantsColour(terminal, { TERM: 'dumb' })).toBe(false)
    expect(wantsColour({}, {})).toBe(false)
    expect(colouredDiff('--- a\n+++ b\n@@ -1 +1 @@\n same\n-old\n+new\n')).toBe(
      '\x1b[1m--- a\x1b[0m\n\x1b[1m+++ b\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n same\n' +
        '\x1b[31m-old\x1b[0m\n\x1b[32m+new\x1b[0m\n',
    )
  })
})

describe('pull', () => {
  const two =
    '- { key: a, priority: 1, steps: [{ key: s, title: S }] }\n- { key: b, steps: [{ key: s, title: S }] }\n'

  test('writes all flows as documents that push takes back without a change', async () => {
    await flows('push', write('two.yaml', two))
    const { stdout, stderr, status } = await flows('pull')
    expect([stdout, stderr, status]).toEqual([`${flowA}---\n${flowB}`, '', 0])
    write('again.yaml', stdout)
    expect((await flows('diff', 'again.yaml', '--all')).status).toBe(0)
    expect(await cairn.json(['flows', 'push', 'again.yaml'])).toMatchObject([
      { outcome: 'unchanged' },
      { outcome: 'unchanged' },
    ])
  })

  test('writes JSON that push takes back', async () => {
    await flows('push', write('two.yaml', two))
    const { stdout } = await flows('pull', 'a', '--format', 'json')
    expect(JSON.parse(stdout)).toEqual([
      { key: 'a', priority: 1, steps: [{ key: 's', title: 'S' }] },
    ])
    expect((await flows('diff', write('a.json', stdout))).status).toBe(0)
  })

  test('writes drafts, or with --published what callers see', async () => {
    await pushed('two.yaml', two)
    await flows('push', write('new.yaml', flowA.replace('1', '2')))
    expect((await flows('pull', 'a')).stdout).toBe(flowA.replace('1', '2'))
    expect((await flows('pull', 'a', '--published')).stdout).toBe(flowA)
    await flows('unpublish', 'b')
    expect((await flows('pull', '--published')).stdout).toBe(flowA)
    expect(await flows('pull', 'b', '--published')).toEqual({
      stdout: '',
      stderr: 'cairn: flow "b" is not published, but a draft: leave out --published\n',
      status: 1,
    })
  })

  test('leaves archived flows out unless they are named, and says so', async () => {
    await pushed('two.yaml', two)
    await flows('archive', 'b')
    expect(await flows('pull')).toMatchObject({
      stdout: flowA,
      stderr: 'Left out 1 archived flow. Name them to pull them.\n',
    })
    expect((await flows('pull', 'b')).stdout).toBe(flowB)
  })

  test.each([
    ['an unknown key', ['pull', 'x'], 1, 'flow "x" not found'],
    ['no flow at all', ['pull'], 1, 'no flows to pull'],
    ['--force without --out', ['pull', '--force'], 2, '--force needs --out'],
    [
      'another format',
      ['pull', '--format', 'toml'],
      2,
      "option '--format <format>' argument 'toml'",
    ],
  ] as const)('refuses %s', async (_, args, wrong, message) => {
    const { stdout, stderr, status } = await flows(...args)
    expect([stdout, status]).toEqual(['', wrong])
    expect(stderr).toStartWith(`cairn: ${message}`)
  })

  describe('into a directory', () => {
    test('makes the directory, and writes a file for each flow', async () => {
      await flows('push', write('two.yaml', two))
      const { stdout } = await flows('pull', '--out', 'some/flows')
      expect(stdout).toBe('some/flows/a.yaml  written\nsome/flows/b.yaml  written\n')
      expect(read('some/flows/a.yaml')).toBe(flowA)
      await flows('pull', '--out', 'some/flows', '--format', 'json', 'a')
      expect(read('some/flows/a.json')).toBe(
        `${JSON.stringify({ key: 'a', priority: 1, steps: [{ key: 's', title: 'S' }] }, null, 2)}\n`,
      )
    })

    test('does not touch a file that holds the flow already, comments included', async () => {
      await flows('push', write('two.yaml', two))
      mkdirSync(cairn.path('out'))
      const mine = '# Mine.\npriority: 1\nkey: "a"\nsteps: [{ key: s, title: S }]\nkind: tour\n'
      write('out/a.yaml', mine)
      const { stdout } = await flows('pull', '--out', 'out')
      expect(stdout).toBe('out/a.yaml  unchanged\nout/b.yaml  written\n')
      expect(read('out/a.yaml')).toBe(mine)
    })

    test('writes nothing at all if a file holds something else, unless forced', async () => {
      await flows('push', write('two.yaml', two))
      mkdirSync(cairn.path('out'))
      write('out/b.yaml', 'key: b\npriority: 7\nsteps: [{ key: s, title: S }]\n')
      expect(await flows('pull', '--out', 'out')).toEqual({
        stdout: '',
        stderr:
          'cairn: wrote nothing, because these files differ (--force overwrites them)\n' +
          '  out/b.yaml\n',
        status: 1,
      })
      expect(readdirSync(cairn.path('out'))).toEqual(['b.yaml'])
      const { stdout } = await flows('pull', '--out', 'out', '--force')
      expect(stdout).toBe('out/a.yaml  written\nout/b.yaml  overwritten\n')
      expect(read('out/b.yaml')).toBe(flowB)
    })

    test('points editors at the schema if that is in the directory', async () => {
      await flows('push', write('two.yaml', two))
      mkdirSync(cairn.path('out'))
      write('out/cairn-flow.schema.json', (await flows('schema')).stdout)
      await flows('pull', '--out', 'out', 'a')
      expect(read('out/a.yaml')).toBe(
        `# yaml-language-server: $schema=./cairn-flow.schema.json\n${flowA}`,
      )
      expect((await flows('pull', '--out', 'out', 'a')).stdout).toBe('out/a.yaml  unchanged\n')
    })

    test('gives files the permissions of other new files, not those of private data', async () => {
      await flows('push', write('two.yaml', two))
      const before = process.umask(0o027)
      try {
        await flows('pull', '--out', 'some/flows')
      } finally {
        process.umask(before)
      }
      const rights = (name: string) => statSync(cairn.path(name)).mode & 0o777
      expect(rights('some')).toBe(0o750)
      expect(rights('some/flows/a.yaml')).toBe(0o640)
      expect(rights('cairn-data/cairn.db')).toBe(0o600)
    })

    test('that is a file is refused', async () => {
      await flows('push', write('two.yaml', two))
      const { stderr, status } = await flows('pull', '--out', 'two.yaml')
      expect([status, stderr]).toEqual([
        1,
        'cairn: the directory two.yaml cannot be made (there is a file of that name): choose another with --out\n',
      ])
      expect(existsSync(cairn.path('two.yaml'))).toBe(true)
    })
  })
})

test('schema prints the JSON Schema of a flow file', async () => {
  const { stdout, stderr, status } = await flows('schema')
  expect([stderr, status]).toEqual(['', 0])
  expect(JSON.parse(stdout)).toMatchObject({
    $schema: 'http://json-schema.org/draft-07/schema#',
    definitions: { flow: { required: ['key'] }, step: {}, item: {} },
  })
})

test('the command that publishes a flow can be copied, whatever its key begins with', () => {
  expect(publishCommand('welcome', ' --org harbor')).toBe(
    'cairn flows publish welcome --org harbor',
  )
  expect(publishCommand('-x', ' --org harbor')).toBe('cairn flows publish --org harbor -- -x')
})
