import type { Database } from 'bun:sqlite'
import type { Seen } from '../../../core/person/seen.ts'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type { ListedPerson, MetFlow, PeopleList, PeopleOrder } from '../../interfaces/people.ts'
import type { RunRow } from '../../interfaces/runs.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { type RunRecord, runRowColumns, runRowOf } from '../runs/run-rows.ts'
import { type PersonRow, personColumns, unpackPages, unpackTraits } from './people-table.ts'

/** Rows that a statement reads: a millisecond. The first page of a list has enough with fewer. */
const pageRows = 512
const firstRows = 64

/** Runs of a person in a flow that are looked at. */
const maxRuns = 200

/** Takes its columns apart only when they are looked at, because a search looks at most people's names alone. */
class StoredPerson implements ListedPerson {
  readonly person: string
  readonly firstAt: number
  readonly lastAt: number
  private unpacked: Pick<Seen, 'traits'> | null = null

  constructor(private readonly row: PersonRow) {
    this.person = row.person
    this.firstAt = row.first_at
    this.lastAt = row.last_at
  }

  get traits(): Seen['traits'] {
    this.unpacked ??= { traits: unpackTraits(this.row.traits) }
    return this.unpacked.traits
  }

  get pages(): Seen['pages'] {
    return unpackPages(this.row.pages)
  }
}

/** The statement for a page of people, after a value and a name. */
function pageSql({ by, isDescending }: PeopleOrder): string {
  const [comes, direction] = isDescending ? ['<', 'desc'] : ['>', 'asc']
  if (by === 'id') {
    return `select ${personColumns} from people where org_id = ?1 and person ${comes} ?3 and ?2 = ?2
      order by person ${direction} limit ?4`
  }
  const column = by === 'lastSeen' ? 'last_at' : 'first_at'
  return `select ${personColumns} from people
    where org_id = ?1 and (${column}, person) ${comes} (?2, ?3)
    order by ${column} ${direction}, person ${direction} limit ?4`
}

/** Comes after every name. */
const afterAllNames = '\u{10ffff}'

/** Lists people over a connection that only reads. */
export function peopleListOver(database: Database): InRows<PeopleList> {
  const one = database.query<PersonRow, [number, string]>(
    `select ${personColumns} from people where org_id = ? and person = ?`,
  )
  const count = database.query<{ count: number }, [number]>(
    'select count(*) as count from people where org_id = ?',
  )
  const met = database.query<
    { flowRef: number; completed: number; dismissed: number },
    [number, string]
  >(
    `select flow_id as flowRef, count(completed_at) as completed, count(dismissed_at) as dismissed
    from runs where org_id = ? and person = ? group by flow_id`,
  )
  const runs = database.query<RunRecord, [number, string, number]>(
    // Otherwise the order would lead SQLite through all runs of the flow.
    `select ${runRowColumns} from runs indexed by runs_by_person
    where org_id = ? and person = ? and flow_id = ?
    order by started_at desc limit ${maxRuns}`,
  )
  /** Gives each person's part, letting others have their turn in between. */
  async function eachOf<T>(people: readonly string[], partOf: (person: string) => T) {
    const slices = new TimeSlices()
    const parts = new Map<string, T>()
    for (const person of people) {
      await slices.rest()
      parts.set(person, partOf(person))
    }
    return parts
  }
  return {
    async *people(orgRow, order, after) {
      const page = database.query<PersonRow, [number, number, string, number]>(pageSql(order))
      const end = order.isDescending
        ? ([Number.MAX_SAFE_INTEGER, afterAllNames] as const)
        : ([Number.MIN_SAFE_INTEGER, ''] as const)
      const timeOf = (place: { firstAt: number; lastAt: number }) =>
        order.by === 'firstSeen' ? place.firstAt : place.lastAt
      const slices = new TimeSlices()
      await slices.rest()
      let [value, name] = after === null ? end : [timeOf(after), after.person]
      for (let size = firstRows; ; size = pageRows) {
        const rows = page.all(orgRow, value, name, size)
        const people = rows.map(row => new StoredPerson(row))
        if (people.length > 0) yield people
        const last = people.at(-1)
        if (last === undefined || people.length < size) return
        ;[value, name] = [timeOf(last), last.person]
        await slices.rest()
      }
    },
    count: async orgRow => count.get(orgRow)!.count,
    async person(orgRow, person) {
      const row = one.get(orgRow, person)
      return row && new StoredPerson(row)
    },
    metFlows: (orgRow, people) =>
      eachOf(people, (person): InRows<MetFlow>[] =>
        met.all(orgRow, person).map(({ flowRef, completed, dismissed }) => ({
          ...{ flowRef, isCompleted: completed > 0, isDismissed: dismissed > 0 },
        })),
      ),
    runsIn: (orgRow, flowRow, people) =>
      eachOf(people, (person): InRows<RunRow>[] => runs.all(orgRow, person, flowRow).map(runRowOf)),
  }
}
