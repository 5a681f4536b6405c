import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import {
  migrate,
  SchemaMismatch,
  schemaKnown,
  schemaOf,
} from '../../../../src/storage/sqlite/database/migrate.ts'

let folder: string
let database: Database

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-migrate-'))
  database = openForWriting(folder)
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

const tablesOf = (of: Database) =>
  of.query("select sql from sqlite_schema where name not like 'sqlite_%' order by name").values()

describe('the schema', () => {
  test('is made once, and a second migration does nothing', () => {
    migrate(database)
    expect(schemaOf(database)).toBe(schemaKnown)
    const before = tablesOf(database)
    migrate(database)
    expect(tablesOf(database)).toEqual(before)
  })

  test('is made completely or not at all', () => {
    const stopped = () =>
      migrate(database, () => {
        throw new Error('the power is gone')
      })
    expect(stopped).toThrow('the power is gone')
    expect([schemaOf(database), tablesOf(database)]).toEqual([0, []])
    migrate(database)
    expect(schemaOf(database)).toBe(schemaKnown)
  })

  test('is recognised as up to date without a lock, so a command does not wait for a writer', () => {
    migrate(database)
    const writing = new Database(join(folder, 'cairn.db'))
    writing.run('begin immediate')
    database.run('pragma busy_timeout = 0')
    expect(() => migrate(database)).not.toThrow()
    writing.run('rollback')
    writing.close()
  })

  test('of a newer release is rejected', () => {
    migrate(database)
    database.run('pragma user_version = 999')
    expect(() => migrate(database)).toThrow(SchemaMismatch)
    expect(() => migrate(database)).toThrow('run the newer release')
  })

  test('of a database that no release has made is rejected, and nothing is changed', () => {
    database.run('create table organisations (id integer primary key)')
    const before = tablesOf(database)
    expect(() => migrate(database)).toThrow('start with an empty data directory')
    expect(tablesOf(database)).toEqual(before)
  })
})
