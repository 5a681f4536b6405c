import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { judgeDisk } from '../../src/cli/doctor/directory.ts'
import type { Finding } from '../../src/cli/doctor/findings.ts'
import { acquireLock } from '../../src/runtime/lock.ts'
import { apiOf, withTour } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'
import { Owner } from '../support/owner.ts'
import { prepared } from '../support/prepared.ts'

let place: CommandLine

beforeEach(() => {
  place = new CommandLine()
})
afterEach(() => place.close())

const data = () => join(place.folder, 'cairn-data')
const databaseFile = () => join(data(), 'cairn.db')
const freePorts = ['--port', '0', '--management-port', '0']

/** The warnings and errors that the command prints, one line each, and its status. */
async function complaints(args: string[] = [], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = await place.run(['doctor', ...freePorts, ...args], env)
  expect(stderr).toBe('')
  expect(stdout).not.toMatch(/^\s+at /m)
  return { status, lines: complaintsIn(stdout) }
}

/** Leaves out the warning about CAIRN_TEST_NOW, which the tests set. */
const complaintsIn = (stdout: string) =>
  stdout
    // Advice stands on a line of its own.
    .replaceAll('\n         ', ' ')
    .split('\n')
    .filter(line => /^(warning|error)/.test(line) && !line.includes('CAIRN_TEST_NOW'))

/** A data directory with an organisation, acme, and a published flow. */
const withData = prepared(withTour)

interface Circumstances {
  args?: string[]
  env?: Record<string, string>
  /** A change to the database before the check. */
  sql?: string
}

function changeDatabase(...statements: string[]): void {
  const database = new Database(databaseFile())
  for (const sql of statements) database.run(sql)
  database.close()
}

describe('without data', () => {
  test('says how to begin, and makes nothing', async () => {
    const { status, lines } = await complaints()
    expect(status).toBe(0)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('Data directory not found')
    expect(lines[0]).toContain('Run "cairn org create NAME"')
    expect(readdirSync(place.folder)).toEqual([])
  })

  test('says of a directory that it holds no database', async () => {
    mkdirSync(data(), { mode: 0o700 })
    expect((await complaints()).lines[0]).toContain('No database in ')
  })

  test('a data directory that is no directory is an error', async () => {
    writeFileSync(data(), '')
    const { status, lines } = await complaints()
    expect([status, lines.length]).toEqual([1, 1])
    expect(lines[0]).toContain('is not a directory. Choose another with --data')
  })
})

describe('with data', () => {
  beforeEach(() => withData(place))

  test('all is well, and nothing is changed', async () => {
    const before = readFileSync(databaseFile())
    const { status, stdout, stderr } = await place.runBinary(['doctor', ...freePorts], {
      CAIRN_TEST_NOW: '',
    })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^ok {7}cairn \S+, Bun \d\S+$/m)
    expect(stdout).toEndWith('\n\nNo problems found.\n')
    expect(readFileSync(databaseFile()).equals(before)).toBe(true)
  })

  test('as JSON: every finding with its status and check', async () => {
    const { ok, findings } = await place.json<{ ok: boolean; findings: Finding[] }>([
      'doctor',
      '--full',
      ...freePorts,
    ])
    expect(ok).toBe(true)
    expect(findings.every(({ status, advice }) => status === 'ok' && advice === null)).toBe(true)
    const checks = findings.map(({ check }) => check)
    const some = ['settings', 'rights', 'disk', 'database', 'backup', 'ports', 'issuer']
    expect(checks).toEqual(expect.arrayContaining(some))
  })

  const inBatches = 'insert into event_batches (org_id, source, events, body, received_at)'
  const smtp = 'error    CAIRN_SMTP_URL is set'
  const cases: [name: string, circumstances: Circumstances, complaints: (string | RegExp)[]][] = [
    [
      'wrong settings, all at once',
      {
        args: ['--port', '100000'],
        env: { CAIRN_ACK: 'maybe', CAIRN_PROT: '80', CAIRN_FAILPOINTS: 'commit=throw' },
      },
      [
        'warning  CAIRN_PROT is not a setting of Cairn and is ignored did you mean CAIRN_PORT?',
        'warning  CAIRN_FAILPOINTS is set. It makes servers fail in tests. Unset it.',
        'error    --port is "100000" set a whole number from 0 to 65535',
        'error    CAIRN_ACK is "maybe" set one of commit, buffer',
      ],
    ],
    [
      'a dashboard over plain http',
      { env: { CAIRN_PUBLIC_URL: 'http://cairn.example.com' } },
      [
        'warning  The dashboard at http://cairn.example.com is not encrypted: others on the network can read its cookie. Put TLS in front, and set CAIRN_PUBLIC_URL to the https address.',
      ],
    ],
    [
      'no complaint about a dashboard over plain http on this machine',
      { env: { CAIRN_PUBLIC_URL: 'http://localhost:8080' } },
      [],
    ],
    [
      'mail without a sender and without an address for links',
      { env: { CAIRN_SMTP_URL: 'smtp://localhost:25' } },
      [
        `${smtp} without a sender set CAIRN_MAIL_FROM too, such as cairn@example.com`,
        `${smtp}, but mails need an address for their links set CAIRN_PUBLIC_URL, such as https://cairn.example.com`,
      ],
    ],
    [
      'events that could not be stored',
      {
        sql: `insert into dead_letters (org_id, at, error, event) values
          (1, 0, 'first', '{}'), (1, 1000, 'constraint failed', '{}')`,
      },
      [
        'warning  2 events could not be stored, last at 1970-01-01T00:00:01.000Z: constraint failed Run "cairn dead-letters list".',
      ],
    ],
    [
      'unfinished erasures',
      {
        sql: `insert into erasures (org_id, key, person, asked_at) values (1, 'k', 'a', 0), (1, 'k', 'b', 0)`,
      },
      [
        'warning  The erasure of 2 people is not finished: files may still hold their data. Restart the server, or run "cairn person erase" again with --compact.',
      ],
    ],
    [
      'no organisation',
      { sql: 'delete from organisations' },
      [/^warning {2}No organisation in .* Run "cairn org create NAME --data \/\S+".$/],
    ],
    [
      'a clock before the newest event',
      { sql: `${inBatches} values (1, 0, 0, x'', ${Date.now() + 3_600_000})` },
      [/^error .*but the newest data was stored at .*Z Set the clock/, /No backup found/],
    ],
  ]

  test.each(cases)('%s', async (_, { args = [], env = {}, sql }, expected) => {
    if (sql) changeDatabase(sql)
    const { status, lines } = await complaints(args, env)
    expect(status).toBe(lines.some(line => line.startsWith('error')) ? 1 : 0)
    expect(lines).toEqual(
      expected.map(line => (typeof line === 'string' ? line : expect.stringMatching(line))),
    )
  })

  test('events without any backup are a warning, and so is an old backup', async () => {
    changeDatabase(`${inBatches} values (1, 0, 0, x'', 0)`)
    const remedy =
      'Set CAIRN_BACKUP_EVERY and CAIRN_BACKUP_DIR, or run "cairn backup DIR" from cron, best with DIR on another disk.'
    const { status, lines } = await complaints()
    expect([status, lines]).toEqual([0, [`warning  No backup found. ${remedy}`]])
    expect((await complaints(['--checkpoints', 'litestream'])).lines).toEqual([])
    await place.run(['backup', 'copies/'])
    expect((await complaints()).lines).toEqual([])
    const note = join(data(), 'last-backup.json')
    const { file } = JSON.parse(readFileSync(note, 'utf8'))
    const eightDaysAgo = new Date(Date.now() - 8 * 86_400_000).toISOString()
    writeFileSync(note, JSON.stringify({ file, madeAt: eightDaysAgo }))
    expect((await complaints()).lines).toEqual([
      `warning  Newest backup: ${eightDaysAgo} (${file}); none are scheduled ${remedy}`,
    ])
  })

  test('a taken port is an error while no server runs', async () => {
    const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    try {
      const port = ['--port', String(taken.port), '--host', '127.0.0.1']
      const { lines } = await complaints(port)
      expect(lines[0]).toStartWith(`error    Port ${taken.port} on 127.0.0.1 is taken`)
    } finally {
      taken.stop(true)
    }
  })
})

test('a command is not taken for a server', async () => {
  await withData(place)
  const holder = { pid: process.pid, host: hostname(), startedAt: '', version: '' }
  const lock = acquireLock(data(), { ...holder, port: 0, managementHost: '', managementPort: 0 })
  const found = async () => (await place.runBinary(['doctor', ...freePorts])).stdout
  const left = readFileSync(join(data(), 'server.json'))
  expect(await found()).toContain('ok       No server is running\n')
  lock.release()
  writeFileSync(join(data(), 'server.json'), left)
  expect(await found()).toContain('ok       No server is running\n')
})

describe('a damaged database', () => {
  const pageBytes = 4_096

  beforeEach(() => withData(place))

  const damage: [string, () => void][] = [
    [
      'that was cut',
      () => writeFileSync(databaseFile(), readFileSync(databaseFile()).subarray(0, 5 * pageBytes)),
    ],
    ['that is no database', () => writeFileSync(databaseFile(), 'This is a text. '.repeat(1_000))],
    [
      'whose pages are overwritten',
      () => {
        const bytes = readFileSync(databaseFile())
        bytes.fill(0xa5, 3 * pageBytes, 20 * pageBytes)
        writeFileSync(databaseFile(), bytes)
      },
    ],
  ]

  test.each(damage)('%s is an error that says what to do', async (_, harm) => {
    harm()
    for (const args of [[], ['--full']]) {
      const { status, lines } = await complaints(args)
      const [first, ...more] = lines
      expect(status).toBe(1)
      expect(first).toMatch(/^error {4}cairn\.db is damaged.*keep a copy .*restore a backup/)
      // Where no event can be looked for.
      expect(more.join()).toMatch(/^(warning {2}No backup found.*)?$/)
    }
  })

  test('a row that its table forbids is damage, beside the table that is not Cairn’s', async () => {
    changeDatabase('create table broken (a int     )', 'insert into broken values (null)')
    const text = readFileSync(databaseFile(), 'latin1')
    writeFileSync(databaseFile(), text.replace('(a int     )', '(a not null)'), 'latin1')
    const { status, lines } = await complaints()
    expect([status, lines]).toEqual([
      1,
      [
        expect.stringMatching(/^error .*the table "broken" is not Cairn's /),
        expect.stringMatching(/^error {4}cairn\.db is damaged.* Stop the server, keep a copy/),
      ],
    ])
  })

  test('an empty file is reported as such', async () => {
    writeFileSync(databaseFile(), '')
    expect((await complaints()).lines[0]).toContain('cairn.db is empty. Restore a backup')
  })

  test('references that lead nowhere are found by --full', async () => {
    changeDatabase(
      'pragma foreign_keys = off',
      "insert into snippet_keys (key, org_id, created_at) values ('x', 77, 0)",
    )
    expect((await complaints()).status).toBe(0)
    const { status, lines } = await complaints(['--full'])
    expect(status).toBe(1)
    expect(lines[0]).toContain('a row of snippet_keys names none of organisations')
  })
})

describe('rights', () => {
  beforeEach(() => withData(place))

  test('a directory that others can read is a warning', async () => {
    chmodSync(data(), 0o755)
    chmodSync(databaseFile(), 0o644)
    const { status, lines } = await complaints()
    expect([status, lines.length]).toEqual([0, 1])
    expect(lines[0]).toMatch(/Other users can read cairn\.db.*\(mode 755\)\. Run "chmod 700/)
  })

  test.each(['1777', '702'])(
    'a directory of mode %s, which others can change, is an error',
    async mode => {
      chmodSync(data(), Number.parseInt(mode, 8))
      const { status, lines } = await complaints()
      expect([status, lines.length]).toEqual([1, 1])
      const remedy = `\\(mode ${mode}\\)\\. Run "chmod 700 ${data()}"\\.$`
      expect(lines[0]).toMatch(new RegExp(`^error {4}Other users can replace files.* ${remedy}`))
    },
  )

  describe('that an owner took from himself', () => {
    test('files that he cannot write are an error, and serve names the remedy', async () => {
      const owner = await Owner.of(place)
      for (const suffix of ['-wal', '-shm']) {
        // A new file: this process may still have the old one mapped, and would die if that were cut.
        rmSync(`${databaseFile()}${suffix}`, { force: true })
        writeFileSync(`${databaseFile()}${suffix}`, '')
      }
      owner.takes(data())
      chmodSync(databaseFile(), 0o400)
      const { status, stdout } = await owner.run(['doctor', ...freePorts])
      expect(status).toBe(1)
      expect(stdout).toContain(
        `error    This user cannot access cairn.db in ${data()}.\n         Run "chmod u+rwX ${databaseFile()}" as user`,
      )
      const served = await owner.run(['serve', ...freePorts])
      expect(served.status).toBe(1)
      expect(served.stderr).toStartWith(
        'cairn: cannot write the data directory or a file in it: give this user access ("cairn doctor" names the file)',
      )
      expect(served.stderr).not.toContain('CAIRN_DEBUG')
    })

    test('files that a command or a backup needs, but this user cannot read, are named', async () => {
      const owner = await Owner.of(place)
      const names = ['backup.lock', 'erasures.jsonl', 'session.key', 'snippet']
      for (const name of names) {
        if (name === 'snippet') mkdirSync(join(data(), name))
        else writeFileSync(join(data(), name), '')
        chmodSync(join(data(), name), 0)
      }
      owner.takes(data())
      const { status, stdout } = await owner.run(['doctor', ...freePorts])
      expect(status).toBe(1)
      for (const name of names) {
        expect(stdout).toMatch(new RegExp(`^error {4}This user cannot access .*${name}`, 'm'))
      }
    })

    test('a directory that he cannot write is reported as his own', async () => {
      const owner = await Owner.of(place)
      owner.takes(data())
      chmodSync(data(), 0o500)
      const { status, stdout } = await owner.run(['doctor', ...freePorts])
      expect(status).toBe(1)
      expect(stdout).toContain(
        `error    This user cannot read and write ${data()} (EACCES).\n         Run "chmod u+rwx ${data()}".\n`,
      )
      expect(stdout).not.toContain('Run this as the user')
    })
  })

  test.skipIf(process.getuid?.() !== 0)(
    'a file that another user left is named, and is an error if the server needs it',
    async () => {
      const owner = await Owner.of(place)
      owner.takes(data())
      const left = (name: string, mode: number) => {
        writeFileSync(join(data(), name), '')
        chmodSync(join(data(), name), mode)
      }
      const found = async () => (await owner.run(['doctor', ...freePorts])).stdout
      left('last-backup.json', 0o666)
      const advice = `\n         Run "chown -R 65534 ${data()}", and always run cairn as that user.\n`
      const words = `Not owned by user 65534, the owner of ${data()}: `
      expect(await found()).toContain(`warning  ${words}last-backup.json${advice}`)
      left('backup.lock', 0o600)
      mkdirSync(join(data(), 'snippet'))
      left('notes.txt', 0o600)
      expect(await found()).toContain(
        `error    ${words}backup.lock, last-backup.json, snippet${advice}`,
      )
    },
  )

  test('a session key that others can read is an error, and a missing one is not made', async () => {
    expect((await complaints()).status).toBe(0)
    const key = join(data(), 'session.key')
    expect(statSync(key, { throwIfNoEntry: false })).toBeUndefined()
    writeFileSync(key, 'a'.repeat(64), { mode: 0o644 })
    const { status, lines } = await complaints()
    expect(status).toBe(1)
    expect(lines[0]).toContain('session.key can be read by other users (mode 644)')
  })
})

describe('a server', () => {
  test('that runs is asked on the management port that it took', async () => {
    await withData(place)
    const server = await place.serve()
    const { stdout, status } = await place.run(['doctor', '--full'])
    expect(status).toBe(0)
    expect(stdout).toContain(`Server process ${server.child.pid} on ${hostname()}, started`)
    expect(stdout).toMatch(/started .*: ready\n/)
    await server.end()
  })

  test('tells what its organisations are told, as the dashboard does', async () => {
    const { snippetKey } = await withData(place)
    changeDatabase(`insert into webhooks
      (org_id, public_id, url, types, secret, created_at, failing_since, disabled_at, disabled_why)
      select id, 'webhook_' || host, 'https://' || host || '.example/t0ken', '[]', 'whsec_x', 0, failing, disabled, why
      from organisations join (
        select 'a' as host, 0 as failing, null as disabled, null as why
        union select 'b', null, 0, 'gone' union select 'c', null, 0, 'asked')`)
    const server = await place.serve()
    const api = apiOf(server, snippetKey)
    await api('GET', '/flows')
    await api('POST', '/events', {
      events: [{ kind: 'flow_started', flowId: 'flow_x', userId: 'u' }],
    })
    const { lines } = await complaints()
    const [, ...found] = lines.filter(line => line.startsWith('warning  acme: '))
    expect(found).toEqual(
      ['unknown_flow', 'a.example', 'b.example'].map(name => expect.stringContaining(name)),
    )
    await server.end()
  })

  describe('of another kind', () => {
    const holder = (more = {}) => ({
      pid: process.pid,
      host: hostname(),
      startedAt: '2026-11-20T09:30:00.000Z',
      port: 1,
      managementHost: '127.0.0.1',
      managementPort: 1,
      version: '9.9.9',
      ...more,
    })

    async function withServer(more: object, work: () => Promise<void>): Promise<void> {
      await withData(place)
      const lock = acquireLock(data(), holder(more))
      try {
        await work()
      } finally {
        lock.release()
      }
    }

    test('that is not ready and of another version: both are reported', async () => {
      const answers: Record<string, Response> = {
        '/healthz': new Response('ok 9.9.9\n'),
        '/readyz': new Response('the ingest buffer is full\nstopping\n', { status: 503 }),
      }
      const management = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: request =>
          answers[new URL(request.url).pathname] ?? new Response(null, { status: 404 }),
      })
      await withServer({ managementPort: management.port }, async () => {
        const { status, lines } = await complaints()
        expect(status).toBe(1)
        expect(lines[0]).toContain('not ready the ingest buffer is full; stopping')
        expect(lines[1]).toMatch(
          /The server is cairn 9\.9\.9, this is cairn \S+\. Restart the server/,
        )
      })
      await management.stop(true)
    })

    test('that does not answer is an error', () =>
      withServer({}, async () => {
        const { status, lines } = await complaints()
        expect(status).toBe(1)
        expect(lines[0]).toContain('no response from http://127.0.0.1:1/readyz')
      }))

    test('on another machine is a warning', () =>
      withServer({ host: 'elsewhere' }, async () => {
        const { status, lines } = await complaints()
        expect([status, lines.length]).toEqual([0, 1])
        expect(lines[0]).toContain('another machine or container')
      }))
  })
})

describe('a disk', () => {
  const [gb, ext4] = [1e9, 61_267]
  const disk = { type: ext4, bsize: 1_000, blocks: 1e8, bavail: 5e7 }

  test.each([
    ['half empty', {}, ['ok']],
    ['with 1 GB, though little of it', { bavail: (1 * gb) / 1_000 }, ['warning']],
    ['with 5 % and 1 GB', { blocks: 2e7, bavail: 1e6 }, ['ok']],
    ['with under 1 GB', { blocks: 1e7, bavail: 999_999 }, ['warning']],
    ['with 64 MiB', { bavail: 67_109 }, ['warning']],
    ['with under 64 MiB', { bavail: 67_108 }, ['error']],
    ['that is small and has room', { blocks: 12_000, bavail: 9_700 }, ['ok']],
    ['that is small and rather full', { blocks: 12_000, bavail: 2_000 }, ['warning']],
    ['that is small and full', { blocks: 12_000, bavail: 599 }, ['error']],
    ['of no size', { blocks: 0, bavail: 0 }, ['error']],
    ['of another machine', { type: 26_985 }, ['ok', 'warning']],
    ['of another machine, by a negative number', { type: -11_317_950 }, ['ok', 'warning']],
  ])('%s', (_, more, statuses) => {
    const findings = [...judgeDisk('/data', { ...disk, ...more })]
    expect(findings.map(({ status }) => status)).toEqual(statuses as Finding['status'][])
  })
})
