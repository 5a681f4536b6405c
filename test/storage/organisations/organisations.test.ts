import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AuditEntry } from '../../../src/core/organisation/audit.ts'
import { StoredCatalogue } from '../../../src/storage/catalogue/catalogue.ts'
import { openForWriting } from '../../../src/storage/database/database.ts'
import { migrate } from '../../../src/storage/database/migrate.ts'
import {
  changeOrganisation,
  findOrganisation,
  keysOf,
  listOrganisations,
  readOrganisation,
} from '../../../src/storage/organisations/organisations.ts'
import { mostOrganisations } from '../../../src/storage/shared.ts'
import {
  createOrganisation,
  rotateKey,
  setLimits,
  setSettings,
} from '../../support/organisations.ts'

const now = 1_790_000_000_000
let folder: string
let database: Database

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-organisations-'))
  database = openForWriting(folder)
  migrate(database, now)
})

afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

const create = (name: string) => createOrganisation(database, { name }, now)

const changes = () =>
  database
    .query<{ org_id: number }, []>('select org_id from catalogue_changes order by seq')
    .all()
    .map(row => row.org_id)

describe('an organisation', () => {
  test('is made with its first snippet key, which the catalogue knows', () => {
    const { organisation, snippetKey } = create('Harbor')
    expect(organisation.id).toMatch(/^org_[A-Za-z0-9]{18}$/)
    expect(snippetKey).toMatch(/^[A-Za-z0-9]{32}$/)
    const known = new StoredCatalogue(database).snippetKey(snippetKey)
    expect(known).toMatchObject({ organisation: { id: organisation.id }, endsAt: null })
  })

  test('is found by id and by slug, and by nothing else', () => {
    const { row, ...organisation } = create('Harbor').organisation
    expect(findOrganisation(database, organisation.id)).toEqual(organisation)
    expect(findOrganisation(database, 'harbor')).toEqual(organisation)
    expect(findOrganisation(database, 'Harbor')).toBeNull()
  })

  test('of a slug that is taken is not made, and nothing is left of the attempt', () => {
    create('Harbor')
    expect(() => create('harbor!')).toThrow('slug taken')
    expect(listOrganisations(database)).toHaveLength(1)
    expect(changes()).toHaveLength(1)
  })

  test('beyond the room of the shared tables is not made', () => {
    database.run(
      "insert into organisations (id, public_id, slug, name, created_at) values (?, 'org_x', 'x', 'x', 0)",
      [mostOrganisations],
    )
    expect(() => create('Harbor')).toThrow('full')
  })

  test('that somebody else has changed since it was read is not changed', () => {
    const { row } = create('Harbor').organisation
    const { revision } = readOrganisation(database, row, now)
    setLimits(database, row, { events: 5 })
    const change = { revision, settings: { honoursDoNotTrack: true }, audit: [] }
    expect(changeOrganisation(database, row, change)).toBe(false)
    expect(findOrganisation(database, 'harbor')?.honoursDoNotTrack).toBe(false)
  })
})

describe('a change and its lines of the audit log', () => {
  const entry = {
    at: now,
    actor: { via: 'command line', name: 'ann', requestId: null },
    action: 'settings.change',
    subject: 'org_x',
    before: null,
    after: null,
    note: null,
  } as const
  const change = (row: number, audit: AuditEntry) => {
    const { revision } = readOrganisation(database, row, now)
    const key = { text: 'k'.repeat(32), createdAt: now, othersEndAt: now }
    const settings = { retentionDays: 7 }
    return changeOrganisation(database, row, {
      revision,
      settings,
      snippetKey: key,
      audit: [audit],
    })
  }
  const audited = () => database.query('select action from audit_log order by id').values()

  test('are stored together', () => {
    const { row } = create('Harbor').organisation
    expect(change(row, entry)).toBe(true)
    expect(audited()).toEqual([['test'], ['settings.change']])
    expect(keysOf(database, row, now).map(({ key }) => key)).toEqual(['k'.repeat(32)])
  })

  test('or neither is, where a line cannot be written', () => {
    const { organisation: made, snippetKey } = create('Harbor')
    const { row, ...organisation } = made
    expect(() => change(row, { ...entry, action: null as never })).toThrow()
    expect(findOrganisation(database, 'harbor')).toEqual(organisation)
    expect(keysOf(database, row, now).map(({ key }) => key)).toEqual([snippetKey])
    expect(audited()).toEqual([['test']])
    expect(changes()).toHaveLength(1)
  })
})

describe('limits', () => {
  test('that are set count, the others stay the defaults', () => {
    const { row } = create('Harbor').organisation
    setLimits(database, row, { events: 5, export: 1_000_000 })
    const organisation = setLimits(database, row, { events: 7 })
    expect(organisation.overrides).toEqual({ events: 7, export: 1_000_000 })
    expect(organisation.limits).toMatchObject({ events: 7, export: 1_000_000, flows: 60 })
  })

  test('that are taken back are the defaults again', () => {
    const { row } = create('Harbor').organisation
    setLimits(database, row, { events: 5 })
    expect(setLimits(database, row, { events: null }).overrides).toEqual({})
  })

  test('of one organisation leave the others alone', () => {
    const { row } = create('Harbor').organisation
    create('Other')
    setLimits(database, row, { events: 5 })
    expect(findOrganisation(database, 'other')?.overrides).toEqual({})
    expect(changes()).toEqual([row, row + 1, row])
  })
})

test('no origin at all means everywhere', () => {
  const { row } = create('Harbor').organisation
  const originsKnown = () => new StoredCatalogue(database).organisationByRow(row).origins
  setSettings(database, row, { origins: ['https://old.example'] })
  expect(originsKnown()).toEqual(new Set(['https://old.example']))
  setSettings(database, row, { origins: [] })
  expect(originsKnown()).toBeNull()
})

describe('rotating the key', () => {
  const hour = 3_600_000
  const works = (key: string, at: number) => {
    const endsAt = new StoredCatalogue(database).snippetKey(key)?.endsAt
    return endsAt === null || (endsAt !== undefined && at < endsAt)
  }

  test('leaves the old one working for the grace time and not a millisecond longer', () => {
    const { organisation, snippetKey: old } = create('Harbor')
    const { snippetKey, previousUntil } = rotateKey(database, organisation.row, {
      now,
      graceMs: hour,
    })
    expect(previousUntil).toBe(now + hour)
    expect([works(old, now + hour - 1), works(old, now + hour)]).toEqual([true, false])
    expect(works(snippetKey, now + 10 * hour)).toBe(true)
    expect(keysOf(database, organisation.row, now).map(({ key }) => key)).toEqual([snippetKey, old])
    expect(keysOf(database, organisation.row, now + hour)).toHaveLength(1)
  })

  test('a second time does not lengthen the life of the first key', () => {
    const { organisation, snippetKey: first } = create('Harbor')
    rotateKey(database, organisation.row, { now, graceMs: hour })
    rotateKey(database, organisation.row, { now: now + 1000, graceMs: hour })
    expect(works(first, now + hour)).toBe(false)
  })

  test('at once ends every older key, those in their grace time too', () => {
    const { organisation, snippetKey: first } = create('Harbor')
    const { snippetKey: second } = rotateKey(database, organisation.row, { now, graceMs: hour })
    const { snippetKey: third } = rotateKey(database, organisation.row, { now, graceMs: 0 })
    expect([first, second, third].map(key => works(key, now))).toEqual([false, false, true])
  })

  test('of one organisation leaves the keys of the others alone', () => {
    const { snippetKey: other } = create('Other')
    rotateKey(database, create('Harbor').organisation.row, { now, graceMs: 0 })
    expect(works(other, now)).toBe(true)
  })
})
