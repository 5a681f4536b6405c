import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForWriting } from '../../src/storage/database.ts'
import { migrate, SchemaMismatch, schemaState } from '../../src/storage/migrate.ts'

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
  test('is made step by step, and the second time nothing is left to do', () => {
    migrate(database, 1)
    const { applied, known, differing } = schemaState(database)
    expect([applied, differing]).toEqual([known, []])
    const before = schemaOf(database)
    migrate(database, 2)
    expect(schemaOf(database)).toEqual(before)
  })

  test('that is up to date is found so without a lock: a command does not wait for who writes', () => {
    migrate(database, 1)
    const writing = new Database(join(folder, 'cairn.db'))
    writing.run('begin immediate')
    database.run('pragma busy_timeout = 0')
    expect(() => migrate(database, 2)).not.toThrow()
    writing.run('rollback')
    writing.close()
  })

  test('of a newer release is refused, and nothing is changed', () => {
    migrate(database, 1)
    database.run("insert into migrations values (999, 'later', 'x', 1)")
    expect(() => migrate(database, 2)).toThrow(SchemaMismatch)
    expect(() => migrate(database, 2)).toThrow('run the newer binary')
  })

  test('with a step that is not the one of this release is refused', () => {
    migrate(database, 1)
    database.run("update migrations set sha256 = 'other' where id = 1")
    expect(() => migrate(database, 2)).toThrow('Migration 1 (initial) is not the one applied here')
  })

  test('of an older release is brought up to date with what it holds', () => {
    migrate(database, 1)
    const whole = schemaOf(database)
    const org = database
      .query(
        "insert into organisations (public_id, slug, name, created_at) values ('o', 's', 'n', 1) returning id",
      )
      .values()
    // As the release before event ids had it.
    database.run('drop table event_id_runs')
    database.run('drop table event_id_chunks')
    database.run("delete from server_state where name like 'event_ids%'")
    database.run('create unique index events_by_id on events (org_id, id)')
    database.run('delete from migrations where id = 3')
    migrate(database, 2)
    expect(schemaOf(database)).toEqual(whole)
    expect(database.query('select id from organisations').values()).toEqual(org)
  })
})
