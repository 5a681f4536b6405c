import type { Database } from 'bun:sqlite'
import { ErasureTable } from './erasure-table.ts'
import { hashedPeople, MatchMemory, type PersonMatcher } from './person-matcher.ts'

/** Which organisations have erased people, and who they are. */
export class ErasedPeople {
  private readonly table: ErasureTable
  private readonly change
  /** Erased people by the row of their organisation. Nearly every organisation has none. */
  byOrganisation: ReadonlyMap<number, PersonMatcher> = new Map()
  private names: ReadonlySet<string> = new Set()
  private knownChange: number | undefined

  constructor(database: Database) {
    this.table = new ErasureTable(database)
    this.change = database.query<{ value: number }, []>(
      "select value from server_state where name = 'erasures_changed'",
    )
    this.look()
  }

  /**
   * Checks whether somebody was erased, or is allowed again.
   *
   * @returns whether somebody was erased
   */
  look(): boolean {
    const change = this.change.get()?.value ?? 0
    if (change === this.knownChange) return false
    const all = this.table.all()
    const rows = Map.groupBy(all, ({ orgRow }) => orgRow)
    const answers = new MatchMemory()
    this.byOrganisation = new Map(
      [...rows].map(([orgRow, people]) => {
        const byKey = Map.groupBy(people, ({ key }) => key)
        const hashes = new Map(
          [...byKey].map(([key, rows]) => [key, new Set(rows.map(({ person }) => person))]),
        )
        return [orgRow, hashedPeople(people[0]!.orgId, hashes, answers)]
      }),
    )
    const before = this.names
    this.names = new Set(all.map(({ orgRow, key, person }) => `${orgRow} ${key} ${person}`))
    this.knownChange = change
    return this.names.difference(before).size > 0
  }
}
