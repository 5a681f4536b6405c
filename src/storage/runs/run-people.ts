import type { Database } from 'bun:sqlite'

/**
 * The most people that one run is looked at for, runs that are shared with others, and people who count
 * together. Whoever is named in more is no single human, and anybody can report any number.
 */
const most = 16

/** The people whose ticks count together with a person's, who is one of them. */
export type PartyOf = (orgRow: number, flowRow: number, person: string) => readonly string[]

/**
 * Finds them: everybody who is named by a run that names the person. Runs that name too many people,
 * and people who would be together with too many or in too many ways, are left out.
 */
export function partyReader(database: Database): PartyOf {
  const runsOf = database.query<{ run_key: string }, [number, number, string]>(
    `select run_key from run_people where org_id = ? and flow_id = ? and person = ?
    limit ${most + 1}`,
  )
  const peopleOf = database.query<{ person: string }, [number, number, string]>(
    `select person from run_people where org_id = ? and flow_id = ? and run_key = ?
    limit ${most + 1}`,
  )
  /** Null where they are too many. */
  const othersOf: (...of: Parameters<PartyOf>) => Set<string> | null = (
    orgRow,
    flowRow,
    person,
  ) => {
    const runs = runsOf.all(orgRow, flowRow, person)
    if (runs.length > most) return null
    const others = new Set<string>()
    for (const { run_key } of runs) {
      const people = peopleOf.all(orgRow, flowRow, run_key)
      if (people.length > most) continue
      for (const { person } of people) others.add(person)
    }
    others.delete(person)
    return others.size > most ? null : others
  }
  return (orgRow, flowRow, person) => {
    const others = [...(othersOf(orgRow, flowRow, person) ?? [])]
    return [person, ...others.filter(other => othersOf(orgRow, flowRow, other) !== null)]
  }
}

function statements(database: Database) {
  return {
    people: database.query<{ person: string }, [number, number, string]>(
      `select person from run_people where org_id = ? and flow_id = ? and run_key = ?
      limit ${most + 1}`,
    ),
    insert: database.query(
      'insert into run_people (org_id, flow_id, run_key, person) values (?, ?, ?, ?)',
    ),
  }
}

/** Which runs name several people, and whom. */
export class RunPeople {
  private readonly sql: ReturnType<typeof statements>
  readonly partyOf: PartyOf

  constructor(database: Database) {
    this.sql = statements(database)
    this.partyOf = partyReader(database)
  }

  /**
   * Notes whom a run names.
   *
   * @param people several, among them all that it named before where that was one
   * @returns everybody whose party may have changed
   */
  add(orgRow: number, flowRow: number, key: string, people: ReadonlySet<string>): Set<string> {
    const known = new Set(this.sql.people.all(orgRow, flowRow, key).map(({ person }) => person))
    const added = [...people].filter(person => !known.has(person)).slice(0, most + 1 - known.size)
    const concerned = new Set<string>()
    if (added.length === 0) return concerned
    const note = () => {
      for (const person of [...known, ...added]) {
        for (const other of this.partyOf(orgRow, flowRow, person)) concerned.add(other)
      }
    }
    note()
    for (const person of added) this.sql.insert.run(orgRow, flowRow, key, person)
    note()
    return concerned
  }
}
