import {
  type HealthOutcome,
  healthOutcomes,
  isBadState,
  isMakeshift,
  isMiss,
  stepStates,
  totalsOf,
} from '../core/step/health.ts'
import { shown } from '../core/text/wording.ts'
import type { StepCheck } from '../modules/steps/schema.ts'
import { exitStatus } from './failure.ts'
import { publishCommand } from './flows/records.ts'
import { columns, counted, print } from './output.ts'
import { option, row } from './table.ts'

/**
 * Selectors, addresses and messages come from anybody who has a key, so they are shown at length but made
 * harmless.
 */
const text = (value: string) => shown(value, 200)
/** Not shortened, because part of a selector finds something else. */
const selectorText = (value: string) => shown(value, 1_000)

/** From this share on, fingerprints that do not match are reported, as makeshift finds are. */
const fewUnlike = 0.2

/** A published step that points at an element, and the state of that element. */
type CheckedStep = ReturnType<typeof withoutPrints>

interface Checked {
  ok: boolean
  organisation: string
  steps: CheckedStep[]
}

export const checkRow = row<Checked>({
  name: 'check',
  about:
    'say which published steps have lost their element, why, and what to do; exit status 1 if any is drifting, flaky or broken',
  options: [option('--flow <key>', 'only this flow')],
  async run({ ask, organisation }, { flow }) {
    const query = flow === undefined ? '' : `?${new URLSearchParams({ flow })}`
    const { steps } = await ask<StepCheck>(`GET /health${query}`)
    const ok = !steps.some(({ state }) => isBadState(state))
    return { ok, organisation, steps: steps.map(withoutPrints) }
  },
  check({ ok }) {
    if (!ok) process.exitCode = exitStatus.failure
  },
  show: (checked, { orgFlag }) => print(...stepReport(checked, orgFlag)),
  examples: [
    'cairn steps check',
    'cairn steps check --flow welcome',
    'cairn steps check --json | jq -r \'.steps[] | select(.state == "broken") | .step\'',
  ],
  notes: `States come from the reports of pages in the last 24 hours; each person counts
once, by the latest report. With under 5 people a step is unknown, which is not
a failure. "Since" looks back 7 days.`,
})

/** Leaves fingerprints out, because they are for people who look at them and not for the logs of a release. */
function withoutPrints(step: StepCheck['steps'][number]) {
  const { baseline, latest, ...counts } = step.fingerprints
  if (latest === null) return { ...step, fingerprints: { ...counts, latest } }
  const { fingerprint, ...verdict } = latest
  return { ...step, fingerprints: { ...counts, latest: verdict } }
}

/** The states of all steps as a table, then the evidence for each that is not well. */
function stepReport({ steps, organisation }: Checked, org: string): string[] {
  if (steps.length === 0) return [`no published step of ${organisation} points at an element`]
  const header = ['STEP', 'STATE', 'PEOPLE', 'FOUND', 'OTHERWISE', 'MISSED', 'SINCE']
  const rows = steps.map(one => {
    const { people, finds, makeshift, misses } = totalsOf(one.people)
    const counts = [people, finds - makeshift, makeshift, misses].map(String)
    return [nameOf(one), one.state, ...counts, sinceOf(one)]
  })
  const notWell = steps.filter(one => isBadState(one.state) || isUnlike(one))
  return [
    ...columns([header, ...rows]),
    ...notWell.flatMap(one => ['', ...detail(one, org)]),
    '',
    summary(steps, organisation),
  ]
}

const nameOf = ({ flow, step }: CheckedStep) => `${flow}/${step}`

function sinceOf({ state, makeshiftSince, missesSince }: CheckedStep): string {
  const at = state === 'drifting' ? makeshiftSince : missesSince
  return at === null || !isBadState(state) ? '–' : at
}

/** Whether fingerprints say that the element is another one, even if people still find it. */
function isUnlike({ fingerprints }: CheckedStep): boolean {
  const unlike = fingerprints.drift + fingerprints.gone
  return unlike > 0 && unlike >= fewUnlike * (unlike + fingerprints.match)
}

function detail(one: CheckedStep, org: string): string[] {
  const name = nameOf(one)
  const { state, selector, people, pages, messages, lastFindAt, lastMissAt } = one
  const title = isBadState(state)
    ? `${name} is ${state}`
    : `${name} is ${state}, but its element is not as it was, or not there`
  const said = healthOutcomes.filter(outcome => people[outcome] > 0)
  const lines: (readonly [string, string] | null)[] = [
    ['selector', selectorText(selector)],
    said.length > 0
      ? ['people', said.map(outcome => `${outcome} ${people[outcome]}`).join(', ')]
      : null,
    ...pages.flatMap(page => pageLine(page) ?? []).map(line => ['page', line] as const),
    ...messages.map(({ message, reports, lastAt }) => {
      const times = reports === 1 ? lastAt : `${reports} times, last ${lastAt}`
      return ['message', `${text(message)} (${times})`] as const
    }),
    lastMissAt === null ? null : ['last missed', lastMissAt],
    lastFindAt === null ? null : ['last found', lastFindAt],
    ['fingerprints', fingerprintLine(one.fingerprints)],
    ['next', advice(one, org)],
  ]
  const shownLines = lines.filter(line => line !== null)
  return [title, ...columns(shownLines.map(([label, value]) => [`  ${label}`, value]))]
}

/** A page on which something was wrong; null for one on which all is well. */
function pageLine(told: CheckedStep['pages'][number]): string | null {
  const { page, reports, misses, makeshift } = told
  if (misses + makeshift === 0) return null
  const bad = [
    ...(misses > 0 ? [`${misses} missed`] : []),
    ...(makeshift > 0 ? [`${makeshift} found another way`] : []),
  ]
  return `${page === null ? '(unknown)' : text(page)}: ${bad.join(', ')}, of ${counted(reports, 'report')}`
}

function fingerprintLine(told: CheckedStep['fingerprints']): string {
  const { match, drift, gone, latest, baselineAt } = told
  if (latest) {
    const { status, score } = latest
    return `${match} match, ${drift} drift, ${gone} gone; the latest ${status}, score ${score.toFixed(2)}`
  }
  return baselineAt === null ? 'none' : `none since the baseline of ${baselineAt}`
}

/** What to do about each way in which the element is not found as the step describes it. */
const remedies: Readonly<Record<Exclude<HealthOutcome, 'found'>, string>> = {
  not_found:
    'check that these pages still have the element; set a longer target.waitMs if it appears late, and target.required: false if it may be absent',
  hidden:
    'the element exists but is not visible: point at what opens it, or show the flow only where it is open',
  ambiguous:
    'the selector finds several elements: make it more specific, or set target.text or target.nth',
  error: 'looking for the element failed: check the messages, and that the selector is valid',
  found_by_alternate:
    'the selector no longer finds the element, but an alternate does: set target.selector to one that finds it',
  changed:
    "the element looks different: check that the step's text still fits; a changed target gets a new baseline",
}

/** @param org the option for commands to copy */
function advice(one: CheckedStep, org: string): string {
  const { flow, step, state, canBePinned, people, alternate, suggestion } = one
  if (suggestion && suggestion.selector !== one.selector) {
    const { selector, times, of } = suggestion
    return `set target.selector to \`${selectorText(selector)}\` (suggested by ${times} of ${counted(of, 'fingerprint')}), then "cairn flows push FILE${org}" and "${publishCommand(flow, org)}"`
  }
  if (state === 'drifting' && alternate && alternate.selector !== one.selector) {
    const { selector, reports } = alternate
    return `check whether \`${selectorText(selector)}\`, which found it in ${counted(reports, 'report')}, is a good target.selector; else set one that finds the element`
  }
  const isIt = state === 'drifting' ? isMakeshift : isMiss
  const [worst] = healthOutcomes
    .filter(outcome => isIt(outcome) && people[outcome] > 0)
    .sort((a, b) => people[b] - people[a])
  if (worst === 'changed' && one.isPinned) {
    return 'no selector finds the element any more, only its pinned fingerprint does: set target.selector to one that finds it'
  }
  const remedy = remedies[worst === undefined || worst === 'found' ? 'changed' : worst]
  const wouldHelp = canBePinned && (worst === 'not_found' || worst === 'ambiguous')
  if (!wouldHelp) return remedy
  const pin = `cairn steps pin --flow ${flow} --step ${step}${org}`
  return `${remedy}; "${pin}" lets pages find it by what it was like`
}

function summary(checked: readonly CheckedStep[], whose: string): string {
  const byState = Map.groupBy(checked, ({ state }) => state)
  const parts = stepStates.flatMap(state => {
    const count = byState.get(state)?.length ?? 0
    return count > 0 ? [`${count} ${state}`] : []
  })
  const why = byState.has('unknown')
    ? ' (under 5 people have told of the published version in 24 hours)'
    : ''
  return `${counted(checked.length, 'step')} of ${whose}: ${parts.join(', ')}${why}`
}
