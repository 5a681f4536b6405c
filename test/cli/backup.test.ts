import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename } from 'node:path'
import { acquireLock } from '../../src/runtime/lock.ts'
import { Workplace } from '../support/binary.ts'
import { prepared } from '../support/prepared.ts'

let cairn: Workplace
beforeEach(() => {
  cairn = new Workplace()
})
afterEach(() => cairn.close())

const withData = prepared(place => place.json(['org', 'create', 'Acme']))
const withBackup = prepared(async place => {
  await withData(place)
  await place.run(['backup', 'a.db'])
})
/** The data has changed since the backup. */
const withLaterData = prepared(async place => {
  await withBackup(place)
  await place.json(['org', 'create', 'Beta'])
})

function slugs(): string[] {
  using database = cairn.reading()
  return database.query('select slug from organisations order by id').values().flat() as string[]
}

const sha256 = (file: string) =>
  new Bun.CryptoHasher('sha256').update(readFileSync(cairn.path(file))).digest('hex')

/** The name of a backup, by Unix seconds. */
const nameAt = (second: number) =>
  `cairn-${new Date(second * 1_000).toISOString().slice(0, 19).replaceAll(':', '-')}Z.db`

/** Runs a command that must fail, and returns its one line. */
async function failure(args: string[], status = 1): Promise<string> {
  const ended = await cairn.run(args)
  expect([ended.status, ended.stdout]).toEqual([status, ''])
  expect(ended.stderr.trim().split('\n')).toHaveLength(1)
  return ended.stderr
}

describe('backup', () => {
  beforeEach(() => withData(cairn))

  test('makes one file for its user alone, and a checksum that sha256sum reads', async () => {
    const { status, stdout, stderr } = await cairn.run(['backup', 'a.db'])
    expect([status, stdout]).toEqual([0, 'a.db\n'])
    expect(stderr).toContain(`sha256 ${sha256('a.db')}`)
    expect(readFileSync(cairn.path('a.db.sha256'), 'utf8')).toBe(`${sha256('a.db')}  a.db\n`)
    expect(statSync(cairn.path('a.db')).mode & 0o777).toBe(0o600)
    expect(readdirSync(cairn.folder).sort()).toEqual(['a.db', 'a.db.sha256', 'cairn-data'])
    using database = new Database(cairn.path('a.db'), { readonly: true })
    expect(database.query('pragma journal_mode').values()).toEqual([['delete']])
    expect(database.query('select slug from organisations').values()).toEqual([['acme']])
  })

  test('never overwrites a file, and says what is wrong with a folder', async () => {
    writeFileSync(cairn.path('a.db'), 'mine')
    expect(await failure(['backup', 'a.db'])).toContain('a.db exists already: name another file')
    expect(readFileSync(cairn.path('a.db'), 'utf8')).toBe('mine')
    expect(await failure(['backup', 'none/a.db'])).toContain(
      'none cannot be used: choose a directory',
    )
    expect(await failure(['backup', 'a.db/b.db'])).toContain('a.db cannot be used')
    expect(await failure(['backup', 'a.db/b/'])).toContain('cannot be used')
    expect(await failure(['backup', 'b.db', '--data', 'none'])).toContain('no Cairn data in none')
    expect(await failure(['backup', 'b.db', '--keep', '3'], 2)).toContain('needs a directory')
    expect(await failure(['backup', '.', '--keep', '0'], 2)).toContain('--keep is "0"')
    expect(readdirSync(cairn.folder).sort()).toEqual(['a.db', 'cairn-data'])
  })

  test('takes the next free name in a directory, however soon the last was made', async () => {
    mkdirSync(cairn.path('b'))
    // Whatever second it is by then.
    const second = Math.floor(Date.now() / 1_000)
    const taken = Array.from({ length: 600 }, (_, later) => `b/${nameAt(second + later)}`)
    for (const file of taken) writeFileSync(cairn.path(file), 'x')
    const { file } = await cairn.json(['backup', 'b', '--keep', '1'])
    expect(file).toBe(`b/${nameAt(second + 600)}`)
    expect(readdirSync(cairn.path('b')).sort()).toEqual([
      basename(file),
      `${basename(file)}.sha256`,
    ])
  })

  test('names files in a directory by time, lists them, and keeps the newest of its own', async () => {
    mkdirSync(cairn.path('b'))
    const old = [1, 2, 3].map(day => `b/cairn-2026-01-0${day}T03-00-00Z.db`)
    for (const file of old) {
      writeFileSync(cairn.path(file), 'x')
      writeFileSync(cairn.path(`${file}.sha256`), 'x')
    }
    const others = ['b/notes.txt', 'b/cairn-2026-01-01.db', 'b/cairn-2026-01-01T03-00-00Z.db.gz']
    for (const file of others) writeFileSync(cairn.path(file), 'x')
    // The checksum of a backup that was killed before its file got its name.
    writeFileSync(cairn.path('b/cairn-2026-01-04T03-00-00Z.db.sha256'), 'x')
    const { file, removed } = await cairn.json(['backup', 'b', '--keep', '2'])
    expect(basename(file)).toMatch(/^cairn-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/)
    expect(removed).toEqual([old[1], old[0]])
    const kept = [file, `${file}.sha256`, old[2], `${old[2]}.sha256`, ...others]
    expect(readdirSync(cairn.path('b')).sort()).toEqual(kept.map(name => basename(name)).sort())
    const list = await cairn.json(['backup', 'list', 'b'])
    expect(list.map((one: { file: string }) => one.file)).toEqual([file, old[2]])
    expect(list[1]).toEqual({ file: old[2], bytes: 1, at: '2026-01-03T03:00:00.000Z' })
  })

  test('is never put into the data directory, by whatever name', async () => {
    symlinkSync('cairn-data', cairn.path('link'))
    mkdirSync(cairn.path('cairn-data/backups'))
    symlinkSync('cairn-data/backups', cairn.path('nested'))
    const before = readdirSync(cairn.path('cairn-data')).sort()
    const targets = ['cairn-data', 'cairn-data/new/deep/', 'link/a.db', 'nested/new/']
    for (const target of [...targets, './link/backups/../../cairn-data/a.db']) {
      const line = await failure(['backup', target])
      expect(line).toContain('is in the data directory ./cairn-data and would be lost with it')
      expect(line).toContain('choose another directory')
    }
    expect(readdirSync(cairn.path('cairn-data')).sort()).toEqual(before)
    expect((await cairn.run(['backup', 'cairn-data-copies/'])).status).toBe(0)
    expect((await cairn.run(['backup', '.', '--data', 'link'])).status).toBe(0)
  })

  test('of a database that a restore would refuse says so, as does doctor', async () => {
    {
      using database = new Database(cairn.path('cairn-data/cairn.db'))
      database.run('create trigger t after insert on runs begin delete from runs; end')
    }
    const { status, stderr } = await cairn.run(['backup', 'a.db'])
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining('a.db cannot be restored: the trigger "t" on "runs" is not Cairn\'s'),
    ])
    const { stdout } = await cairn.run(['doctor'])
    expect(stdout).toMatch(/^error .*the trigger "t" on "runs" is not Cairn's\n.*drop trigger/m)
  })

  test('is not made of a damaged database', async () => {
    const file = cairn.path('cairn-data/cairn.db')
    const bytes = readFileSync(file)
    bytes.fill(0xff, 8_192, 20_000)
    writeFileSync(file, bytes)
    expect(await failure(['backup', 'a.db'])).toMatch(/damaged/)
    expect(readdirSync(cairn.folder)).toEqual(['cairn-data'])
  })
})

describe('restore', () => {
  beforeEach(() => withBackup(cairn))

  test('puts the backup in place and keeps the old database, which can be restored', async () => {
    await withLaterData(cairn)
    const { status, stdout, stderr } = await cairn.run(['restore', 'a.db'])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('start the server: cairn serve --data')
    expect(slugs()).toEqual(['acme'])
    const [, aside] = /To undo: cairn restore (\S+) --data/.exec(stdout)!
    await cairn.run(['restore', aside!])
    expect(slugs()).toEqual(['acme', 'beta'])
    const names = readdirSync(cairn.path('cairn-data'))
    expect(names.filter(name => name.startsWith('cairn.db.before-'))).toHaveLength(2)
    expect(names).not.toContain('.cairn-restore.partial')
    expect(statSync(cairn.path('cairn-data/cairn.db')).mode & 0o777).toBe(0o600)
  })

  test('two in a row keep both previous databases', async () => {
    await withLaterData(cairn)
    await cairn.run(['restore', 'a.db'])
    await cairn.run(['restore', 'a.db'])
    const names = readdirSync(cairn.path('cairn-data'))
    const aside = names.filter(name => name.startsWith('cairn.db.before-')).sort()
    expect(aside).toHaveLength(2)
    using first = new Database(cairn.path(`cairn-data/${aside[0]}`), { readonly: true })
    expect(first.query('select count(*) from organisations').values()).toEqual([[2]])
    const { stdout } = await cairn.run(['doctor', '--port', '0', '--management-port', '0'])
    expect(stdout).toMatch(/Databases that restores replaced: 2\n.* \/.*cairn\.db\.before-\*"/)
  })

  test('makes a data directory where there is none, for its user alone', async () => {
    const { stdout } = await cairn.run(['restore', 'a.db', '--data', 'first'])
    expect(stdout).not.toContain('To undo')
    expect(await cairn.json(['restore', 'a.db', '--data', 'new'])).toMatchObject({ aside: null })
    expect(statSync(cairn.path('new')).mode & 0o777).toBe(0o700)
    expect(await cairn.json(['org', 'list', '--data', 'new'])).toHaveLength(1)
  })

  test('leaves session.key and everything else in the directory as they are', async () => {
    writeFileSync(cairn.path('cairn-data/session.key'), 'key')
    writeFileSync(cairn.path('cairn-data/else'), 'else')
    await cairn.run(['restore', 'a.db'])
    expect(readFileSync(cairn.path('cairn-data/session.key'), 'utf8')).toBe('key')
    expect(readFileSync(cairn.path('cairn-data/else'), 'utf8')).toBe('else')
    // A secret in every backup would make every backup a secret.
    expect(readFileSync(cairn.path('a.db')).includes('key\n')).toBe(false)
  })

  test('takes later erasures from the lists beside the backup, and keeps those it knows', async () => {
    const line = (name: string) => {
      const person = Buffer.from(name.padEnd(16)).toString('hex')
      const key = `${'k'.repeat(43)}=`
      const at = '2026-01-01T00:00:00.000Z'
      return `${JSON.stringify({ action: 'erase', at, org: 'org_a', key, person })}\n`
    }
    const list = (data: string) => readFileSync(cairn.path(`${data}/erasures.jsonl`), 'utf8')
    await cairn.run(['backup', 'old.db'])
    writeFileSync(cairn.path('cairn-data/erasures.jsonl'), line('ann'))
    await cairn.run(['backup', 'new.db'])
    // A process died while it wrote the last line, and half of that is there.
    writeFileSync(cairn.path('cairn-data/erasures.jsonl'), `${line('ann')}${line('ben')}{"act`)
    await cairn.run(['restore', 'old.db'])
    expect(list('cairn-data')).toStartWith(`${line('ann')}${line('ben')}`)
    const elsewhere = ['restore', 'old.db', '--data', 'elsewhere']
    expect(await cairn.json(elsewhere)).toMatchObject({ erasuresTaken: 1 })
    expect(list('elsewhere')).toBe(line('ann'))
    expect(await cairn.json(elsewhere)).toMatchObject({ erasuresTaken: 0 })
    expect(statSync(cairn.path('elsewhere/erasures.jsonl')).mode & 0o777).toBe(0o600)
    writeFileSync(cairn.path('new.db.erasures.jsonl'), 'nonsense\n')
    expect(await failure(elsewhere)).toContain('new.db.erasures.jsonl next to the backup')
  })

  test('refuses while a server runs or another program has the database open', async () => {
    const lock = acquireLock(cairn.path('cairn-data'), {
      ...{ pid: 1, host: 'h', startedAt: '', port: 1, version: '' },
      ...{ managementHost: '', managementPort: 1 },
    })
    expect(await failure(['restore', 'a.db'])).toContain('a server is already running on')
    lock.release()
    const child = Bun.spawn(
      [
        process.execPath,
        '-e',
        `const { openForReading } = require('${import.meta.dir}/../../src/storage/sqlite/database/database.ts')
        const database = openForReading('${cairn.path('cairn-data')}')
        database.query('select count(*) from organisations').get()
        console.log('open')
        setInterval(() => database, 1000)`,
      ],
      { stdout: 'pipe' },
    )
    await child.stdout.getReader().read()
    expect(await failure(['restore', 'a.db'])).toContain('another program has')
    child.kill('SIGKILL')
    await child.exited
    expect((await cairn.run(['restore', 'a.db'])).status).toBe(0)
  })

  describe('a bad backup changes nothing', () => {
    beforeEach(() => withLaterData(cairn))
    afterEach(() => {
      expect(slugs()).toEqual(['acme', 'beta'])
    })

    const refused = async (message: string, file = 'b.db') => {
      expect(await failure(['restore', file])).toContain(message)
    }

    /** Makes a copy of the backup, without a checksum, and changes it as a program would. */
    const changed = (...statements: string[]) => {
      copyFileSync(cairn.path('a.db'), cairn.path('b.db'))
      using database = new Database(cairn.path('b.db'))
      for (const sql of statements) database.run(sql)
    }

    test('if a byte of it was changed', async () => {
      const bytes = readFileSync(cairn.path('a.db'))
      bytes[bytes.length - 1]! ^= 1
      writeFileSync(cairn.path('b.db'), bytes)
      copyFileSync(cairn.path('a.db.sha256'), cairn.path('b.db.sha256'))
      await refused('b.db has changed since it was made')
      expect(await failure(['restore', '--check', 'b.db'])).toContain(
        'b.db has changed since it was made',
      )
      writeFileSync(cairn.path('b.db.sha256'), 'nonsense')
      await refused('b.db.sha256 has no checksum')
    })

    test('if a page is damaged, half of the file is missing, or there is none', async () => {
      const bytes = readFileSync(cairn.path('a.db'))
      bytes.fill(0xff, 8_192, 20_000)
      writeFileSync(cairn.path('b.db'), bytes)
      await refused('b.db is damaged')
      writeFileSync(cairn.path('b.db'), readFileSync(cairn.path('a.db')).subarray(0, 50_000))
      await refused('b.db is damaged')
      writeFileSync(cairn.path('b.db'), 'something else')
      await refused('b.db is damaged or not a database')
      await refused('cannot be read (ENOENT)', 'none.db')
      const gone = await failure(['restore', 'none.db', '--data', 'new'])
      expect(gone).toContain('none.db cannot be read (ENOENT)')
      expect(existsSync(cairn.path('new'))).toBe(false)
      await refused('is not a file', 'cairn-data')
    })

    test('if it is of a newer Cairn, or not Cairn’s at all', async () => {
      changed('pragma user_version = 999')
      await refused('was made by a newer release (schema 999')
      using other = new Database(cairn.path('c.db'), { create: true })
      other.run('create table t (a)')
      await refused('is not a Cairn database', 'c.db')
    })

    test('a database in use, with its log beside it', async () => {
      changed('pragma application_id = 1')
      writeFileSync(cairn.path('b.db-wal'), 'x')
      await refused('b.db is not a backup but a database in use')
      writeFileSync(cairn.path('b.db-wal'), '')
      expect((await cairn.run(['restore', '--check', 'b.db'])).status).toBe(0)
    })
  })

  test('a backup in WAL mode is restored too, and nothing is made beside it', async () => {
    {
      using database = new Database(cairn.path('a.db'))
      database.run('pragma journal_mode = wal')
    }
    const { status, stderr } = await cairn.run(['restore', '--check', 'a.db'])
    expect(status).toBe(1)
    expect(stderr).toContain('has changed since it was made')
    Bun.spawnSync(['rm', cairn.path('a.db.sha256')])
    const checked = await cairn.run(['restore', 'a.db'])
    expect(checked.status).toBe(0)
    expect(checked.stderr).toContain('warning: no checksum a.db.sha256')
    expect(readdirSync(cairn.folder).sort()).toEqual(['a.db', 'cairn-data'])
    const left = readdirSync(cairn.path('cairn-data')).filter(name => name.includes('partial'))
    expect(left).toEqual([])
    expect(slugs()).toEqual(['acme'])
  })

  test('a database that cannot be read any more is replaced, and kept aside', async () => {
    const wreck = 'wreck'.repeat(2_000)
    writeFileSync(cairn.path('cairn-data/cairn.db'), wreck)
    const { aside } = await cairn.json(['restore', 'a.db'])
    expect(slugs()).toEqual(['acme'])
    expect(readFileSync(cairn.path(aside), 'utf8')).toBe(wreck)
  })
})
