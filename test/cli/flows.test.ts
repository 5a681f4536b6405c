import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'
import { prepared } from '../support/prepared.ts'

const withOrganisation = prepared(place => place.json(['org', 'create', 'Harbor']))

let cairn: CommandLine
beforeEach(async () => {
  cairn = new CommandLine()
  await withOrganisation(cairn)
})
afterEach(() => cairn.close())

const write = (name: string, text: string | Uint8Array) => {
  writeFileSync(cairn.path(name), text)
  return name
}

const makeDirectory = (name: string) => {
  mkdirSync(cairn.path(name))
  return name
}

const good = 'key: welcome\nsteps:\n  - key: hello\n    title: Hello\n'

describe('validate', () => {
  test('a correct file is valid, from the standard input too', async () => {
    expect(await cairn.run(['flows', 'validate', write('a.yaml', good)])).toEqual({
      stdout: 'Valid: welcome.\n',
      stderr: '',
      status: 0,
    })
    const read = await cairn.json(['flows', 'validate', '-'], {}, good)
    expect(read).toEqual({
      valid: true,
      files: [{ file: '<stdin>', flows: ['welcome'], problems: [] }],
    })
  })

  test('a mistake is reported with file, line and column', async () => {
    write('a.yaml', 'key: welcome\nkind: tuor\n')
    const { stderr, status } = await cairn.run(['flows', 'validate', 'a.yaml'])
    expect(status).toBe(1)
    expect(stderr).toStartWith('a.yaml:2:7 error invalid_value /kind ')
  })

  test('a warning is reported, and is a failure only with --strict', async () => {
    write('a.yaml', `${good}    target: { selector: .css-1a2b3c }\n`)
    const validate = (...more: string[]) => cairn.run(['flows', 'validate', 'a.yaml', ...more])
    const warned = await validate()
    expect([warned.status, warned.stdout]).toEqual([0, 'Valid: welcome.\n'])
    expect(warned.stderr).toStartWith('a.yaml:5:25 warning fragile_selector /steps/0/target/')

    const strict = await validate('--strict')
    expect([strict.status, strict.stdout]).toEqual([1, ''])
    expect(strict.stderr).toBe(`${warned.stderr}Not valid: 1 warning, and --strict.\n`)
    const { stdout, status } = await validate('--strict', '--json')
    expect([status, JSON.parse(stdout)]).toMatchObject([1, { valid: false }])
    expect(JSON.parse((await validate('--json')).stdout)).toMatchObject({ valid: true })
  })

  test('a .json file has to be JSON', async () => {
    const { stderr, status } = await cairn.run(['flows', 'validate', write('a.json', good)])
    expect([status, stderr.startsWith('a.json:1:1 error invalid_syntax')]).toEqual([1, true])
  })

  test('the same key in two files is a mistake', async () => {
    write('a.yaml', good)
    write('b.yaml', good)
    const { stderr, status } = await cairn.run(['flows', 'validate', 'a.yaml', 'b.yaml'])
    expect([status, stderr]).toEqual([
      1,
      'b.yaml error repeated_key The key "welcome" is also in a.yaml. Change one.\n' +
        'Not valid: 1 error.\n',
    ])
  })

  test('keys that differ only in case are a warning, as some disks have one file for both', async () => {
    write('a.yaml', good)
    write('b.yaml', good.replace('welcome', 'Welcome'))
    const { stdout, stderr, status } = await cairn.run(['flows', 'validate', 'a.yaml', 'b.yaml'])
    expect([status, stdout]).toEqual([0, 'Valid: welcome, Welcome.\n'])
    expect(stderr).toStartWith(
      'b.yaml warning similar_key The keys "welcome" and "Welcome" differ only in case',
    )
  })

  test('a file that is named twice is wrong usage, however its path is written', async () => {
    write('a.yaml', good)
    for (const again of ['a.yaml', './a.yaml', cairn.path('a.yaml')]) {
      expect(await cairn.run(['flows', 'validate', 'a.yaml', again])).toEqual({
        stdout: '',
        stderr: `cairn: ${again} is named twice\n`,
        status: 2,
      })
    }
  })

  test('the last line says why files are not valid', async () => {
    const verdict = async (text: string, ...more: string[]) => {
      const { stderr } = await cairn.run(['flows', 'validate', write('a.yaml', text), ...more])
      return stderr.trimEnd().split('\n').at(-1)
    }
    const warned = `${good}    target: { selector: .css-1a2b3c }\n`
    expect(await verdict(warned, '--strict')).toBe('Not valid: 1 warning, and --strict.')
    expect(
      await verdict(`${warned}    advance: { on: event }\n  - { key: b, kind: hotspot }\n`),
    ).toBe('Not valid: 2 errors, 2 warnings.')
    expect(await verdict(`${warned}kind: tuor\n`)).toBe(
      'Not valid: 1 error, 1 warning; more checks run once these are fixed.',
    )
    const many = Array.from({ length: 57 }, (_, index) => `x${index}: 1\n`).join('')
    expect(await verdict(good + many)).toBe(
      'Not valid: 50 errors, and more; more checks run once these are fixed.',
    )
  })
})

describe('files that cannot be read', () => {
  const files: [string, () => string, string][] = [
    ['a directory', () => makeDirectory('d'), 'd error is_directory This is a directory'],
    ['a missing file', () => 'x.yaml', 'x.yaml error missing_file File not found'],
    ['over 1 MiB', () => write('big', ' '.repeat(2 ** 20 + 1)), 'big error too_large The file'],
    [
      'not UTF-8',
      () => write('b', new Uint8Array([0xff, 0xfe])),
      'b error not_utf8 The file is not',
    ],
  ]
  test.each(files)('%s is reported in one line', async (_name, make, message) => {
    const { stdout, stderr, status } = await cairn.run(['flows', 'validate', make()])
    expect([stdout, status]).toEqual(['', 1])
    expect(stderr).toStartWith(message)
    expect(stderr.trimEnd().split('\n').slice(1)).toEqual([
      'Not valid: 1 error; more checks run once these are fixed.',
    ])
  })

  // The superuser may read every file.
  test.skipIf(process.getuid?.() === 0)('another user’s file is reported in one line', async () => {
    chmodSync(cairn.path(write('a.yaml', good)), 0)
    const { stderr, status } = await cairn.run(['flows', 'validate', 'a.yaml'])
    expect(status).toBe(1)
    expect(stderr).toStartWith('a.yaml error unreadable_file This user may not read it')
  })

  describe('are reported together with all other mistakes', () => {
    const paths = () => {
      write('wrong.yaml', 'key: welcome\nkind: tuor\n')
      return ['x.yaml', write('good.yaml', good), makeDirectory('d'), 'wrong.yaml']
    }
    const starts = [
      'x.yaml error missing_file ',
      'd error is_directory ',
      'wrong.yaml:2:7 error invalid_value /kind ',
    ]
    const report = {
      valid: false,
      files: [
        { file: 'x.yaml', flows: [], problems: [{ code: 'missing_file', line: null }] },
        { file: 'good.yaml', flows: ['welcome'], problems: [] },
        { file: 'd', flows: [], problems: [{ code: 'is_directory', line: null }] },
        { file: 'wrong.yaml', flows: [], problems: [{ code: 'invalid_value', line: 2 }] },
      ],
    }

    test('by validate', async () => {
      const args = ['flows', 'validate', ...paths()]
      const { stdout, stderr, status } = await cairn.run(args)
      expect([stdout, status]).toEqual(['', 1])
      const lines = stderr.trimEnd().split('\n')
      expect(lines.pop()).toStartWith('Not valid: 3 errors')
      expect(lines).toHaveLength(starts.length)
      for (const [i, start] of starts.entries()) expect(lines[i]).toStartWith(start)

      const json = await cairn.run([...args, '--json'])
      expect([json.status, json.stderr]).toEqual([1, ''])
      expect(JSON.parse(json.stdout)).toMatchObject(report)
    })

    test('by push, which then pushes nothing', async () => {
      const args = ['flows', 'push', ...paths()]
      const { stdout, stderr, status } = await cairn.run(args)
      expect([stdout, status]).toEqual(['', 1])
      const [header, ...lines] = stderr.trimEnd().split('\n')
      expect(header).toStartWith('cairn: pushed nothing')
      expect(lines).toHaveLength(starts.length)
      for (const [i, start] of starts.entries()) expect(lines[i]).toStartWith(`  ${start}`)

      const json = await cairn.run([...args, '--json'])
      expect([json.status, json.stderr]).toEqual([1, `${header}\n`])
      expect(JSON.parse(json.stdout)).toMatchObject(report)
      expect(await cairn.json(['flows', 'list'])).toEqual([])
    })
  })
})

describe('push and publish', () => {
  test('a flow goes from a file to published, to draft, back, and into the archive', async () => {
    write('a.yaml', good)
    const org = ['--org', 'harbor']
    const [pushed] = await cairn.json(['flows', 'push', 'a.yaml', ...org])
    expect(pushed).toMatchObject({ key: 'welcome', outcome: 'created', status: 'draft' })
    const step = async (verb: string) =>
      (await cairn.json(['flows', verb, 'welcome', ...org]))[0] as Record<string, unknown>
    expect(await step('publish')).toMatchObject({ outcome: 'published', version: 1 })
    expect(await step('publish')).toMatchObject({ outcome: 'already published' })
    expect(await step('unpublish')).toMatchObject({ outcome: 'changed', status: 'draft' })
    expect(await step('publish')).toMatchObject({ outcome: 'published again', version: 1 })
    expect(await step('archive')).toMatchObject({ outcome: 'changed', status: 'archived' })
    const [again] = await cairn.json(['flows', 'push', 'a.yaml', ...org])
    expect(again).toMatchObject({ outcome: 'unchanged', hasDraft: false, id: pushed.id })
    expect(await cairn.json(['flows', 'list', ...org])).toMatchObject([
      { key: 'welcome', status: 'archived', version: 1 },
    ])
  })

  test('the output of push is aligned, and its commands can be copied', async () => {
    const steps = 'steps: [{ key: hello, title: Hello }]'
    write('a.yaml', `- { key: a, ${steps} }\n- { key: a-longer-one, ${steps} }\n`)
    const push = async () =>
      (await cairn.run(['flows', 'push', 'a.yaml', '--org', 'harbor'])).stdout
    const lines = (await push()).trimEnd().split('\n')
    expect(lines[0]).toMatch(/^a {13}\S+ {2}created {2}next: cairn flows publish a$/)
    expect(lines[1]).toMatch(
      /^a-longer-one {2}\S+ {2}created {2}next: cairn flows publish a-longer-one$/,
    )
    await cairn.json(['org', 'create', 'Other'])
    expect(await push()).toContain('cairn flows publish a --org harbor\n')
  })

  test('push --publish does both, or nothing', async () => {
    write('a.yaml', good)
    const { stdout } = await cairn.run(['flows', 'push', 'a.yaml', '--publish'])
    expect(stdout).toMatch(/^welcome {2}\S+ {2}created {2}published, version 1\n$/)
    const [again] = await cairn.json(['flows', 'push', 'a.yaml', '--publish'])
    expect(again).toMatchObject({
      outcome: 'unchanged',
      publication: 'already published',
      status: 'published',
      version: 1,
    })
    write('b.yaml', 'key: b\nkind: tuor\n')
    const { status } = await cairn.run(['flows', 'push', 'a.yaml', 'b.yaml', '--publish'])
    expect(status).toBe(1)
    expect(await cairn.json(['flows', 'list'])).toHaveLength(1)
  })

  test('publishing says when it brings a flow out of the archive', async () => {
    await cairn.run(['flows', 'push', write('a.yaml', good), '--publish'])
    const published = async () => (await cairn.run(['flows', 'publish', 'welcome'])).stdout
    await cairn.run(['flows', 'archive', 'welcome'])
    expect(await published()).toEndWith('published again, version 1, was archived\n')
    expect(await published()).toEndWith('already published, version 1\n')
    await cairn.run(['flows', 'archive', 'welcome'])
    await cairn.run(['flows', 'push', write('b.yaml', `${good}priority: 1\n`)])
    expect(await published()).toEndWith('published, version 2, was archived\n')
    await cairn.run(['flows', 'unpublish', 'welcome'])
    expect(await published()).toEndWith('published again, version 2\n')
  })

  test('every key that was never pushed is named', async () => {
    await cairn.run(['flows', 'push', write('a.yaml', good)])
    const { stderr } = await cairn.run(['flows', 'publish', 'no', 'welcome', 'nor-this'])
    expect(stderr).toStartWith('cairn: there is no such flow: no, nor-this: push it first')
  })
})

describe('list', () => {
  test('says what a flow holds and when it was published last', async () => {
    await cairn.run(['flows', 'push', write('a.yaml', good), '--publish'])
    const draft = 'key: start\nchecklist: { items: [{ key: i, title: I }, { key: j, title: J }] }\n'
    await cairn.run(['flows', 'push', write('b.yaml', draft)])
    const [header, start, welcome] = (await cairn.run(['flows', 'list'])).stdout.split('\n')
    expect(header).toMatch(
      /^KEY +ID +KIND +STATUS +VERSION +PUBLISHED \(UTC\) +DRAFT +STEPS +ITEMS$/,
    )
    expect(start).toMatch(/^start +\S+ +checklist +draft +– +– +unpublished +0 +2$/)
    expect(welcome).toMatch(
      /^welcome +\S+ +tour +published +1 +\d{4}-\d\d-\d\d \d\d:\d\d +– +1 +0$/,
    )
    expect(await cairn.json(['flows', 'list'])).toMatchObject([
      { key: 'start', stepCount: 0, itemCount: 2, publishedAt: null },
      { key: 'welcome', stepCount: 1, itemCount: 0, publishedAt: expect.any(String) },
    ])
  })
})

test('a reader that closes early is no failure', async () => {
  const main = `'${process.execPath}' '${join(import.meta.dir, '../../src/main.ts')}'`
  const piped = `{ ${main} flows list; echo "status $?" >&2; } | true`
  const child = Bun.spawn(['sh', '-c', piped], { cwd: cairn.folder, stderr: 'pipe' })
  expect(await new Response(child.stderr).text()).toBe('status 0\n')
})
