import type { AudienceRule, Targeting, UrlRule } from './flow.ts'
import { error, type FlowProblem, warning } from './flow-problem.ts'
import { matchesOnlyRoot, patternFault } from './url-rule.ts'
import { quoted } from './wording.ts'

/** What is wrong with where and to whom a flow is shown. */
export function* targetingProblems({ urls, audience }: Targeting): Iterable<FlowProblem> {
  for (const [index, rule] of urls.entries()) {
    yield* patternProblems(rule, `/targeting/urls/${index}/pattern`)
  }
  for (const [index, rule] of audience.rules.entries()) {
    const fault = valueFault(rule)
    if (fault !== null) {
      yield error('invalid_rule', `/targeting/audience/rules/${index}/value`, fault)
    }
  }
}

function* patternProblems(rule: UrlRule, path: string): Iterable<FlowProblem> {
  const fault = patternFault(rule)
  if (fault !== null && isOnlyTheStar(rule)) yield warning('plain_star', path, fault)
  else if (fault !== null) yield error('invalid_pattern', path, fault)
  else if (matchesOnlyRoot(rule)) {
    const message =
      "This is the site's first page alone: for all pages below it too, use match: prefix"
    yield warning('only_root', path, message)
  }
}

/** Whether a star is all that is odd: a path can have one, however seldom it is meant; no host. */
function isOnlyTheStar(rule: UrlRule): boolean {
  if (rule.match === 'glob' || /^(?:[^/]*:\/\/)?[^/]*\*/.test(rule.pattern)) return false
  return patternFault({ ...rule, pattern: rule.pattern.replaceAll('*', '%2A') }) === null
}

/** Why an operator can never make sense of its value, or null. */
function valueFault({ op, value }: AudienceRule): string | null {
  const isList = Array.isArray(value)
  switch (op) {
    case 'exists':
      if (value === null || typeof value === 'boolean') return null
      return `"exists" asks whether the attribute is there: write value: true or false, or none`
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
