import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyDatabase } from '../../../../src/storage/sqlite/backup/copy-database.ts'
import { openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import { opened } from '../../../support/bank.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-backup-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const copyFile = () => join(folder, 'copy')

interface Books {
  integrity: unknown
  sum: number
  accounts: number
  transfers: number
}

function booksOf(file: string): Books {
  using database = new Database(file, { readonly: true })
  const rows = database.query('select sum(balance), count(*) from accounts').values() as number[][]
  const transfers = database.query('select count from transfers').values() as number[][]
  return {
    integrity: database.query('pragma integrity_check').values(),
    sum: rows[0]![0]!,
    accounts: rows[0]![1]!,
    transfers: transfers[0]![0]!,
  }
}

/** Another process that goes on writing until the test is over. */
async function writing(accounts: number) {
  const program = join(import.meta.dir, '../../../support/bank.ts')
  const child = Bun.spawn([process.execPath, program, folder, `${accounts}`], { stdout: 'pipe' })
  await child.stdout.getReader().read()
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

/** Another process that runs statements; at `stay` it says so, and keeps the database open. */
function changing(...statements: string[]): string[] {
  const program = `
    const { openForWriting } = require('${join(import.meta.dir, '../../../../src/storage/sqlite/database/database.ts')}')
    const database = openForWriting('${folder}')
    database.run('pragma busy_timeout = 0')
    for (const sql of ${JSON.stringify(statements)}) {
      if (sql !== 'stay') database.query(sql).all()
      else {
        console.log('staying')
        setInterval(() => {}, 1_000)
      }
    }`
  return [process.execPath, '-e', program]
}

describe('a database that another process writes', () => {
  test('each copy is complete, of one moment, and later than the one before', async () => {
    const accounts = 10_000
    await using _ = await writing(accounts)
    let last = -1
    for (let i = 0; i < 4; i++) {
      await copyDatabase(folder, copyFile())
      const { integrity, sum, accounts: found, transfers } = booksOf(copyFile())
      expect(integrity).toEqual([['ok']])
      expect(sum).toBe(0)
      expect(found).toBe(accounts + transfers * opened)
      expect(transfers).toBeGreaterThanOrEqual(last)
      last = transfers
      rmSync(copyFile())
    }
    expect(last).toBeGreaterThan(0)
  }, 300_000)

  test('is copied correctly even if its log begins again meanwhile', async () => {
    {
      await using bank = await writing(3_000)
      await bank[Symbol.asyncDispose]()
    }
    // It keeps the log, which is fully written back, so the next commit begins it again.
    const keeper = Bun.spawn(changing('pragma wal_checkpoint(full)', 'stay'), { stdout: 'pipe' })
    await keeper.stdout.getReader().read()
    const log = join(folder, 'cairn.db-wal')
    const before = readFileSync(log).subarray(0, 32)
    let changes = 0
    await copyDatabase(folder, copyFile(), () => {
      const commit = 'update transfers set count = count + 1'
      Bun.spawnSync(changing(commit, 'pragma wal_checkpoint(restart)'))
      changes++
    })
    expect(changes).toBeGreaterThan(5)
    expect(readFileSync(log).subarray(0, 32)).not.toEqual(before)
    const { integrity, sum, transfers } = booksOf(copyFile())
    expect(integrity).toEqual([['ok']])
    expect(sum).toBe(0)
    expect(transfers).toBeLessThanOrEqual(booksOf(join(folder, 'cairn.db')).transfers)
    keeper.kill('SIGKILL')
    await keeper.exited
  }, 300_000)
})

test('a database that nobody has open is copied too, with what only its log holds', async () => {
  await using killed = await writing(100)
  await killed[Symbol.asyncDispose]()
  expect(statSync(join(folder, 'cairn.db-wal')).size).toBeGreaterThan(0)
  await copyDatabase(folder, copyFile())
  const { integrity, sum } = booksOf(copyFile())
  expect(integrity).toEqual([['ok']])
  expect(sum).toBe(0)
})

test('a copy is one file for its user alone, and identical as long as nothing changes', async () => {
  const database = openForWriting(folder)
  database.run('create table t (a)')
  database.close()
  const [one, two] = [join(folder, 'one'), join(folder, 'two')]
  await copyDatabase(folder, one)
  await copyDatabase(folder, two)
  expect(statSync(one).mode & 0o777).toBe(0o600)
  expect(await Bun.file(one).bytes()).toEqual(await Bun.file(two).bytes())
  expect(
    readdirSync(folder)
      .filter(name => /^(one|two)/.test(name))
      .sort(),
  ).toEqual(['one', 'two'])
})

test('if there is nothing to copy, no file is made', async () => {
  await expect(copyDatabase(folder, copyFile())).rejects.toMatchObject({ code: 'ENOENT' })
  expect(existsSync(copyFile())).toBe(false)
})
