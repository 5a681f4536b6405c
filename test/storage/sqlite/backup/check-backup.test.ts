import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkBackup, RestoreRejected } from '../../../../src/storage/sqlite/backup/check-backup.ts'
import { databaseFile } from '../../../../src/storage/sqlite/database/database.ts'
import { prepareDatabase } from '../../../../src/storage/sqlite/database/prepare.ts'

/** What a restore finds out about a file before it replaces anything. */

const folder = mkdtempSync(join(tmpdir(), 'cairn-check-'))
afterAll(() => rmSync(folder, { recursive: true }))

const asOneFile = (dataDir: string): string => {
  using database = new Database(databaseFile(dataDir))
  database.run('pragma journal_mode = delete')
  // Otherwise what was dropped may still be somewhere in the file.
  database.run('vacuum')
  return databaseFile(dataDir)
}
const dataDir = join(folder, 'data')
mkdirSync(dataDir)
prepareDatabase(dataDir).close()
const good = asOneFile(dataDir)
const bad = join(folder, 'b.db')

/** Changes a copy as a program would, and returns why it is refused; null if it is not. */
function rejectionOf(...statements: string[]): string | null {
  copyFileSync(good, bad)
  {
    using database = new Database(bad)
    for (const sql of statements) database.run(sql)
  }
  return rejection()
}

function rejection(): string | null {
  try {
    checkBackup(bad, 'b.db')
    return null
  } catch (error) {
    if (error instanceof RestoreRejected) return error.message
    throw error
  }
}

test('what this release has made is as it should be', () => {
  expect(rejectionOf()).toBeNull()
})

test('so is what SQLite and Litestream add for themselves', () => {
  const ofLitestream = [
    'CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)',
    'CREATE TABLE _litestream_lock (id INTEGER)',
  ]
  expect(rejectionOf('analyze', ...ofLitestream)).toBeNull()
})

describe('a schema that differs from the one that Cairn makes is rejected, with the difference', () => {
  test.each([
    [
      'create trigger t after insert on runs begin delete from event_batches; end',
      'the trigger "t" on "runs" is not Cairn\'s',
    ],
    ['create view v as select 1', 'the view "v" is not Cairn\'s'],
    ['create table other (a)', 'the table "other" is not Cairn\'s'],
    ['create virtual table other using fts5(a)', 'the table "other" is not Cairn\'s'],
    ['create index i on runs (person)', 'the index "i" on "runs" is not Cairn\'s'],
    [
      'create table _litestream_seq (id integer primary key, seq integer, more text)',
      'the table "_litestream_seq" is not Cairn\'s',
    ],
    ['drop index runs_by_start', 'the index "runs_by_start" on "runs" is missing'],
    ['drop table goals', 'the table "goals" is missing'],
    ['alter table goals add column more text', 'the table "goals" differs'],
    ['pragma user_version = 0', 'is not a Cairn database'],
  ])('%s', (sql, differs) => {
    const told = rejectionOf(sql)
    expect(told).toContain(differs)
    expect(told).toStartWith('b.db ')
  })

  test.each([
    ['CREATE TABLE completions', 'CREATE TABLE completionz'],
    ['only what the operator has set', 'only what the operator has sat'],
    ['CREATE INDEX runs_by_start', 'CREATE INDEX runs_by_stars'],
  ])('%s', (written, instead) => {
    const bytes = readFileSync(good)
    // A page that was split keeps an old copy.
    for (let at = bytes.indexOf(written); at >= 0; at = bytes.indexOf(written, at + 1)) {
      bytes.write(instead, at)
    }
    writeFileSync(bad, bytes)
    expect(rejection()).toStartWith('b.db ')
  })

  test('of many differences the first are named', () => {
    const sql = Array.from({ length: 6 }, (_, i) => `create view v${i} as select 1`)
    const told = rejectionOf(...sql)
    expect(told).toContain('"v0"')
    expect(told).toContain('3 more')
  })
})

test('a changed bit of the schema never passes, and each rejection has a message', () => {
  const bytes = readFileSync(good)
  const step = bytes.lastIndexOf('CREATE TABLE flows')
  for (let i = 0; i < 24; i++) {
    const inHeader = 4 * i
    const inSchema = step + 5 * i
    for (const at of [inHeader, inSchema]) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1 << (i % 8)
      writeFileSync(bad, changed)
      const told = rejection()
      if (at === inSchema) expect([5 * i, told]).toEqual([5 * i, expect.any(String)])
    }
  }
})
