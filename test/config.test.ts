import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, readConfig } from '../src/config/read-config.ts'
import { flagOf, settingNames, variableOf } from '../src/config/settings.ts'
import { configurationTable } from '../src/manual/configuration-table.ts'

const linesOf = (source: Parameters<typeof readConfig>[0]): readonly string[] => {
  try {
    readConfig(source)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.lines
    throw error
  }
}

const withFile = (text: string, use: (path: string) => void) => {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-config-'))
  const path = join(folder, 'secret')
  writeFileSync(path, text)
  try {
    use(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const secret = 'x'.repeat(32)

describe('where a setting comes from', () => {
  test('with nothing given, every default holds', () => {
    const { config, given, warnings } = readConfig({})
    expect(config).toMatchObject({
      data: './cairn-data',
      port: 8080,
      host: '0.0.0.0',
      managementPort: 9090,
      managementHost: '127.0.0.1',
      ack: 'commit',
      bufferEvents: 50_000,
      bufferBytes: 64 * 1024 * 1024,
      flushEveryMs: 100,
      retentionDays: 90,
      keyGraceHours: 24,
      sessionSecret: null,
      sessionIssuer: null,
      sessionAudience: null,
      sessionType: null,
      sessionJwksUrl: null,
      organisationClaim: 'org',
      logLevel: 'info',
      logFormat: 'auto',
    })
    expect([...given]).toEqual([])
    expect(warnings).toEqual([])
    expect(Object.isFrozen(config)).toBe(true)
  })

  test('a flag wins over a variable, and a variable over the default', () => {
    const env = { CAIRN_PORT: '9000', CAIRN_HOST: '127.0.0.1' }
    const { config, given } = readConfig({ flags: { port: '7000' }, env })
    expect(config.port).toBe(7000)
    expect(config.host).toBe('127.0.0.1')
    expect([...given]).toEqual(['port', 'host'])
  })

  test('an empty variable is as good as none', () => {
    expect(readConfig({ env: { CAIRN_PORT: '' } }).config.port).toBe(8080)
  })

  test('only the settings that a command names are read, so that others cannot stop it', () => {
    const { config } = readConfig({ env: { CAIRN_PORT: 'x', CAIRN_DATA: '/d' } }, ['data'])
    expect(config).toEqual({ data: '/d' })
  })

  test('a size can be written as people write it', () => {
    const bytes = (text: string) => readConfig({ flags: { bufferBytes: text } }).config.bufferBytes
    expect(['64mb', '64MB', '64 MiB', '64M', '65536kb', '67108864'].map(bytes)).toEqual(
      Array(6).fill(64 * 2 ** 20),
    )
  })

  test('a time between backups is written with its unit, and needs a directory', () => {
    const every = (text: string) =>
      readConfig({ flags: { backupEvery: text, backupDir: 'b' } }).config.backupEvery
    expect(['1m', '90m', '6h', '1d', '2D'].map(every)).toEqual([
      60_000, 5_400_000, 21_600_000, 86_400_000, 172_800_000,
    ])
    for (const text of ['6', '0m', '59s', '1w', '-1h', '1.5h', '367d', 'h']) {
      expect(linesOf({ flags: { backupEvery: text, backupDir: 'b' } })).toEqual([
        `--backup-every is "${text}": set a time from 1m to 366d, such as 6h or 1d`,
      ])
    }
    expect(linesOf({ flags: { backupEvery: '1d' } })).toEqual([
      'CAIRN_BACKUP_EVERY is set without a directory: set CAIRN_BACKUP_DIR to where the backups go',
    ])
    expect(linesOf({ flags: { backupDir: 'b' } })).toEqual([
      'CAIRN_BACKUP_DIR is set, but no backup would be made: set CAIRN_BACKUP_EVERY too, such as 6h',
    ])
    for (const backupDir of ['d/', 'd/backups', './x/../d/a/b']) {
      expect(linesOf({ flags: { backupEvery: '1d', backupDir, data: './d' } })).toEqual([
        'CAIRN_BACKUP_DIR is in the data directory and would be lost with it: choose another directory, best on another disk',
      ])
    }
    for (const backupDir of ['d-backups', '.', 'e/d']) {
      expect(linesOf({ flags: { backupEvery: '1d', backupDir, data: './d' } })).toEqual([])
    }
  })
})

describe('a settings file', () => {
  const linesWith = (text: string, env = {}) => {
    let lines: readonly string[] = []
    withFile(text, CAIRN_CONFIG => {
      lines = linesOf({ env: { CAIRN_CONFIG, ...env } }).map(line =>
        line.replaceAll(CAIRN_CONFIG, 'FILE'),
      )
    })
    return lines
  }

  test('a flag wins over a variable, that over a line, and that over the default', () => {
    const text = 'CAIRN_PORT=1\nCAIRN_HOST=::1\nCAIRN_DATA="/srv/a b"\n'
    withFile(text, path => {
      const env = { CAIRN_PORT: '2', CAIRN_HOST: '::2' }
      const { config, given } = readConfig({ flags: { config: path, port: '3' }, env })
      expect(config).toMatchObject({ port: 3, host: '::2', data: '/srv/a b', ack: 'commit' })
      expect([...given]).toEqual(['config', 'data', 'port', 'host'])
    })
  })

  test('has all its mistakes reported at once, each with its place', () => {
    expect(linesWith('CAIRN_PORT=http\nCAIRN_ACK\nCAIRN_ACK=maybe\n')).toEqual([
      'line 2 of FILE: write NAME=value, or begin a comment with #',
      'CAIRN_PORT in FILE is "http": set a whole number from 0 to 65535',
      'CAIRN_ACK in FILE is "maybe": set one of commit, buffer',
    ])
  })

  test('that is missing, too large or a directory is reported, with what to do', () => {
    expect(linesOf({ env: { CAIRN_CONFIG: '/nowhere/cairn.env' } })).toEqual([
      'CAIRN_CONFIG names /nowhere/cairn.env, which does not exist: create it, or name another',
    ])
    expect(linesOf({ flags: { config: tmpdir() } })[0]).toContain('which is a directory')
    expect(linesWith(`#${'x'.repeat(70_000)}`)[0]).toContain('which is over 64 KiB')
  })

  test('a secret may stand in it, and is never shown; a variable stands for both ways', () => {
    const short = linesWith('CAIRN_SESSION_SECRET=hunter2')
    expect(short[0]).toStartWith('CAIRN_SESSION_SECRET in FILE is too short')
    expect(short.join()).not.toContain('hunter2')
    withFile(`CAIRN_SESSION_SECRET_FILE=/nowhere`, CAIRN_CONFIG => {
      const env = { CAIRN_CONFIG, CAIRN_SESSION_SECRET: secret }
      expect(readConfig({ env }).config.sessionSecret).toBe(secret)
    })
  })

  test('what means nothing in it is a warning', () => {
    withFile('CAIRN_PROT=1\nTZ=UTC\nCAIRN_DEBUG=1\nCAIRN_CONFIG=x\n', path => {
      const { warnings } = readConfig({ flags: { config: path } })
      expect(warnings.map(line => line.replace(path, 'FILE'))).toEqual([
        'CAIRN_PROT in FILE is not a setting of Cairn and is ignored: did you mean CAIRN_PORT?',
        'TZ in FILE is ignored: set it in the environment',
        'CAIRN_DEBUG in FILE is ignored: set it in the environment',
        'CAIRN_CONFIG in FILE is ignored: set it in the environment',
      ])
    })
  })
})

describe('secrets', () => {
  test('come from a file, without its last line break', () => {
    withFile(`${secret}\n`, path => {
      expect(readConfig({ env: { CAIRN_SESSION_SECRET_FILE: path } }).config.sessionSecret).toBe(
        secret,
      )
    })
  })

  test('that are too short are rejected without being shown', () => {
    const [line] = linesOf({ env: { CAIRN_SESSION_SECRET: 'hunter2' } })
    expect(line).toContain('CAIRN_SESSION_SECRET is too short')
    expect(line).not.toContain('hunter2')
  })

  test('given twice are rejected', () => {
    const env = { CAIRN_SESSION_SECRET: secret, CAIRN_SESSION_SECRET_FILE: '/x' }
    expect(linesOf({ env })).toEqual([
      'CAIRN_SESSION_SECRET and CAIRN_SESSION_SECRET_FILE are both set: unset one of them',
    ])
  })

  test('in a missing file are rejected, with the name of the file', () => {
    expect(linesOf({ env: { CAIRN_SESSION_SECRET_FILE: '/nowhere/secret' } })).toEqual([
      'CAIRN_SESSION_SECRET_FILE names /nowhere/secret, which does not exist: create it, or name another',
    ])
  })

  // The superuser may read every file.
  test.skipIf(process.getuid?.() === 0)('in a file of another user are rejected', () => {
    withFile(secret, path => {
      chmodSync(path, 0)
      expect(linesOf({ env: { CAIRN_SESSION_SECRET_FILE: path } })).toEqual([
        `CAIRN_SESSION_SECRET_FILE names ${path}, which may not be read: make it readable to this user`,
      ])
    })
  })
})

describe('mistakes', () => {
  test('are all reported at once, each with its place and what to do', () => {
    const env = { CAIRN_PORT: 'abc', CAIRN_FLUSH_EVERY_MS: '0', CAIRN_RETENTION_DAYS: '0' }
    expect(linesOf({ flags: { ack: 'later' }, env })).toEqual([
      'CAIRN_PORT is "abc": set a whole number from 0 to 65535',
      '--ack is "later": set one of commit, buffer',
      'CAIRN_FLUSH_EVERY_MS is "0": set a whole number from 1 to 10000',
      'CAIRN_RETENTION_DAYS is "0": set a whole number from 1 to 3650',
    ])
  })

  test.each(['-1', '1.5', '1e3', ' 80', '0x50', '65536', '99999999999999999999'])(
    '%p is no port',
    port => {
      expect(linesOf({ flags: { port } })).toHaveLength(1)
    },
  )

  test.each(['1mb', '2gb', 'mb', '64tb', '1.5mb', '-64mb'])('%p is no size of a buffer', size => {
    expect(linesOf({ flags: { bufferBytes: size } })).toHaveLength(1)
  })

  test('an issuer without an audience is rejected', () => {
    const lines = linesOf({ env: { CAIRN_SESSION_ISSUER: 'https://id.example' } })
    expect(lines.map(line => line.split(':')[0])).toEqual([
      'CAIRN_SESSION_ISSUER is set without an audience',
    ])
  })

  const issuer = (given: string, more: Record<string, string> = {}) =>
    linesOf({
      env: { CAIRN_SESSION_ISSUER: given, CAIRN_SESSION_AUDIENCE: 'cairn', ...more },
    })

  test('an issuer with a secret is any text, and without one an address to find keys at', () => {
    expect(issuer('acme', { CAIRN_SESSION_SECRET: secret })).toEqual([])
    expect(issuer('https://id.example/realms/acme/')).toEqual([])
    for (const here of ['http://localhost:8081', 'http://127.0.0.1:1/x', 'http://[::1]:8081']) {
      expect(issuer(here)).toEqual([])
    }
  })

  test.each(['acme', 'http://id.example', 'http://127.0.0.1.evil.example', 'ftp://id.example'])(
    'keys are not looked for at %s',
    given => {
      const lines = issuer(given)
      expect(lines).toHaveLength(1)
      expect(lines[0]).toContain('CAIRN_SESSION_JWKS_URL')
    },
  )

  test.each([
    'https://user:password@id.example',
    'https://password@id.example',
    'HTTPS://user:pass%40word@id.example/realms/acme',
    'http://user:password@localhost:8081',
    'https://user:pass/word@id.example',
    'https://id.example?password',
    'https://id.example/?',
    'https://id.example#password',
    'https://id.example/#',
  ])(
    'the issuer %s is rejected in any mode, and shown without the parts that are not allowed',
    given => {
      const modes: Record<string, string>[] = [
        {},
        { CAIRN_SESSION_SECRET: secret },
        { CAIRN_SESSION_JWKS_URL: 'https://id.example/keys' },
      ]
      for (const more of modes) {
        const lines = issuer(given, more)
        expect(lines).toHaveLength(1)
        expect(lines[0]).toStartWith('CAIRN_SESSION_ISSUER ')
        expect(lines[0]).toContain('without user, query and fragment')
        expect(lines[0]).not.toMatch(/user:|pass(word|%40)/)
      }
    },
  )

  test.each([
    'https://user:password@id.example/keys',
    'https://user:pass/word@id.example/keys',
    'user:password@id.example',
    'http://id.example/keys?apikey=password',
    'ftp://id.example/keys?a=1&password',
    ' https://user:password@id.example/keys',
  ])(
    'an address of the keys with a password (%s) is rejected, and the password is not shown',
    given => {
      const lines = issuer('acme', { CAIRN_SESSION_JWKS_URL: given })
      expect(lines).toHaveLength(1)
      expect(lines[0]).not.toMatch(/user:|pass|word/)
      expect(lines[0]).toContain('id.example')
    },
  )

  test('the address of the keys without an issuer, or beside a secret, is rejected', () => {
    const env = { CAIRN_SESSION_JWKS_URL: 'https://id.example/k', CAIRN_SESSION_SECRET: secret }
    expect(linesOf({ env }).map(line => line.split(':')[0])).toEqual([
      'CAIRN_SESSION_JWKS_URL is set without an issuer',
      'CAIRN_SESSION_JWKS_URL and CAIRN_SESSION_SECRET are both set',
    ])
  })

  test.each([
    ['CAIRN_PROT', 'did you mean CAIRN_PORT?'],
    ['CAIRN_RETENTION_DAY', 'did you mean CAIRN_RETENTION_DAYS?'],
    ['CAIRN_SESSION_SECRT_FILE', 'did you mean CAIRN_SESSION_SECRET_FILE?'],
    // Alike in nothing but what all of them begin with.
    ['CAIRN_XYZ', 'check its spelling'],
  ])('the warning of %s says "%s"', (name, advice) => {
    const { warnings } = readConfig({ env: { [name]: '1' } })
    expect(warnings).toEqual([`${name} is not a setting of Cairn and is ignored: ${advice}`])
  })
})

describe('the table for people', () => {
  test('has a row for every setting, with its variable', () => {
    const rows = configurationTable().slice(2)
    expect(rows).toHaveLength(settingNames.length)
    for (const [i, name] of settingNames.entries()) expect(rows[i]).toContain(variableOf(name))
  })
})

describe('the address of the database', () => {
  const read = (CAIRN_DATABASE_URL: string) => readConfig({ env: { CAIRN_DATABASE_URL } }).config

  test('is none unless it is set', () => {
    expect(readConfig({}).config.databaseUrl).toBeNull()
    expect(flagOf('databaseUrl')).toBeNull()
  })

  test.each([
    'postgres://cairn@localhost/cairn',
    'postgresql://cairn:p%2Fw@db.example.com:6432/cairn?sslmode=verify-full&sslrootcert=/ca.pem',
    'postgres://cairn@[::1]:5432/my%20base',
  ])('may be %s', url => {
    expect(read(url).databaseUrl).toBe(url)
  })

  test.each([
    'mysql://ann:hush@localhost/cairn',
    'hush',
    'postgres:///cairn?password=hush',
    'postgres://ann:hush@localhost',
    'postgres://ann:hush@localhost/',
    'postgres://ann:hush@localhost:0/cairn',
    'postgres://ann:hush@localhost/cairn?sslmode=maybe',
    'postgres://ann:hush@localhost,elsewhere/cairn',
    'postgres://ann:12/hush@localhost/cairn',
    'postgres://ann:12/x?hush@localhost/cairn',
    'postgres://ann:12/x#hush@localhost/cairn',
    'postgres://ann:hush%@localhost/cairn',
  ])('is not %s, and nothing of it is shown', url => {
    const lines = linesOf({ env: { CAIRN_DATABASE_URL: url } })
    expect(lines).toEqual([expect.stringMatching(/^CAIRN_DATABASE_URL is wrong: set the address/)])
    expect(lines[0]).not.toContain('hush')
  })

  test.each([
    { CAIRN_BACKUP_EVERY: '6h', CAIRN_BACKUP_DIR: 'backups' },
    { CAIRN_CHECKPOINTS: 'litestream' },
  ])('goes with no backup of the directory, such as by %j', settings => {
    const lines = linesOf({ env: { ...settings, CAIRN_DATABASE_URL: 'postgres://c@localhost/c' } })
    expect(lines).toHaveLength(Object.keys(settings).length)
    for (const line of lines) expect(line).toContain('pgBackRest')
  })
})
