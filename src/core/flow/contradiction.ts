import { compared, ruleMatches } from './audience-match.ts'
import type { AudienceRule, Targeting } from './flow.ts'

/** Two rules, by their index in the list, that no person can satisfy together. */
export type Contradiction = readonly [earlier: number, later: number]

/** Comparing takes time, so if there are more comparisons than this in all, only the first are made. */
const maxWork = 5_000

/**
 * The rules that contradict an earlier one about the same attribute, if all rules have to hold. Only
 * reports what is certain: attributes that must be absent or have one of known values, and ranges.
 */
export function contradictions({ match, rules }: Targeting['audience']): Contradiction[] {
  if (match !== 'all') return []
  let work = 0
  const isRequested = (one: AudienceRule, other: AudienceRule) => {
    work += sizeOf(one) * sizeOf(other)
    return work <= maxWork && one.attribute === other.attribute
  }
  return rules.flatMap((rule, later) => {
    const earlier = rules
      .slice(0, later)
      .findIndex(other => isRequested(other, rule) && contradict(other, rule))
    return earlier < 0 ? [] : [[earlier, later] as const]
  })
}

const sizeOf = ({ value }: AudienceRule) => (Array.isArray(value) ? value.length : 1)

function contradict(one: AudienceRule, other: AudienceRule): boolean {
  const values = valuesOf(one)
  if (values !== null) return !values.some(value => holdsOf(other, value))
  const others = valuesOf(other)
  if (others !== null) return !others.some(value => holdsOf(one, value))
  return isEmptyRange(one, other) || isEmptyRange(other, one)
}

/** All values that the attribute can have if a rule holds, null standing for "absent"; or null if unknown. */
function valuesOf({ op, value }: AudienceRule): unknown[] | null {
  if (op === 'exists' && value === false) return [null]
  if (op === 'eq') return [value]
  return op === 'in' && Array.isArray(value) ? value : null
}

const holdsOf = (rule: AudienceRule, value: unknown) =>
  ruleMatches(rule, { [rule.attribute]: value })

/** Whether there is nothing above the one's value and below the other's. */
function isEmptyRange(lower: AudienceRule, upper: AudienceRule): boolean {
  if (!(lower.op === 'gt' || lower.op === 'gte') || !(upper.op === 'lt' || upper.op === 'lte')) {
    return false
  }
  if (typeof lower.value !== typeof upper.value) return true
  const order = compared(lower.value, upper.value) ?? -1
  return lower.op === 'gte' && upper.op === 'lte' ? order > 0 : order >= 0
}
