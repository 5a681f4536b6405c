import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import {
  migrate,
  SchemaMismatch,
  schemaState,
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

const schemaOf = (of: Database) =>
  of.query("select sql from sqlite_schema where name not like 'sqlite_%' order by name").values()

describe('the schema', () => {
  test('is made step by step, and a second migration does nothing', () => {
    migrate(database, 1)
    const { applied, known, differing } = schemaState(database)
    expect([applied, differing]).toEqual([known, []])
    const before = schemaOf(database)
    migrate(database, 2)
    expect(schemaOf(database)).toEqual(before)
  })

  test('of a new database is made completely or not at all', () => {
    const stopped = () =>
      migrate(database, 1, ({ id, share }) => {
        if (id === 5 && share === 1) throw new Error('the power is gone')
      })
    expect(stopped).toThrow('the power is gone')
    expect(schemaOf(database)).toEqual([])
    migrate(database, 2)
    expect(schemaState(database).due).toEqual([])
  })

  test('is recognised as up to date without a lock, so a command does not wait for a writer', () => {
    migrate(database, 1)
    const writing = new Database(join(folder, 'cairn.db'))
    writing.run('begin immediate')
    database.run('pragma busy_timeout = 0')
    expect(() => migrate(database, 2)).not.toThrow()
    writing.run('rollback')
    writing.close()
  })

  test('of a newer release is rejected, and nothing is changed', () => {
    migrate(database, 1)
    database.run("insert into migrations values (999, 'later', 'x', 1)")
    expect(() => migrate(database, 2)).toThrow(SchemaMismatch)
    expect(() => migrate(database, 2)).toThrow('run the newer release')
  })

  test('with a step that differs from this release is rejected', () => {
    migrate(database, 1)
    database.run("update migrations set sha256 = 'other' where id = 1")
    expect(() => migrate(database, 2)).toThrow('step 1 (initial) of the database')
  })
})
