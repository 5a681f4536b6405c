import type { PeopleSort, SortedPlace } from '../../interfaces/people.ts'
import type { CompiledConditions } from './people-conditions.ts'
import { orderSql } from './people-walk.ts'

type Value = number | string | null

/** A trait's text, but as a number where it is written as one, so that 9 comes before 12: see `packTraits`. */
const traitSql = (name: string) => `(
  select case when value = (value + 0) || '' and length(value) < 16 then value + 0 else value end
  from (select each.value ->> 1 as value from json_each(traits) as each where each.value ->> 0 = ${name})
)`

/** Of how many flows the people of a part have runs. */
const flowsSql = `left join (
  select person as name, count(distinct flow_id) as flows from runs indexed by runs_by_person
  where runs.org_id = ?1 and flow_id in (select id from flows where flows.org_id = ?1)
    and runs.person > ?3 and runs.person <= ?5 group by person
) as met on met.name = people.person`

const valueSql: Readonly<Record<string, string>> = {
  ...{ id: 'people.person', lastSeen: 'last_at', firstSeen: 'first_at' },
  flows: 'coalesce(met.flows, 0)',
}

/**
 * The people of a part of all (?1 to ?5, by ID) who come after a place (?6 to ?8) and before another (?9 to ?11)
 * in any order, so that those whom a page cannot have are not fetched.
 *
 * @param where with ?12 as its first parameter; what sorting needs comes after its values
 */
export function sortSql({ by, isDescending }: PeopleSort, where: CompiledConditions) {
  const { starts, ends } = orderSql({ by: 'id', isDescending: false })
  const [after, before] = isDescending ? ['<', '>'] : ['>', '<']
  const values = typeof by === 'object' ? [by.trait] : []
  const value = typeof by === 'object' ? traitSql(`?${12 + where.values.length}`) : valueSql[by]
  const place = `(value is ${isDescending ? 'not ' : ''}null, coalesce(value, ''), found.person)`
  return {
    values,
    // Materialised, or SQLite would work a value out for each of its comparisons.
    sql: `with found as materialized (
        select people.person, ${value} as value from people ${by === 'flows' ? flowsSql : ''}
        where ${starts} and ${ends} and ${where.onName} and ${where.onRow} and ${where.inRange}
      )
      select people.*, value from found cross join people on people.org_id = ?1 and people.person = found.person
      where ${place} ${after} (?6, ?7, ?8) and ${place} ${before} (?9, ?10, ?11)`,
    /** Parameters for what a page comes after, and for the last person that it can have; null if there is none. */
    bounds: (from: SortedPlace | null, to: SortedPlace | null) => [
      ...(from ? placed(from, isDescending) : [isDescending ? 2 : -1, '', '']),
      ...(to ? placed(to, isDescending) : [isDescending ? -1 : 2, '', '']),
    ],
  }
}

const placed = ({ value, person }: SortedPlace, isDescending: boolean) => [
  Number((value === null) !== isDescending),
  value ?? '',
  person,
]

/** Numbers before texts, and those by their UTF-8, as SQLite has it. */
function compared(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string')
    return Buffer.compare(Buffer.from(a), Buffer.from(b))
  if (typeof a !== typeof b) return typeof a === 'string' ? 1 : -1
  return Number(a) - Number(b)
}

/** The order of a sort, the same as that of its SQL. */
export const sortedBy =
  ({ isDescending }: PeopleSort) =>
  (a: SortedPlace, b: SortedPlace): number => {
    if ((a.value === null) !== (b.value === null)) return a.value === null ? 1 : -1
    const order = compared(a.value, b.value) || compared(a.person, b.person)
    return isDescending ? -order : order
  }
