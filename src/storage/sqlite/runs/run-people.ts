import type { Database } from 'bun:sqlite'

/**
 * The most people that are looked at in a run, runs that a person shares with others, and people who count
 * together. Whoever is named in more is not a single human, and anybody can report any number.
 */
const most = 16

/**
 * The key of the two ids of an event that names two. They stand under it once for all runs, because back ends
 * may name both in every event. No run's key begins with its letter.
 */
export const pairKeyOf = (pair: Pair): string => `${pairPrefix}${JSON.stringify(pair)}`

/** The ids in such a key. */
export const pairIn = (key: string): Pair => JSON.parse(key.slice(pairPrefix.length))

export const pairPrefix = 'b'

/** The two ids of an event that names two, each as `personOf` names people. */
export type Pair = readonly [user: string, visitor: string]

/** The people whose ticks count together with a person's, including that person. */
export type PartyOf = (orgRow: number, flowRow: number, person: string) => readonly string[]

/**
 * Finds a person's party: everybody who is named by a run, or beside them in an event, that names the person.
 * Runs that name too many people are left out, and so are people who would be together with too many or
 * through too many runs.
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
  /** Null if there are too many. */
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

/** Which runs name several people, and whom, and which ids stand in one event. */
export class RunPeople {
  private readonly sql: ReturnType<typeof statements>
  readonly partyOf: PartyOf

  constructor(database: Database) {
    this.sql = statements(database)
    this.partyOf = partyReader(database)
  }

  /** Whether it is noted whom a run names. */
  has(orgRow: number, flowRow: number, key: string): boolean {
    return this.sql.people.get(orgRow, flowRow, key) !== null
  }

  /**
   * Notes whom a run names, or an event.
   *
   * @param people several; if nobody was noted before, all whom the run named are among them
   * @param mayMatter whether anything depends on who counts together
   * @returns everybody whose party may have changed, if that may matter
   */
  add(
    orgRow: number,
    flowRow: number,
    key: string,
    people: ReadonlySet<string>,
    mayMatter: () => boolean,
  ): Set<string> {
    const known = new Set(this.sql.people.all(orgRow, flowRow, key).map(({ person }) => person))
    const added = [...people].filter(person => !known.has(person)).slice(0, most + 1 - known.size)
    const concerned = new Set<string>()
    if (added.length === 0) return concerned
    const matters = mayMatter()
    const note = () => {
      if (!matters) return
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
