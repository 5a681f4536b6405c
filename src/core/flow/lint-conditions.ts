import { eventKinds } from '../event/event.ts'
import { readSelector } from '../step/selector-syntax.ts'
import { quoted } from '../text/wording.ts'
import { dayMs } from '../time/durations.ts'
import { comparedBy } from './audience-match.ts'
import { contradictions } from './contradiction.ts'
import { AudienceRule, FlowDefinition, StepPage, StepRule, Targeting, UrlRule } from './flow.ts'
import { errorIf, type LintRule, type LintRules, onFields, onWhole, warnIf } from './lint-rule.ts'
import { isDay, isZone, spanMs, spanOf } from './schedule.ts'
import type { Schedule } from './timing.ts'
import { patternProblem } from './url-pattern.ts'
import { matchesOnlyRoot, pageOf, urlMatches } from './url-rule.ts'

/** The rules about where, when and to whom a flow is shown. */

/** Why no application sends a custom event with this name, as the end of a sentence; null if one may. */
function eventNameProblem(name: string): string | null {
  if (name.trim() === '')
    return 'the name of the event is blank; write the one that your application sends'
  if (!(eventKinds as readonly string[]).includes(name)) return null
  return `${quoted(name)} is a kind of Cairn's own events, and only custom ones count here; name one that your application sends`
}

/**
 * The rule that something waits for an event that can come.
 *
 * @param consequence what never happens otherwise
 */
export const eventRule = <Part>(
  name: string,
  eventIn: (part: Part) => string | null | undefined,
  consequence: string,
): LintRule<Part> =>
  errorIf(
    name,
    part => {
      const event = eventIn(part)
      return typeof event === 'string' ? eventNameProblem(event) : null
    },
    problem => `${consequence}: ${problem}`,
  )

/** Whether a star is the only odd thing. A path can contain one, though that is seldom meant; a host cannot. */
function isOnlyTheStar(rule: UrlRule): boolean {
  if (rule.match === 'glob' || rule.match === 'regex') return false
  if (/^(?:[^/]*:\/\/)?[^/]*\*/.test(rule.pattern)) return false
  return patternProblem({ ...rule, pattern: rule.pattern.replaceAll('*', '%2A') }) === null
}

const pageRules: LintRule<UrlRule>[] = [
  warnIf('plain_star /pattern', rule => isOnlyTheStar(rule) && patternProblem(rule)),
  errorIf('invalid_pattern /pattern', rule => !isOnlyTheStar(rule) && patternProblem(rule)),
]

/** Any host will do for a page and patterns that begin with a slash. */
const anyHost = 'https://host.invalid'

/** Whether the flow's first step is for one page, on which the flow is not shown. */
function beginsElsewhere({
  steps,
  targeting: { urls },
}: Pick<FlowDefinition, 'steps' | 'targeting'>): boolean {
  const page = steps[0] && pageOf(steps[0])
  if (urls.length === 0 || page?.match !== 'exact') return false
  const isOnAnyHost = page.pattern.startsWith('/')
  // On which host the page is, nobody knows.
  if (isOnAnyHost && !urls.every(({ pattern }) => pattern.startsWith('/'))) return false
  const address = URL.parse(page.pattern, anyHost)
  return address !== null && !urls.some(rule => urlMatches(rule, address))
}

const orders: readonly AudienceRule['op'][] = ['gt', 'gte', 'lt', 'lte']

/** Why an operator can never work with its value, or null. */
function valueProblem({ op, value }: AudienceRule): string | null {
  const isList = Array.isArray(value)
  if (op === 'exists') {
    if (value === null || typeof value === 'boolean') return null
    return `"exists" checks whether the attribute is set: write value: true, or value: false for "must not be set"`
  }
  if (op === 'in' || op === 'nin') {
    if (isList && value.length > 0) return null
    return `${quoted(op)} compares with a list: write the values as [free, team]`
  }
  if (orders.includes(op)) {
    if (typeof value === 'number' || typeof value === 'string') return null
    return `${quoted(op)} compares with a number, a time or other text: write one as the value`
  }
  if (value === null) return `${quoted(op)} compares with a value: add one`
  if (!isList) return null
  return op === 'contains'
    ? '"contains" looks for one value: write a rule for each, or use match: any'
    : `${quoted(op)} compares with one value: for a list, use "${op === 'eq' ? 'in' : 'nin'}"`
}

/** What to do about a number in quotes where numbers are compared, or null. */
function numberAsText({ op, value }: AudienceRule): string | null {
  const isNumber = typeof value === 'string' && /^\s*[+-]?(?:\d+\.?\d*|\.\d+)\s*$/.test(value)
  if (!isNumber || !orders.includes(op)) return null
  return `${quoted(value)} in quotes is text, which no number is compared with, and "10" comes before "5": write the number without quotes`
}

/** The comparison of a step's rule; null if the rule is about an event, or is wrong. */
const comparisonIn = (rule: StepRule) =>
  rule.event === undefined && stepRuleProblem(rule) === null ? comparedBy(rule) : null

function stepRuleProblem({ attribute, answer, event, op, value }: StepRule) {
  if ([attribute, answer, event].filter(name => name !== undefined).length !== 1) {
    const message = 'A rule checks one thing: write just one of attribute, answer and event'
    return { path: '', message }
  }
  if (event === undefined) {
    const message = 'The comparison is missing: add op, such as "op: eq"'
    return op === undefined ? { path: '/op', message } : null
  }
  if ((op ?? 'exists') === 'exists' && (value === null || typeof value === 'boolean')) return null
  const message =
    'A rule on an event has no comparison: remove op and value, or write "value: false" for "not tracked"'
  return { path: op === undefined ? '/value' : '/op', message }
}

function selectorProblem(selector: string | undefined): string | null {
  const read = selector === undefined ? null : readSelector(selector)
  return read && 'problem' in read ? read.problem : null
}

/** Events further back are not looked up. */
const maxWithinMs = 365 * dayMs

const wrongTimes = (schedule: Schedule) =>
  (['from', 'to'] as const).flatMap(name => {
    const local = schedule[name]
    return local === undefined || isDay(local) ? [] : [{ name, local }]
  })

const { schedule: ScheduleField, when: WhenField, goal: GoalField } = FlowDefinition.properties
const { trigger: TriggerField } = WhenField.properties

export const conditionRules: readonly LintRules[] = [
  onWhole(
    Targeting,
    warnIf('contradiction', ({ audience }) =>
      contradictions(audience).map(([earlier, later]) => {
        const { attribute } = audience.rules[later]!
        const message = `Nobody sees the flow: no ${quoted(attribute)} satisfies this rule and rule ${earlier + 1} above it; change one, or write "match: any"`
        return { path: `/audience/rules/${later}`, message }
      }),
    ),
  ),
  onWhole(
    UrlRule,
    ...pageRules,
    warnIf(
      'only_root /pattern',
      rule => patternProblem(rule) === null && matchesOnlyRoot(rule),
      "This matches only the site's home page: to match all pages, use match: prefix",
    ),
  ),
  onWhole(StepPage, ...pageRules),
  onFields(
    FlowDefinition,
    ['steps', 'targeting'],
    warnIf(
      'never_begins',
      flow =>
        beginsElsewhere(flow) && { path: `/steps/0/${flow.steps[0]?.page ? 'page' : 'navigate'}` },
      'The flow begins on this page, where no pattern of targeting.urls shows it: add a pattern for it, or remove the page',
    ),
  ),
  onWhole(
    AudienceRule,
    errorIf('invalid_rule /value', valueProblem),
    warnIf('number_as_text /value', numberAsText),
  ),
  onWhole(
    StepRule,
    errorIf('invalid_rule', stepRuleProblem),
    eventRule('never_sent /event', ({ event }) => event, 'The event is never there'),
    errorIf('invalid_rule /value', rule => {
      const comparison = comparisonIn(rule)
      return comparison && valueProblem(comparison)
    }),
    warnIf('number_as_text /value', rule => {
      const comparison = comparisonIn(rule)
      return comparison && numberAsText(comparison)
    }),
  ),
  onFields(
    ScheduleField,
    ['timezone'],
    errorIf(
      'invalid_timezone /timezone',
      ({ timezone }) => !isZone(timezone),
      (_, { timezone }) =>
        `Unknown time zone ${quoted(timezone)}: write an IANA name, such as Europe/Berlin or UTC`,
    ),
  ),
  onFields(
    ScheduleField,
    ['from', 'to', 'timezone'],
    errorIf('invalid_time', schedule =>
      wrongTimes(schedule).map(({ name, local }) => {
        const message = `${quoted(local)} is not a day in the calendar: write another one`
        return { path: `/${name}`, message }
      }),
    ),
    errorIf(
      'never_shown /to',
      schedule =>
        isZone(schedule.timezone) &&
        wrongTimes(schedule).length === 0 &&
        spanOf(schedule).from >= spanOf(schedule).to,
      'The flow ends before it starts: put "to" after "from"',
    ),
  ),
  onWhole(
    WhenField,
    eventRule('never_sent /event', ({ event }) => event, 'The flow never begins'),
    warnIf(
      'unused_field',
      ({ event, ...others }) =>
        (['count', 'within'] as const)
          .filter(name => event === undefined && others[name] !== undefined)
          .map(name => ({ path: `/${name}` })),
      'This has no effect without an event: add its name as "event", or remove this',
    ),
    errorIf(
      'too_long /within',
      ({ within }) => within !== undefined && spanMs(within) > maxWithinMs,
      'A limit can be at most a year: write at most 365d, or remove it for no limit',
    ),
    errorIf('invalid_selector /element', ({ element }) => selectorProblem(element)),
  ),
  onWhole(
    TriggerField,
    eventRule('never_sent /event', ({ event }) => event, 'The flow never starts'),
    errorIf('missing_trigger', ({ on, element, event }) => {
      if (on === 'click' && element === undefined)
        return { path: '/element', message: 'The flow starts on a click: add the element' }
      if (on === 'event' && event === undefined)
        return { path: '/event', message: 'The flow starts on an event: add its name as event' }
      return null
    }),
    warnIf('unused_field', ({ on, element, event }) => {
      const message = `This has no effect with "on: ${on}": remove it`
      if (on !== 'click' && element !== undefined) return { path: '/element', message }
      return on !== 'event' && event !== undefined && { path: '/event', message }
    }),
    errorIf('invalid_selector /element', ({ element }) => selectorProblem(element)),
  ),
  onWhole(
    GoalField,
    eventRule('never_sent /event', ({ event }) => event, 'Nobody reaches the goal'),
  ),
  onFields(
    FlowDefinition,
    ['key', 'when', 'rollout', 'goal'],
    errorIf(
      'waits_for_itself /when/after',
      ({ key, when }) => when?.after === key,
      'The flow waits for itself and never starts: name another flow',
    ),
    warnIf(
      'no_goal /rollout/holdOut',
      ({ rollout, goal }) => rollout?.holdOut !== undefined && goal === undefined,
      'People are held out without a goal to compare: add goal with the event that the flow should lead to',
    ),
    warnIf(
      'unused_goal /goal',
      ({ rollout, goal }) => goal !== undefined && rollout?.holdOut === undefined,
      'The goal is measured against people who are held out: add rollout.holdOut, or remove it',
    ),
  ),
]
