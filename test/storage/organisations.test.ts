import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StoredCatalogue } from '../../src/storage/catalogue.ts'
import { openForWriting } from '../../src/storage/database.ts'
import { migrate } from '../../src/storage/migrate.ts'
import {
  checkedOrigin,
  createOrganisation,
  findOrganisation,
  keysOf,
  listOrganisations,
  rotateKey,
  setLimits,
  setOrigins,
  slugFrom,
} from '../../src/storage/organisations.ts'
import { mostOrganisations } from '../../src/storage/shared.ts'

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

const create = (name: string, slug?: string) =>
  createOrganisation(database, slug === undefined ? { name } : { name, slug }, now)

const changes = () =>
  database
    .query<{ org_id: number }, []>('select org_id from catalogue_changes order by seq')
    .all()
    .map(row => row.org_id)

describe('slugs', () => {
  test.each([
    ['Harbor Inc', 'harbor-inc'],
    ['  Größe & Maß  ', 'gro-e-ma'],
    ['Crème brûlée', 'creme-brulee'],
    ['--a--', 'a'],
    ['org_x', 'org-x'],
    ['株式会社', ''],
    ['x'.repeat(80), 'x'.repeat(63)],
    [`${'x'.repeat(62)} y`, 'x'.repeat(62)],
  ])('%p suggests %p', (name, slug) => {
    expect(slugFrom(name)).toBe(slug)
  })

  test('a taken slug is refused, and nothing is left of the attempt', () => {
    create('Harbor')
    expect(() => create('harbor!')).toThrow(
      'the slug "harbor" is taken: choose another with --slug',
    )
    expect(listOrganisations(database)).toHaveLength(1)
    expect(changes()).toHaveLength(1)
  })

  test('a chosen slug is taken as it is', () => {
    expect(create('株式会社', 'kk').organisation.slug).toBe('kk')
  })

  test.each(['', 'A', 'org_x', '-a', 'a-', 'a b', 'ä', 'x'.repeat(64)])('%p is no slug', slug => {
    expect(() => create('Harbor', slug)).toThrow('is no slug')
  })

  test('a name without a letter or digit needs a slug', () => {
    expect(() => create('株式会社')).toThrow('choose --slug')
  })
})

describe('an organisation', () => {
  test('is made with its first snippet key, which the catalogue knows', () => {
    const { organisation, snippetKey } = create('Harbor')
    expect(organisation.id).toMatch(/^org_[A-Za-z0-9]{18}$/)
    expect(snippetKey).toMatch(/^[A-Za-z0-9]{32}$/)
    const known = new StoredCatalogue(database).snippetKey(snippetKey)
    expect(known).toMatchObject({ organisation: { id: organisation.id }, endsAt: null })
  })

  test('is found by id and by slug, and by nothing else', () => {
    const { organisation } = create('Harbor')
    expect(findOrganisation(database, organisation.id)).toEqual(organisation)
    expect(findOrganisation(database, 'harbor')).toEqual(organisation)
    expect(findOrganisation(database, 'Harbor')).toBeNull()
  })

  test.each(['', '   ', 'x'.repeat(201), 'a\nb', 'a\ud800'])('%p is no name', name => {
    expect(() => create(name, 'slug')).toThrow()
  })

  test('beyond the room of the shared tables is refused', () => {
    database.run(
      "insert into organisations (id, public_id, slug, name, created_at) values (?, 'org_x', 'x', 'x', 0)",
      [mostOrganisations],
    )
    expect(() => create('Harbor')).toThrow(`has room for ${mostOrganisations}`)
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

  test.each([0, -1, 1.5, 1_000_001, Number.NaN])('%p is no limit', limit => {
    const { row } = create('Harbor').organisation
    expect(() => setLimits(database, row, { events: limit })).toThrow('from 1 to 1000000')
  })

  test('of one organisation leave the others alone', () => {
    const { row } = create('Harbor').organisation
    create('Other')
    setLimits(database, row, { events: 5 })
    expect(findOrganisation(database, 'other')?.overrides).toEqual({})
    expect(changes()).toEqual([row, row + 1, row])
  })
})

describe('origins', () => {
  test.each([
    ['https://App.Example.com', 'https://app.example.com'],
    ['https://a.example:443', 'https://a.example'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['chrome-extension://ABCdef', 'chrome-extension://abcdef'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('%p is kept as browsers send it', (given, kept) => {
    expect(checkedOrigin(given)).toBe(kept)
  })

  test.each([
    '',
    '*',
    'null',
    'a.example',
    'https://',
    'https://a.example/',
    'https://a.example/x',
    'https://a.example?x',
    'https://u:p@a.example',
    'https://*.a.example',
    'https://a.example:99999',
    'chrome-extension://a b',
  ])('%p is no origin', given => {
    expect(() => checkedOrigin(given)).toThrow('is no origin')
  })

  test('replace those before, each once; none at all means everywhere', () => {
    const { row } = create('Harbor').organisation
    setOrigins(database, row, ['https://old.example'])
    const list = ['https://b.example', 'https://A.example', 'https://a.example:443']
    expect(setOrigins(database, row, list).origins).toEqual([
      'https://a.example',
      'https://b.example',
    ])
    expect(setOrigins(database, row, []).origins).toEqual([])
    expect(new StoredCatalogue(database).organisationByRow(row).origins).toBeNull()
  })
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
