import type { Database } from 'bun:sqlite'
import type { Seen } from '../../../core/person/seen.ts'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type {
  ListedPerson,
  MetFlow,
  PeopleConditions,
  PeopleList,
  PeopleOrder,
} from '../../interfaces/people.ts'
import type { RunRow } from '../../interfaces/runs.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { type RunRecord, runRowColumns, runRowOf } from '../runs/run-rows.ts'
import { type CompiledConditions, compiled } from './people-conditions.ts'
import { type PersonRow, personColumns, unpackPages, unpackTraits } from './people-table.ts'

/** People whom a statement looks at: so many that it takes about a millisecond. */
const [minRows, maxRows] = [64, 4_096]

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

/** Statements that walk along an order: one for the next end of a part, one for the people of a part. */
function walkSql({ by, isDescending }: PeopleOrder, { onName, onRow }: CompiledConditions) {
  const [comes, upTo, direction] = isDescending ? ['<', '>=', 'desc'] : ['>', '<=', 'asc']
  const column = by === 'lastSeen' ? 'last_at' : 'first_at'
  const [starts, ends, order] =
    by === 'id'
      ? [`person ${comes} ?3 and ?2 = ?2`, `person ${upTo} ?5 and ?4 = ?4`, `person ${direction}`]
      : [
          `(${column}, person) ${comes} (?2, ?3)`,
          `(${column}, person) ${upTo} (?4, ?5)`,
          `${column} ${direction}, person ${direction}`,
        ]
  const found = `from people where org_id = ?1 and ${starts} and ${ends} and ${onName}`
  return {
    // Only what the index has, because rows are fetched even if they are skipped.
    end: `select person, ${by === 'id' ? 0 : column} as at from people where org_id = ?1 and ${starts}
      order by ${order} limit 1 offset ?4`,
    part:
      by === 'id'
        ? `select ${personColumns} ${found} and ${onRow} order by ${order}`
        : // A row is fetched only for a name that is searched for.
          `select people.* from (select ${column}, person ${found}) as found
          cross join people on people.org_id = ?1 and people.person = found.person where ${onRow}
          order by found.${column} ${direction}, found.person ${direction}`,
  }
}

type End = { at: number; person: string }
type Place = [value: number, name: string]

/** Before and after all people. */
const lowest: Place = [Number.MIN_SAFE_INTEGER, '']
const highest: Place = [Number.MAX_SAFE_INTEGER, '\u{10ffff}']

const everyone: InRows<PeopleConditions> = { search: null, rules: [], flows: [] }

/** Lists people over a connection that only reads. */
export function peopleListOver(database: Database): InRows<PeopleList> {
  const one = database.query<PersonRow, [number, string]>(
    `select ${personColumns} from people where org_id = ? and person = ?`,
  )
  const counted = walkSql({ by: 'firstSeen', isDescending: false }, compiled(everyone, 6))
  const countedEnd = database.query<End, [number, ...Place, number]>(counted.end)
  const countedRest = database.query<{ count: number }, [number, ...Place]>(
    `select count(*) as count from people where org_id = ?1 and (first_at, person) > (?2, ?3)`,
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
    async *people(orgRow, order, after, conditions = everyone) {
      const where = compiled(conditions, 6)
      const sql = walkSql(order, where)
      const ends = database.query<End, [number, ...Place, number]>(sql.end)
      const part = database.query<PersonRow, [number, ...Place, ...Place, ...(string | number)[]]>(
        sql.part,
      )
      const [first, last] = order.isDescending ? [highest, lowest] : [lowest, highest]
      const timeOf = (place: { firstAt: number; lastAt: number }) =>
        order.by === 'firstSeen' ? place.firstAt : place.lastAt
      const slices = new TimeSlices()
      let from: Place = after === null ? first : [timeOf(after), after.person]
      for (let size = minRows; ; ) {
        await slices.rest()
        const start = performance.now()
        const end = ends.get(orgRow, ...from, size - 1)
        const to: Place = end === null ? last : [end.at, end.person]
        const rows = part.all(orgRow, ...from, ...to, ...where.values)
        const tookMs = performance.now() - start
        yield rows.map(row => new StoredPerson(row)).filter(where.holds)
        if (end === null) return
        from = to
        size = Math.min(Math.max(Math.round(size * (tookMs < 1 ? 2 : 0.5)), minRows), maxRows)
      }
    },
    async count(orgRow) {
      const slices = new TimeSlices()
      let from: Place = lowest
      for (let people = 0; ; people += maxRows) {
        await slices.rest()
        const end = countedEnd.get(orgRow, ...from, maxRows - 1)
        if (end === null) return people + countedRest.get(orgRow, ...from)!.count
        from = [end.at, end.person]
      }
    },
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
