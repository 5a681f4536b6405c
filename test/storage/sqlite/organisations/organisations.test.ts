import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { maxOrganisations } from '../../../../src/storage/shared/live-state.ts'
import { openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import { createOrganisation } from '../../../support/organisations.ts'

const now = 1_790_000_000_000
let folder: string
let database: Database

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-organisations-'))
  database = openForWriting(folder)
  migrate(database)
})

afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

const create = (name: string) => createOrganisation(database, { name }, now)

describe('an organisation', () => {
  test('is not made if the shared tables have no room for it', () => {
    database.run(
      "insert into organisations (id, public_id, slug, name, created_at) values (?, 'org_x', 'x', 'x', 0)",
      [maxOrganisations],
    )
    expect(() => create('Harbor')).toThrow('full')
  })
})
