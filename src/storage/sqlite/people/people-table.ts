import type { Database } from 'bun:sqlite'
import { personOf } from '../../../core/event/event.ts'
import { startReasonTrait } from '../../../core/event/start-reason.ts'
import { addSeen, after, pageOf, type Seen } from '../../../core/person/seen.ts'
import { isPseudonym } from '../erasure/pseudonyms.ts'
import type { LedgerFact } from '../projections/facts.ts'

/** A person, and what some events say of them. */
export interface SeenPerson extends Seen {
  orgRow: number
  /** As `personOf` names them. */
  person: string
}

/** People whom events name, so that each is written once, however many events that were. */
export class SeenPeople {
  private readonly people = new Map<string, SeenPerson>()

  get count(): number {
    return this.people.size
  }

  add({ orgRow, userId, anonymousId, kind, occurredAt: at, traits, url }: LedgerFact): void {
    // An item is reopened for others too, who need not have been there.
    if (kind === 'item_reopened' || isPseudonym(userId ?? anonymousId ?? '')) return
    const person = personOf(userId, anonymousId)
    const page = pageOf(url)
    const reported = traits === null ? [] : Object.entries(JSON.parse(traits) as object)
    const ofPerson = reported.filter(([name]) => name !== startReasonTrait)
    const seen: SeenPerson = {
      ...{ orgRow, person, firstAt: at, lastAt: at },
      traits: new Map(ofPerson.map(([name, value]) => [name, { value: String(value), at }])),
      pages: page === null ? [] : [{ url: page, at }],
    }
    const key = `${orgRow} ${person}`
    const known = this.people.get(key)
    if (known === undefined) this.people.set(key, seen)
    else addSeen(known, seen)
  }

  list(): SeenPerson[] {
    return [...this.people.values()]
  }
}

/** A row of the table. */
export interface PersonRow {
  person: string
  first_at: number
  last_at: number
  traits: string
  pages: string
}

export const personColumns = 'person, first_at, last_at, traits, pages'

type PackedTrait = [name: string, value: string, at: number]
type PackedPage = [url: string, at: number]

const packTraits = (traits: Seen['traits']) =>
  JSON.stringify(
    [...traits]
      .map(([name, { value, at }]): PackedTrait => [name, value, at])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )

export const unpackTraits = (packed: string): Seen['traits'] =>
  new Map(
    (JSON.parse(packed) as PackedTrait[]).map(
      ([name, value, at]) => [name, { value, at }] as const,
    ),
  )

export const unpackPages = (packed: string): Seen['pages'] =>
  (JSON.parse(packed) as PackedPage[]).map(([url, at]) => ({ url, at }))

export const seenIn = (row: PersonRow): Seen => ({
  firstAt: row.first_at,
  lastAt: row.last_at,
  traits: unpackTraits(row.traits),
  pages: unpackPages(row.pages),
})

/** Rows that one call deletes because they are old. Each call is due to as many events at most. */
const maxForgotten = 256

/** Writes what is known of people. */
export class PeopleTable {
  private readonly sql

  /** @param table with `temp.` before it for the one that a rebuild fills */
  constructor(database: Database, table: 'people' | 'temp.people' = 'people') {
    this.sql = {
      get: database.query<PersonRow, [number, string]>(
        `select ${personColumns} from ${table} where org_id = ? and person = ?`,
      ),
      put: database.query(
        `insert into ${table} (org_id, ${personColumns}) values (?, ?, ?, ?, ?, ?)
        on conflict do update set first_at = excluded.first_at, last_at = excluded.last_at,
          traits = excluded.traits, pages = excluded.pages`,
      ),
      retained: database.query<{ at: number }, [number]>(
        'select at from retained where org_id = ?',
      ),
      remove: database.query(`delete from ${table} where org_id = ? and person = ?`),
      old: database.query<{ person: string }, [number, number]>(
        `select person from ${table} where org_id = ? and last_at <= ?
        order by last_at limit ${maxForgotten}`,
      ),
    }
  }

  /** Adds what events say, within a transaction. What retention would have deleted is left out. */
  add(people: readonly SeenPerson[]): void {
    const keptSince = new Map<number, number>()
    for (const seen of people) {
      const { orgRow } = seen
      if (!keptSince.has(orgRow)) keptSince.set(orgRow, this.sql.retained.get(orgRow)?.at ?? 0)
      const moment = keptSince.get(orgRow)!
      if (seen.lastAt <= moment) continue
      this.keep(seen.firstAt <= moment ? { ...seen, ...after(seen, moment) } : seen)
    }
  }

  /** Adds to what is known of a person, however old it is. */
  keep(seen: SeenPerson): void {
    const { orgRow, person } = seen
    const row = this.sql.get.get(orgRow, person)
    const known = row && seenIn(row)
    if (known !== null) addSeen(known, seen)
    this.put(orgRow, person, known ?? seen)
  }

  /** Forgets what was reported up to a moment of people in events that are deleted, within a transaction. */
  forget(orgRow: number, facts: readonly LedgerFact[], moment: number): void {
    for (const { person } of this.sql.old.all(orgRow, moment)) this.remove(orgRow, person)
    const telling = facts.filter(({ traits, url }) => traits !== null || url !== null)
    const people = telling.map(({ userId, anonymousId }) => personOf(userId, anonymousId))
    for (const person of new Set(people)) {
      const row = this.sql.get.get(orgRow, person)
      if (row !== null) this.put(orgRow, person, after(seenIn(row), moment))
    }
  }

  remove(orgRow: number, person: string): void {
    this.sql.remove.run(orgRow, person)
  }

  private put(orgRow: number, person: string, seen: Seen): void {
    const pages = JSON.stringify(seen.pages.map(({ url, at }): PackedPage => [url, at]))
    const { firstAt, lastAt, traits } = seen
    this.sql.put.run(orgRow, person, firstAt, lastAt, packTraits(traits), pages)
  }
}
