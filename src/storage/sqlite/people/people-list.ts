import type { Database } from 'bun:sqlite'
import { callerGone } from '../../../core/errors.ts'
import type { Seen } from '../../../core/person/seen.ts'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type {
  ListedPerson,
  MetFlow,
  PeopleConditions,
  PeopleList,
  PeopleOrder,
  SortedPerson,
} from '../../interfaces/people.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { type CompiledConditions, compiled } from './people-conditions.ts'
import { sortedBy, sortSql } from './people-sort.ts'
import { type PersonRow, personColumns, unpackPages, unpackTraits } from './people-table.ts'
import { inParts, orderSql, type Place } from './people-walk.ts'

/** Takes its columns apart only when they are looked at, because a search looks at most people's names alone. */
class StoredPerson implements ListedPerson {
  readonly person: string
  readonly firstAt: number
  readonly lastAt: number
  private unpacked: Seen['traits'] | null = null

  constructor(private readonly row: PersonRow) {
    this.person = row.person
    this.firstAt = row.first_at
    this.lastAt = row.last_at
  }

  get traits(): Seen['traits'] {
    this.unpacked ??= unpackTraits(this.row.traits)
    return this.unpacked
  }

  get pages(): Seen['pages'] {
    return unpackPages(this.row.pages)
  }
}

/** The people of a part of an order. */
function partSql(order: PeopleOrder, { onName, onRow, onRuns, inRange }: CompiledConditions) {
  const { column, starts, ends, sorted } = orderSql(order)
  const found = `from people where ${starts} and ${ends} and ${onName}`
  if (order.by === 'id') {
    const runs = order.isDescending ? onRuns : inRange
    return `select ${personColumns} ${found} and ${onRow} and ${runs} order by ${sorted('people')}`
  }
  // A row is fetched only for a name that is searched for.
  return `select people.* from (select ${column}, person ${found}) as found
    cross join people on people.org_id = ?1 and people.person = found.person
    where ${onRow} and ${onRuns} order by ${sorted('found')}`
}

const byId: PeopleOrder = { by: 'id', isDescending: false }
const everyone: InRows<PeopleConditions> = { search: null, rules: [], flows: [] }

/** Parts of an order that are looked at before everybody is: what many people meet is found in a few. */
const fewParts = 32

/** Lists people over a connection that only reads. */
export function peopleListOver(database: Database, maxParts = fewParts): InRows<PeopleList> {
  const one = database.query<PersonRow, [number, string]>(
    `select ${personColumns} from people where org_id = ? and person = ?`,
  )
  const flowsOf = database.query<{ id: number }, [number]>('select id from flows where org_id = ?')
  const met = database.query<{ completed: number; dismissed: number }, [number, number, string]>(
    `select count(completed_at) as completed, count(dismissed_at) as dismissed from runs
    where org_id = ? and flow_id = ? and person = ? having count(*) > 0`,
  )
  async function* people(
    orgRow: number,
    order: PeopleOrder,
    after: { person: string; firstAt: number; lastAt: number } | null,
    conditions = everyone,
  ) {
    const where = compiled(conditions, 6)
    const part = database.query<PersonRow, [number, ...Place, ...Place, ...(string | number)[]]>(
      partSql(order, where),
    )
    const place: Place | null = after && [
      order.by === 'firstSeen' ? after.firstAt : after.lastAt,
      after.person,
    ]
    yield* inParts(database, orgRow, { order, after: place }, (from, to) =>
      part
        .all(orgRow, ...from, ...to, ...where.values)
        .map(row => new StoredPerson(row))
        .filter(where.holds),
    )
  }
  /** The first people in an order that has an index, if they are found soon; else null. */
  async function firstAlong(
    orgRow: number,
    { by, isDescending, after, max }: Parameters<PeopleList['first']>[1],
    conditions: InRows<PeopleConditions>,
    signal: AbortSignal,
  ): Promise<SortedPerson[] | null> {
    if (typeof by === 'object' || by === 'flows') return null
    const at = Number(after?.value ?? 0)
    const place = after && { person: after.person, firstAt: at, lastAt: at }
    const found: SortedPerson[] = []
    let parts = 0
    for await (const some of people(orgRow, { by, isDescending }, place, conditions)) {
      if (signal.aborted) throw callerGone(signal.reason)
      if (parts++ >= maxParts && by !== 'id') return null
      for (const listed of some) {
        const value = by === 'firstSeen' ? listed.firstAt : listed.lastAt
        found.push({ person: listed.person, value, listed })
      }
      if (found.length >= max) return found.slice(0, max)
    }
    return found
  }
  return {
    people,
    async first(orgRow, page, conditions, signal) {
      const soon = await firstAlong(orgRow, page, conditions, signal)
      if (soon !== null) return soon
      const { max } = page
      const inOrder = sortedBy(page)
      const where = compiled(conditions, 12)
      const sort = sortSql(page, where)
      type Row = PersonRow & { value: number | string | null }
      const part = database.query<Row, (number | string | null)[]>(sort.sql)
      let found: SortedPerson[] = []
      const parts = inParts(database, orgRow, { order: byId, after: null }, (from, to) => {
        const bounds = sort.bounds(page.after, found[max - 1] ?? null)
        return part.all(orgRow, ...from, ...to, ...bounds, ...where.values, ...sort.values)
      })
      for await (const rows of parts) {
        if (signal.aborted) throw callerGone(signal.reason)
        for (const { value, ...row } of rows) {
          const listed = new StoredPerson(row)
          if (where.holds(listed)) found.push({ person: row.person, value, listed })
        }
        if (rows.length > 0) found = found.sort(inOrder).slice(0, max)
      }
      return found
    },
    async count(orgRow, conditions, signal) {
      let count = 0
      const where = compiled(conditions, 6)
      // What an index has is read from there: rows are ten times as large.
      const isNameAlone = conditions.rules.length + conditions.flows.length === 0
      const order: PeopleOrder = isNameAlone ? { by: 'firstSeen', isDescending: false } : byId
      const { starts, ends } = orderSql(order)
      const part = database.query<{ count: number }, (number | string)[]>(
        `select count(*) as count from people
        where ${starts} and ${ends} and ${where.onName} and ${where.onRow} and ${where.inRange}`,
      )
      const counts = inParts(
        database,
        orgRow,
        { order, after: null },
        (from, to) => part.get(orgRow, ...from, ...to, ...where.values)!.count,
      )
      for await (const some of where.isExact ? counts : people(orgRow, order, null, conditions)) {
        if (signal.aborted) throw callerGone(signal.reason)
        count += typeof some === 'number' ? some : some.length
      }
      return count
    },
    async person(orgRow, person) {
      const row = one.get(orgRow, person)
      return row && new StoredPerson(row)
    },
    async metFlows(orgRow, names) {
      const slices = new TimeSlices()
      const flows = flowsOf.all(orgRow)
      const parts = new Map<string, InRows<MetFlow>[]>()
      for (const person of names) {
        await slices.rest()
        const ofPerson = flows.flatMap(({ id }) => {
          const row = met.get(orgRow, id, person)
          if (row === null) return []
          const { completed, dismissed } = row
          return [{ flowRef: id, isCompleted: completed > 0, isDismissed: dismissed > 0 }]
        })
        parts.set(person, ofPerson)
      }
      return parts
    },
  }
}
