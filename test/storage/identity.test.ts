import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noUserHashes, summedHours } from '../../src/core/organisation/verified-identity.ts'
import { StoredCatalogue } from '../../src/storage/catalogue/catalogue.ts'
import { openForWriting } from '../../src/storage/database/database.ts'
import { migrate } from '../../src/storage/database/migrate.ts'
import { identityHours } from '../../src/storage/organisations/identity-counts.ts'
import { IdentityTable } from '../../src/storage/organisations/identity-table.ts'
import { IdentityBoard } from '../../src/storage/shared.ts'
import {
  createOrganisation,
  identityOf,
  rotateIdentitySecret,
  setIdentityMode,
} from '../support/organisations.ts'

const now = Date.UTC(2026, 10, 20, 9, 30)
const hour = 3_600_000
let folder: string
let database: Database
let row: number

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-identity-'))
  database = openForWriting(folder)
  migrate(database, now)
  row = createOrganisation(database, { name: 'Acme' }, now).organisation.row
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

const known = () => new StoredCatalogue(database).organisationByRow(row).identity

describe('secrets', () => {
  const rotate = (graceMs: number, at = now) =>
    rotateIdentitySecret(database, row, { now: at, graceMs })
  const stored = () =>
    database.query<{ secret: string }, []>('select secret from identity_secrets').all()

  test('whoever first looks at hashes gets one, and keeps it through every mode', () => {
    expect(identityOf(database, row, now)).toEqual({ mode: 'off', secrets: [] })
    expect(known()).toBeNull()
    const { mode, secrets } = setIdentityMode(database, row, 'observe', now)
    expect(mode).toBe('observe')
    expect(secrets).toEqual([
      { secret: expect.stringMatching(/^[A-Za-z0-9]{48}$/), createdAt: now, retiredAt: null },
    ])
    expect(known()?.isEnforced).toBe(false)
    expect(setIdentityMode(database, row, 'enforce', now).secrets).toEqual(secrets)
    expect(known()).toEqual({
      isEnforced: true,
      secrets: [{ secret: secrets[0]!.secret, endsAt: null }],
    })
    setIdentityMode(database, row, 'off', now)
    expect(known()).toBeNull()
    expect(setIdentityMode(database, row, 'observe', now).secrets).toEqual(secrets)
  })

  test('of a rotation the one before works for the grace time, and a third there is not', () => {
    const [first] = setIdentityMode(database, row, 'enforce', now).secrets
    const { secrets } = rotate(hour)
    expect(secrets).toMatchObject([
      { retiredAt: null },
      { secret: first!.secret, retiredAt: now + hour },
    ])
    expect(known()?.secrets.map(({ endsAt }) => endsAt)).toEqual([null, now + hour])
    expect(() => rotate(hour, now + hour - 1)).toThrow('Two secrets work already')
    expect(identityOf(database, row, now + hour).secrets).toHaveLength(1)
    expect(rotate(hour, now + hour).secrets).toMatchObject([
      { retiredAt: null },
      { secret: secrets[0]!.secret },
    ])
  })

  test('at once ends all of before, of which nothing stays in the database', () => {
    setIdentityMode(database, row, 'enforce', now)
    rotate(hour)
    const { secrets } = rotate(0)
    expect(secrets).toHaveLength(1)
    expect(stored()).toEqual([{ secret: secrets[0]!.secret }])
  })

  test('are one organisation’s, and no other’s', () => {
    const other = createOrganisation(database, { name: 'Globex' }, now).organisation.row
    setIdentityMode(database, row, 'enforce', now)
    setIdentityMode(database, other, 'observe', now)
    rotateIdentitySecret(database, other, { now, graceMs: 0 })
    expect(identityOf(database, row, now).secrets).toHaveLength(1)
    const [ours, theirs] = [row, other].map(of => identityOf(database, of, now).secrets[0]!.secret)
    expect(ours).not.toBe(theirs)
  })
})

describe('counts', () => {
  const memory = IdentityBoard.memory(8)
  const board = () => new IdentityBoard(memory)
  const hours = (at = now) => identityHours(database)(row, at)

  test('of all threads are written under their hour, each once', () => {
    const table = new IdentityTable(database, board())
    expect(table.hasNews()).toBe(false)
    board().add(row, { valid: 3, missing: 1 })
    board().add(7, { invalid: 5 })
    expect(table.hasNews()).toBe(true)
    // Rolled back: it is written again.
    table.write(now)
    database.run('delete from identity_counts')
    table.write(now)()
    expect(table.hasNews()).toBe(false)
    board().add(row, { valid: 1, outdated: 2 })
    table.write(now + hour)()
    table.write(now + hour)()
    expect(hours()).toEqual([
      { ...noUserHashes, at: now - hour / 2, valid: 3, missing: 1 },
      { ...noUserHashes, at: now + hour / 2, valid: 1, outdated: 2 },
    ])
    expect(summedHours(hours())).toEqual({ valid: 4, outdated: 2, invalid: 0, missing: 1 })
    expect(board().sums()).toEqual({ valid: 4, outdated: 2, invalid: 5, missing: 1 })
    expect(hours(now + 24 * hour)).toHaveLength(1)
    expect(hours(now + 25 * hour)).toEqual([])
  })

  test('go on beyond what a word holds', () => {
    const own = new IdentityBoard(IdentityBoard.memory(8))
    const table = new IdentityTable(database, own)
    own.add(row, { valid: 2 ** 32 - 1 })
    table.write(now)()
    own.add(row, { valid: 3 })
    table.write(now)()
    expect(own.sums().valid).toBe(2 ** 32 + 2)
    expect(summedHours(hours()).valid).toBe(2 ** 32 + 2)
  })
})
