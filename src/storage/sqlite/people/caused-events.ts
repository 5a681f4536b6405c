import type { Database } from 'bun:sqlite'
import { type CausedAt, causedAt, mergeCaused } from '../../../core/event/caused.ts'
import { personOf } from '../../../core/event/event.ts'
import type { LedgerFact } from '../projections/facts.ts'

/** The custom events of one name for which published flows wait. */
export interface Awaited {
  /** How many of a person's latest times are kept: as many as a flow waits for; 0 where none does. */
  max: number
  /** Rows of flows whose goal it is. */
  goalOf: readonly number[]
}

/** A custom event for which a flow waits. */
export interface Caused {
  fact: LedgerFact
  awaited: Awaited
}

function statements(database: Database) {
  return {
    times: database.query<{ times: string }, [number, string, string]>(
      'select times from caused_events where org_id = ? and person = ? and name = ?',
    ),
    put: database.query(
      `insert into caused_events (org_id, person, name, times) values (?, ?, ?, ?)
      on conflict do update set times = excluded.times`,
    ),
    reach: database.query(
      `insert into goals (org_id, flow_id, person, name, last_at) values (?, ?, ?, ?, ?)
      on conflict do update set last_at = max(last_at, excluded.last_at)`,
    ),
  }
}

/**
 * Notes which custom events people have caused that published flows wait for or have as their goal. An
 * event noted twice counts once, and order makes no difference, so that a rebuild may note all again.
 */
export class CausedEvents {
  private readonly sql: ReturnType<typeof statements>

  constructor(database: Database) {
    this.sql = statements(database)
  }

  /** To be called within a transaction: that of the events, or of what follows from them. */
  note(events: readonly Caused[]): void {
    const together = Map.groupBy(events, ({ fact }) =>
      JSON.stringify([fact.orgRow, fact.name, personOf(fact.userId, fact.anonymousId)]),
    )
    for (const ofOne of together.values()) this.noteOfOne(ofOne)
  }

  /** Notes events of one person and one name. */
  private noteOfOne(events: readonly Caused[]): void {
    const { fact, awaited } = events[0]!
    const { orgRow, userId, anonymousId } = fact
    const name = fact.name!
    const person = personOf(userId, anonymousId)
    const lastAt = Math.max(...events.map(({ fact }) => fact.occurredAt))
    for (const flowRow of awaited.goalOf) this.sql.reach.run(orgRow, flowRow, person, name, lastAt)
    if (awaited.max === 0) return
    const before = this.sql.times.get(orgRow, person, name)?.times ?? '[]'
    const fresh = events.map(({ fact: { id, occurredAt } }) => causedAt(id, occurredAt))
    const times = JSON.stringify(mergeCaused(JSON.parse(before) as CausedAt[], fresh, awaited.max))
    if (times !== before) this.sql.put.run(orgRow, person, name, times)
  }
}

/** What a person has caused, by name of event, over a connection that only reads. */
export function causedReader(database: Database) {
  const ofPerson = database.query<{ name: string; times: string }, [number, string]>(
    'select name, times from caused_events where org_id = ? and person = ?',
  )
  return (orgRow: number, person: string): ReadonlyMap<string, readonly CausedAt[]> =>
    new Map(
      ofPerson
        .all(orgRow, person)
        .map(({ name, times }) => [name, JSON.parse(times) as CausedAt[]]),
    )
}
