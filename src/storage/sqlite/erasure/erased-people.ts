import type { Database } from 'bun:sqlite'
import { hashedPeople, MatchMemory, type PersonMatcher } from './person-matcher.ts'

/** Which organisations have erased people, and who they are. */
export class ErasedPeople {
  private readonly sql
  /** Erased people by the row of their organisation. Nearly every organisation has none. */
  byOrganisation: ReadonlyMap<number, PersonMatcher> = new Map()
  private names: ReadonlySet<string> = new Set()
  private knownChange: number | undefined

  constructor(database: Database) {
    this.sql = {
      change: database.query<{ value: number }, []>(
        "select value from server_state where name = 'erasures_changed'",
      ),
      all: database.query<{ org_id: number; public_id: string; key: string; person: string }, []>(
        `select org_id, public_id, key, person
        from erasures join organisations on organisations.id = org_id`,
      ),
    }
    this.look()
  }

  /** Checks whether somebody was erased, or is allowed again. */
  look(): { isSomebodyAllowed: boolean; isSomebodyErased: boolean } {
    const change = this.sql.change.get()?.value ?? 0
    if (change === this.knownChange) return { isSomebodyAllowed: false, isSomebodyErased: false }
    const all = this.sql.all.all()
    const rows = Map.groupBy(all, ({ org_id }) => org_id)
    const answers = new MatchMemory()
    this.byOrganisation = new Map(
      [...rows].map(([orgRow, people]) => {
        const byKey = Map.groupBy(people, ({ key }) => key)
        const hashes = new Map(
          [...byKey].map(([key, rows]) => [key, new Set(rows.map(({ person }) => person))]),
        )
        return [orgRow, hashedPeople(people[0]!.public_id, hashes, answers)]
      }),
    )
    const before = this.names
    this.names = new Set(all.map(({ org_id, key, person }) => `${org_id} ${key} ${person}`))
    this.knownChange = change
    return {
      isSomebodyAllowed: before.difference(this.names).size > 0,
      isSomebodyErased: this.names.difference(before).size > 0,
    }
  }
}
