import type { Database } from 'bun:sqlite'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type { PeopleOrder } from '../../interfaces/people.ts'

/** People whom a statement looks at: so many that it takes about a millisecond. */
const [minRows, maxRows] = [64, 4_096]

/** A place in an order that has an index. */
export type Place = [value: number, name: string]

/** Before and after all people. */
const lowest: Place = [Number.MIN_SAFE_INTEGER, '']
const highest: Place = [Number.MAX_SAFE_INTEGER, '\u{10ffff}']

/**
 * The SQL of an order: which people come after ?2 and ?3, those of them up to ?4 and ?5, and how they are
 * sorted. ?1 is the organisation.
 */
export function orderSql({ by, isDescending }: PeopleOrder) {
  const [comes, upTo, direction] = isDescending ? ['<', '>=', 'desc'] : ['>', '<=', 'asc']
  const column = by === 'lastSeen' ? 'last_at' : 'first_at'
  if (by === 'id') {
    return {
      column: '0',
      starts: `org_id = ?1 and person ${comes} ?3 and ?2 = ?2`,
      ends: `person ${upTo} ?5 and ?4 = ?4`,
      sorted: (table: string) => `${table}.person ${direction}`,
    }
  }
  return {
    column,
    starts: `org_id = ?1 and (${column}, person) ${comes} (?2, ?3)`,
    ends: `(${column}, person) ${upTo} (?4, ?5)`,
    sorted: (table: string) => `${table}.${column} ${direction}, ${table}.person ${direction}`,
  }
}

/**
 * Goes along an order of people in parts of about a millisecond, letting others have their turn in between.
 *
 * @param after null for the beginning
 * @param read the people after one place, up to another
 */
export async function* inParts<T>(
  database: Database,
  orgRow: number,
  { order, after }: { order: PeopleOrder; after: Place | null },
  read: (from: Place, to: Place) => T,
): AsyncGenerator<T> {
  const { column, starts, sorted } = orderSql(order)
  // Only what the index has, because rows are fetched even if they are skipped.
  const ends = database.query<{ at: number; person: string }, [number, ...Place, number]>(
    `select person, ${column} as at from people where ${starts}
    order by ${sorted('people')} limit 1 offset ?4`,
  )
  const [first, last] = order.isDescending ? [highest, lowest] : [lowest, highest]
  const slices = new TimeSlices()
  let from = after ?? first
  for (let size = minRows; ; ) {
    await slices.rest()
    const start = performance.now()
    const end = ends.get(orgRow, ...from, size - 1)
    const to: Place = end === null ? last : [end.at, end.person]
    const part = read(from, to)
    const tookMs = performance.now() - start
    yield part
    if (end === null) return
    from = to
    size = Math.min(Math.max(Math.round(size * (tookMs < 1 ? 2 : 0.5)), minRows), maxRows)
  }
}
