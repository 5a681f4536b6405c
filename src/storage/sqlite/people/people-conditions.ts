import type { AudienceRule } from '../../../core/flow/flow.ts'
import { rulesHold } from '../../../core/person/filter.ts'
import { parseTime } from '../../../core/time/clock.ts'
import type { ListedPerson, PeopleConditions } from '../../interfaces/people.ts'
import type { InRows } from '../../shared/in-rows.ts'

type Conditions = InRows<PeopleConditions>
type FlowCondition = Conditions['flows'][number]
type Value = string | number
/** Takes a value, and gives its parameter in the statement. */
type Bound = (value: Value) => string

/** Conditions on people as SQL, as far as SQL can decide them, and the rest of them. */
export interface CompiledConditions {
  /** On `person`, which every index has. */
  onName: string
  /** On other columns of `people`. */
  onRow: string
  /** On the runs of each person; `inRange` reads those of all people from ?3 to ?5 at once. */
  onRuns: string
  inRange: string
  values: readonly Value[]
  /** Whether SQL decides all. */
  isExact: boolean
  holds(person: ListedPerson): boolean
}

const isAscii = (text: string) => /^[ -~]*$/.test(text)

/** How a packed trait begins: see `packTraits`. Within a text its quotes would be escaped. */
const packedAs = (...parts: string[]) => `${JSON.stringify(parts).slice(0, -1)},`

/** What holds for everyone for whom a rule does, and whether for nobody else; null if SQL cannot tell. */
function ruleSql({ attribute, op, value }: AudienceRule, bound: Bound) {
  const has = (...parts: string[]) => `instr(people.traits, ${bound(packedAs(...parts))}) > 0`
  // Equal numbers and equal times can be written in several ways.
  const isExact = (one: unknown) =>
    typeof one === 'boolean' || (typeof one === 'string' && parseTime(one) === null)
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  const isOneOf = () => `(${values.map(one => has(attribute, String(one))).join(' or ')})`
  // A list of several types compares a stored text with some of them as another type.
  const isOneType = values.every(one => typeof one === typeof values[0])
  const canCompare = values.length > 0 && isOneType && values.every(isExact)
  const exactly = (sql: string) => ({ sql, isExact: true })
  if (op === 'exists') return exactly(value === false ? `not ${has(attribute)}` : has(attribute))
  if (op === 'neq' || op === 'nin') return canCompare ? exactly(`not ${isOneOf()}`) : null
  if (canCompare && (op === 'eq' || op === 'in')) return exactly(isOneOf())
  return { sql: has(attribute), isExact: false }
}

const outcomes = {
  completed: 'count(completed_at) > 0',
  dismissed: 'count(completed_at) = 0 and count(dismissed_at) > 0',
  in_progress: 'count(coalesce(completed_at, dismissed_at)) = 0',
}

/** Whether a run was not completed and got no further than a step: see `packSteps`. */
function leftSql({ stepRef, further }: NonNullable<FlowCondition['left']>, bound: Bound): string {
  const byVersion = [...further].map(([version, steps]) => [`v${version}`, steps])
  const known = bound(JSON.stringify(Object.fromEntries(byVersion)))
  return `completed_at is null and instr(steps, ${bound(` ${stepRef}v`)}) > 0 and not exists (
    select 1 from json_each(coalesce(${known} -> ('v' || runs.version), ${known} -> 'vnull')) as later
    where instr(runs.steps, ' ' || later.value || 'v') > 0)`
}

/** Whether a run has an answer: see `packAnswers`. Each is JSON in JSON, and most runs have no such step. */
function answerSql(
  { stepRef, choice, from, to }: NonNullable<FlowCondition['answer']>,
  bound: Bound,
): string {
  const conditions = [`given.value ->> 0 = ${bound(stepRef)}`]
  const answer = 'given.value ->> 2'
  if (choice !== undefined) {
    conditions.push(
      `exists (select 1 from json_each(${answer}) as one where one.value = ${bound(choice)})`,
    )
  } else if (from !== undefined || to !== undefined) {
    conditions.push(`json_type(${answer}) in ('integer', 'real')`)
    if (from !== undefined) conditions.push(`json_extract(${answer}, '$') >= ${bound(from)}`)
    if (to !== undefined) conditions.push(`json_extract(${answer}, '$') <= ${bound(to)}`)
  }
  return `answers is not null and instr(answers, ${bound(`[${stepRef},`)}) > 0 and exists (
    select 1 from json_each(runs.answers) as given where ${conditions.join(' and ')})`
}

/** Whether a person is among those whose runs of a flow meet a condition: by one person, or by all of a range. */
function flowSql({ flowRef, outcome, left, answer }: FlowCondition, bound: Bound) {
  const isMet = outcome !== 'not_met'
  const conditions: string[] = []
  if (isMet && outcome) conditions.push(outcomes[outcome])
  if (isMet && left) conditions.push(`max(${leftSql(left, bound)})`)
  if (isMet && answer) conditions.push(`max(${answerSql(answer, bound)})`)
  const having = conditions.join(' and ') || 'true'
  const flow = bound(flowRef)
  const met = (names: string) =>
    `select person from runs indexed by runs_by_person
    where runs.org_id = ?1 and runs.flow_id = ${flow} and ${names} group by person having ${having}`
  const not = isMet ? '' : 'not'
  return {
    onRuns: `${not} exists (${met('runs.person = people.person')})`,
    inRange: `+people.person ${not} in (${met('runs.person > ?3 and runs.person <= ?5')})`,
  }
}

/** @param first number of the first parameter */
export function compiled({ search, rules, flows }: Conditions, first: number): CompiledConditions {
  const values: Value[] = []
  const bound = (value: Value) => {
    values.push(value)
    return `?${first + values.length - 1}`
  }
  // SQLite lowers the case of ASCII letters alone.
  const isNamedBySql = search === null || isAscii(search)
  const onName =
    search !== null && isNamedBySql
      ? `instr(lower(substr(people.person, 2)), ${bound(search)}) > 0`
      : 'true'
  const onRow: string[] = []
  let isExact = isNamedBySql
  for (const { match = 'all', rules: some = [] } of rules) {
    const bounds = values.length
    const parts = some.map(rule => ruleSql(rule, bound))
    const known = parts.filter(part => part !== null)
    const isAll = known.length === parts.length
    isExact &&= isAll && known.every(part => part.isExact)
    const sql = known.map(part => part.sql)
    if (match === 'all') onRow.push(...sql)
    else if (!isAll) values.length = bounds
    else if (sql.length > 0) onRow.push(`(${sql.join(' or ')})`)
  }
  const onFlows = flows.map(flow => flowSql(flow, bound))
  const all = (conditions: readonly string[]) => conditions.join(' and ') || 'true'
  const isNamed = ({ person }: ListedPerson) =>
    search === null || isNamedBySql || person.slice(1).toLowerCase().includes(search)
  return {
    ...{ onName, values, isExact },
    onRow: all(onRow),
    onRuns: all(onFlows.map(({ onRuns }) => onRuns)),
    inRange: all(onFlows.map(({ inRange }) => inRange)),
    holds: person => isNamed(person) && rules.every(one => rulesHold(one, person.traits)),
  }
}
