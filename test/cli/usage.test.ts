import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Command } from '../../src/cli/command.ts'
import { program } from '../../src/cli/program.ts'
import { compiledManual } from '../../src/manual/compile.ts'
import { CommandLine } from '../support/command-line.ts'

const cairn = new CommandLine()
afterAll(() => cairn.close())

const allBelow = (above: Command): Command[] =>
  (above.commands as Command[]).flatMap(command => [command, ...allBelow(command)])

const everyCommand = allBelow(await program()).map(({ path }) => path.split(' ').slice(1))

describe('help', () => {
  test.each(everyCommand.map(args => [args.join(' '), args] as const))(
    '%s --help succeeds on stdout, in 80 columns except for the examples, which are to be copied',
    async (_name, args) => {
      const { stdout, stderr, status } = await cairn.run([...args, '--help'])
      expect([stderr, status]).toEqual(['', 0])
      expect(stdout).toContain('Usage: cairn')
      expect(stdout).toContain('Examples:\n')
      const lines = stdout.split('\n')
      const isExample = (at: number) =>
        at > lines.indexOf('Examples:') && lines[at]!.startsWith('  ')
      expect(lines.filter((line, at) => line.length > 80 && !isExample(at))).toEqual([])
    },
  )

  test.each(
    [[], ['serve'], ['org'], ['flows', 'push']].map(args => [args.join(' '), args] as const),
  )('cairn help %s is what --help prints', async (_name, args) => {
    const requested = await cairn.run([...args, '--help'])
    expect(await cairn.run(['help', ...args])).toEqual(requested)
    expect(requested.status).toBe(0)
  })

  test.each(compiledManual())('cairn help $name is that topic of the manual', async topic => {
    const { stdout, stderr, status } = await cairn.run(['help', topic.name])
    expect([stderr, status]).toEqual(['', 0])
    expect(stdout).toEndWith(topic.terminal)
    const isCommand = everyCommand.some(([name, sub]) => name === topic.name && !sub)
    expect(stdout.startsWith('Usage: cairn')).toBe(isCommand)
    const overview = await cairn.run(['help'])
    expect(overview.stdout).toMatch(new RegExp(`^  ${topic.name} +\\S`, 'm'))
  })

  test('is the same in the binary, for commands and for the manual', async () => {
    for (const args of [['help'], ['flows', 'push', '--help'], ['help', 'deploy']]) {
      expect(await cairn.runBinary(args)).toEqual(await cairn.run(args))
    }
  })

  test('of a command that is not there is wrong usage, with a suggestion', async () => {
    const told = async (...args: string[]) => {
      const { stderr, status } = await cairn.run(['help', ...args])
      return [status, stderr]
    }
    expect(await told('sevre')).toEqual([
      2,
      'cairn: unknown command "sevre": did you mean "serve"?\n',
    ])
    expect(await told('deply')).toEqual([
      2,
      'cairn: unknown command "deply": did you mean "deploy"?\n',
    ])
    // A topic has no subcommands.
    expect(await told('deploy', 'docker')).toEqual([
      2,
      'cairn: unknown command "deploy docker": see "cairn help"\n',
    ])
    expect(await told('flows', 'xyz')).toEqual([
      2,
      'cairn: unknown command "flows xyz": see "cairn help"\n',
    ])
  })

  test('of a word that is no command lists the commands and topics that mention it', async () => {
    const { stdout, status } = await cairn.run(['help', 'retentionDays'])
    expect(status).toBe(0)
    expect(stdout).toMatch(/^cairn org set +set one of the settings/m)
    expect(stdout).toMatch(/^cairn help privacy +Privacy$/m)
    expect(stdout).not.toContain('cairn token')
  })

  test('of the demo says what the demo does, not what serve does', async () => {
    const { stdout } = await cairn.run(['demo', '--help'])
    const help = stdout.replace(/\s+/g, ' ')
    expect(help).toContain('(CAIRN_DATA, default: ./cairn-demo-data)')
    expect(help).toContain('(CAIRN_LOG_LEVEL, default: warn)')
    expect(help).toContain('(CAIRN_HOST, default: 127.0.0.1)')
    expect(help).toContain('(CAIRN_PORT, default: 8080, or the next free one)')
  })

  test('of serve names the settings that it refers to', async () => {
    const { stdout } = await cairn.run(['serve', '--help'])
    // None of them has a flag, because they hold secrets.
    for (const variable of ['CAIRN_SMTP_URL', 'CAIRN_LIMITS_URL', 'CAIRN_SESSION_SECRET']) {
      expect(stdout).toContain(variable)
    }
    expect(stdout.replace(/\s+/g, ' ')).not.toMatch(/\b(for|of|while) (that|those) /)
  })
})

describe('exit status', () => {
  const wrongUsage = [
    [],
    ['org'],
    ['nonsense'],
    ['org', 'nonsense'],
    ['org', 'create'],
    ['org', 'list', '--nonsense'],
    ['org', 'list', 'excess'],
    ['flows', 'push'],
    ['key', 'show', '--org'],
  ]
  test.each(wrongUsage.map(args => [args.join(' '), args] as const))(
    '2 for wrong usage: cairn %s',
    async (_name, args) => {
      const { stdout, stderr, status } = await cairn.run([...args])
      expect(status).toBe(2)
      expect(stdout).toBe('')
      expect(stderr).not.toBe('')
    },
  )

  test('2 for wrong configuration, with every mistake, and no server', async () => {
    const env = { CAIRN_PORT: 'y', CAIRN_BUFFER_EVENTS: 'z' }
    const { stderr, status } = await cairn.run(['serve', '--ack', 'x'], env)
    expect(status).toBe(2)
    expect(stderr.split('\n').map(line => line.split(' is ')[0])).toEqual([
      'cairn: 3 settings are wrong',
      '  CAIRN_PORT',
      '  --ack',
      '  CAIRN_BUFFER_EVENTS',
      '',
    ])
  })

  test('1 for what cannot be done, in one line without a stack', async () => {
    const { stdout, stderr, status } = await cairn.run(['org', 'list'])
    expect({ stdout, stderr, status }).toEqual({
      stdout: '',
      stderr:
        'cairn: no Cairn data in ./cairn-data: set --data or CAIRN_DATA to the data directory, or run "cairn org create NAME" for a new one\n',
      status: 1,
    })
  })

  test('1 for a database file that is none', async () => {
    mkdirSync(cairn.path('broken'))
    writeFileSync(cairn.path('broken/cairn.db'), 'not a database'.repeat(100))
    const { stderr, status } = await cairn.run(['org', 'list', '--data', 'broken'])
    expect(status).toBe(1)
    expect(stderr).toMatch(/^cairn: cairn\.db is damaged or not a database: [^\n]*\n$/)
  })

  test('1 for a data directory that is a file', async () => {
    writeFileSync(cairn.path('file'), '')
    for (const data of ['file', 'file/inside']) {
      const { stderr, status } = await cairn.run(['org', 'create', 'Harbor', '--data', data])
      expect(status).toBe(1)
      expect(stderr).toMatch(/^cairn: [^\n]*choose another with --data\n$/)
    }
  })

  test('1 where no server is ready', async () => {
    const args = ['healthcheck', '--management-port', '1']
    const { stderr, status } = await cairn.run(args)
    expect(status).toBe(1)
    expect(stderr).toMatch(/^cairn: not ready: http:\/\/127\.0\.0\.1:1\/readyz cannot be reached/)
    const json = await cairn.run([...args, '--json'])
    expect([json.status, json.stderr]).toEqual([1, ''])
    const url = 'http://127.0.0.1:1/readyz'
    expect(JSON.parse(json.stdout)).toMatchObject({ ready: false, url, status: null })
  })

  test('1 where another program answers, whose text moves no cursor', async () => {
    const other = Bun.serve({
      port: 0,
      fetch: () => new Response('\u001b[2Jhello', { status: 404 }),
    })
    const args = ['healthcheck', '--management-port', String(other.port)]
    const { stderr, status } = await cairn.run(args)
    await other.stop(true)
    expect(status).toBe(1)
    expect(stderr).toEndWith('/readyz returned 404: �[2Jhello\n')
  })
})

test('the version is printed by command and by option', async () => {
  const { version } = await cairn.json(['version'])
  for (const args of [['version'], ['--version']]) {
    expect(await cairn.run(args)).toEqual({
      stdout: `cairn ${version}\n`,
      stderr: '',
      status: 0,
    })
  }
})

test('a stack is shown only where CAIRN_DEBUG asks for it', async () => {
  const { stderr } = await cairn.run(['org', 'list'], { CAIRN_DEBUG: '1' })
  expect(stderr).toContain('CommandFailure')
  expect(stderr).toContain('data.ts')
})
