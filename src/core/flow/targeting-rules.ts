import { quoted } from '../text/wording.ts'
import { compared, ruleMatches } from './audience-match.ts'
import type { AudienceRule, FlowDefinition, Targeting, UrlRule } from './flow.ts'
import { error, type FlowProblem, warning } from './problem.ts'
import { patternProblem } from './url-pattern.ts'
import { matchesOnlyRoot, pageOf, urlMatches } from './url-rule.ts'

/** Problems with whom a flow is shown to, beyond each rule by itself. */
export function* targetingProblems({ audience }: Targeting): Iterable<FlowProblem> {
  for (const [earlier, later] of contradictions(audience)) {
    const { attribute } = audience.rules[later]!
    const message = `Nobody sees the flow: no ${quoted(attribute)} satisfies this rule and rule ${earlier + 1} above it; change one, or write "match: any"`
    yield warning('contradiction', `/audience/rules/${later}`, message)
  }
}

/** Any host will do for a page and patterns that begin with a slash. */
const anyHost = 'https://host.invalid'

/** Finds flows that never begin, because their first step has a page that the flow is not shown on. */
export function* neverBegins({
  steps,
  targeting: { urls },
}: Pick<FlowDefinition, 'steps' | 'targeting'>): Iterable<FlowProblem> {
  const page = steps[0] && pageOf(steps[0])
  if (urls.length === 0 || page?.match !== 'exact') return
  const isOnAnyHost = page.pattern.startsWith('/')
  // On which host the page is, nobody knows.
  if (isOnAnyHost && !urls.every(({ pattern }) => pattern.startsWith('/'))) return
  const address = URL.parse(page.pattern, anyHost)
  if (!address || urls.some(rule => urlMatches(rule, address))) return
  const message =
    'The flow begins on this page, where no pattern of targeting.urls shows it: add a pattern for it, or remove the page'
  yield warning('never_begins', `/steps/0/${steps[0]?.page ? 'page' : 'navigate'}`, message)
}

/** Problems with the page that a step is for. */
export function* pageProblems(rule: UrlRule): Iterable<FlowProblem> {
  const problem = patternProblem(rule)
  if (problem !== null && isOnlyTheStar(rule)) yield warning('plain_star', '/pattern', problem)
  else if (problem !== null) yield error('invalid_pattern', '/pattern', problem)
}

/** Problems with an address that a flow is shown on. */
export function* urlProblems(rule: UrlRule): Iterable<FlowProblem> {
  yield* pageProblems(rule)
  if (patternProblem(rule) === null && matchesOnlyRoot(rule)) {
    const message = "This matches only the site's home page: to match all pages, use match: prefix"
    yield warning('only_root', '/pattern', message)
  }
}

/** Whether a star is the only odd thing. A path can contain one, though that is seldom meant; a host cannot. */
function isOnlyTheStar(rule: UrlRule): boolean {
  if (rule.match === 'glob' || /^(?:[^/]*:\/\/)?[^/]*\*/.test(rule.pattern)) return false
  return patternProblem({ ...rule, pattern: rule.pattern.replaceAll('*', '%2A') }) === null
}

/** Problems of one condition on people. */
export function* audienceRuleProblems(rule: AudienceRule): Iterable<FlowProblem> {
  const problem = valueProblem(rule)
  if (problem !== null) yield error('invalid_rule', '/value', problem)
  else if (isNumberAsText(rule)) {
    const message = `${quoted(String(rule.value))} in quotes is text, which no number is compared with, and "10" comes before "5": write the number without quotes`
    yield warning('number_as_text', '/value', message)
  }
}

const orders: readonly AudienceRule['op'][] = ['gt', 'gte', 'lt', 'lte']

const isNumberAsText = ({ op, value }: AudienceRule) =>
  orders.includes(op) && typeof value === 'string' && /^\s*[+-]?(?:\d+\.?\d*|\.\d+)\s*$/.test(value)

/** Why an operator can never work with its value, or null. */
function valueProblem({ op, value }: AudienceRule): string | null {
  const isList = Array.isArray(value)
  switch (op) {
    case 'exists':
      if (value === null || typeof value === 'boolean') return null
      return `"exists" checks whether the attribute is set: write value: true, or value: false for "must not be set"`
    case 'in':
    case 'nin':
      if (isList && value.length > 0) return null
      return `${quoted(op)} compares with a list: write the values as [free, team]`
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      if (typeof value === 'number' || typeof value === 'string') return null
      return `${quoted(op)} compares with a number, a time or other text: write one as the value`
    default:
      if (value === null) return `${quoted(op)} compares with a value: add one`
      if (!isList) return null
      return op === 'contains'
        ? '"contains" looks for one value: write a rule for each, or use match: any'
        : `${quoted(op)} compares with one value: for a list, use "${op === 'eq' ? 'in' : 'nin'}"`
  }
}

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
