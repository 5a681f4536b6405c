import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noUserHashes, summedHours } from '../../../../src/core/organisation/verified-identity.ts'
import { openForWriting } from '../../../../src/storage/sqlite/database/database.ts'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import {
  identityHours,
  UserHashes,
} from '../../../../src/storage/sqlite/organisations/user-hashes.ts'
import { createOrganisation } from '../../../support/organisations.ts'

const now = Date.UTC(2026, 10, 20, 9, 30)
const hour = 3_600_000
let folder: string
let database: Database
let row: number

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-identity-'))
  database = openForWriting(folder)
  migrate(database)
  row = createOrganisation(database, { name: 'Acme' }, now).organisation.row
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

describe('counts', () => {
  const hours = (at = now) => identityHours(database)(row, at)

  test('are written under their hour, each once', () => {
    const table = new UserHashes(database)
    expect(table.hasNews).toBe(false)
    table.add(row, { valid: 3, missing: 1 })
    table.add(7, { invalid: 5 })
    expect(table.hasNews).toBe(true)
    // The first write is rolled back, so the counts are written again.
    table.write(now)
    database.run('delete from identity_counts')
    table.write(now)()
    expect(table.hasNews).toBe(false)
    table.add(row, { valid: 1, outdated: 2 })
    table.write(now + hour)()
    table.write(now + hour)()
    expect(hours()).toEqual([
      { ...noUserHashes, at: now - hour / 2, valid: 3, missing: 1 },
      { ...noUserHashes, at: now + hour / 2, valid: 1, outdated: 2 },
    ])
    expect(summedHours(hours())).toEqual({ valid: 4, outdated: 2, invalid: 0, missing: 1 })
    expect(table.sums).toEqual({ valid: 4, outdated: 2, invalid: 5, missing: 1 })
    expect(hours(now + 24 * hour)).toHaveLength(1)
    expect(hours(now + 25 * hour)).toEqual([])
  })
})
