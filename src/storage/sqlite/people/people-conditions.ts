import type { AudienceRule } from '../../../core/flow/flow.ts'
import { rulesHold } from '../../../core/person/filter.ts'
import { parseTime } from '../../../core/time/clock.ts'
import type { ListedPerson, PeopleConditions } from '../../interfaces/people.ts'
import type { InRows } from '../../shared/in-rows.ts'

type Conditions = InRows<PeopleConditions>
type Value = string | number

/** Conditions on people as SQL, as far as SQL can decide them, and the rest of them. */
export interface CompiledConditions {
  /** On `person`, which every index has. */
  onName: string
  /** On other columns of `people`, and on runs. */
  onRow: string
  values: readonly Value[]
  holds(person: ListedPerson): boolean
}

const isAscii = (text: string) => /^[ -~]*$/.test(text)

/** How a packed trait begins: see `packTraits`. Within a text its quotes would be escaped. */
const packedAs = (...parts: string[]) => `${JSON.stringify(parts).slice(0, -1)},`

/**
 * @param bound takes a value, and gives its parameter in the statement
 * @returns what holds for everyone for whom the rule does; null if SQL cannot tell
 */
function ruleSql({ attribute, op, value }: AudienceRule, bound: (value: Value) => string) {
  const has = (...parts: string[]) => `instr(people.traits, ${bound(packedAs(...parts))}) > 0`
  // Equal numbers and equal times can be written in several ways.
  const isExact = (one: unknown) =>
    typeof one === 'boolean' || (typeof one === 'string' && parseTime(one) === null)
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  const isOneOf = () => `(${values.map(one => has(attribute, String(one))).join(' or ')})`
  // A list of several types compares a stored text with some of them as another type.
  const isOneType = values.every(one => typeof one === typeof values[0])
  const canCompare = values.length > 0 && isOneType && values.every(isExact)
  if (op === 'exists') return value === false ? `not ${has(attribute)}` : has(attribute)
  if (op === 'neq' || op === 'nin') return canCompare ? `not ${isOneOf()}` : null
  return canCompare && (op === 'eq' || op === 'in') ? isOneOf() : has(attribute)
}

/** The outcome of a person's best run, and other conditions that some run has to meet. */
function flowSql(
  { flowRef, outcome, isLeft, isAnswered }: Conditions['flows'][number],
  bound: (value: Value) => string,
): string {
  const flow = bound(flowRef)
  const hasRun = (that: string) =>
    `exists (select 1 from runs indexed by runs_by_person where runs.org_id = ?1
      and runs.person = people.person and runs.flow_id = ${flow} and ${that})`
  const [completed, dismissed] = ['completed_at is not null', 'dismissed_at is not null'].map(
    hasRun,
  )
  const outcomes = {
    completed: `${completed}`,
    dismissed: `${dismissed} and not ${completed}`,
    in_progress: `${hasRun('true')} and not ${hasRun('coalesce(completed_at, dismissed_at) is not null')}`,
    not_met: `not ${hasRun('true')}`,
  }
  return [
    outcome === undefined ? hasRun('true') : outcomes[outcome],
    ...(isLeft ? [hasRun('completed_at is null')] : []),
    ...(isAnswered ? [hasRun('answers is not null')] : []),
  ].join(' and ')
}

/** @param first number of the first parameter */
export function compiled({ search, rules, flows }: Conditions, first: number): CompiledConditions {
  const values: Value[] = []
  const bound = (value: Value) => {
    values.push(value)
    return `?${first + values.length - 1}`
  }
  const onName =
    search !== null && isAscii(search)
      ? `instr(lower(substr(people.person, 2)), ${bound(search)}) > 0`
      : 'true'
  const onRow: string[] = []
  for (const { match = 'all', rules: some = [] } of rules) {
    const bounds = values.length
    const parts = some.map(rule => ruleSql(rule, bound))
    const known = parts.filter(part => part !== null)
    if (match === 'all') onRow.push(...known)
    else if (known.length < parts.length) values.length = bounds
    else if (known.length > 0) onRow.push(`(${known.join(' or ')})`)
  }
  onRow.push(...flows.map(flow => `(${flowSql(flow, bound)})`))
  // SQLite lowers the case of ASCII letters alone.
  const isNamed = ({ person }: ListedPerson) =>
    search === null || onName !== 'true' || person.slice(1).toLowerCase().includes(search)
  return {
    onName,
    onRow: onRow.join(' and ') || 'true',
    values,
    holds: person => isNamed(person) && rules.every(one => rulesHold(one, person.traits)),
  }
}
