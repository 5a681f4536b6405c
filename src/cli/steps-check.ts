import {
  type HealthOutcome,
  healthOutcomes,
  isBadState,
  isFallback,
  isMiss,
  stepStates,
  totalsOf,
} from '../core/step/health.ts'
import { shown } from '../core/text/wording.ts'
import type { StepCheck } from '../modules/steps/schema.ts'
import { exitStatus } from './failure.ts'
import { columns, counted, print } from './output.ts'
import { option, row } from './table.ts'

/** Anyone with the key can send any selector, URL and message. */
const text = (value: string) => shown(value, 200)
/** Not shortened, because a part of a selector finds something else. */
const selectorText = (value: string) => shown(value, 1_000)

/** A share of fingerprints that do not match from which a step is reported. */
const minUnlikeShare = 0.2

type CheckedStep = ReturnType<typeof withoutPrints>

interface Checked {
  ok: boolean
  organisation: string
  steps: CheckedStep[]
}

export const checkRow = row<Checked>({
  name: 'check',
  about:
    'list published steps whose element is missing, why, and what to do; exit status 1 if any is drifting, flaky or broken',
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
  show({ steps, organisation }, { orgFlag }) {
    if (steps.length === 0) return print(`No published step of ${organisation} has a target.`)
    const bad = steps.filter(one => isBadState(one.state) || isUnlike(one))
    print(
      ...columns([
        ['STEP', 'STATE', 'PEOPLE', 'FOUND', 'BY FALLBACK', 'MISSED', 'SINCE'],
        ...steps.map(cellsOf),
      ]),
      ...bad.flatMap(one => ['', ...detailsOf(one, orgFlag)]),
      '',
      summaryOf(steps, organisation),
    )
  },
  examples: [
    'cairn steps check',
    'cairn steps check --flow welcome',
    'cairn steps check --json | jq -r \'.steps[] | select(.state == "broken") | .step\'',
  ],
  notes: `A state comes from the reports of pages in the last 24 hours; each person counts
once, by the latest report. With fewer than 5 people a step is unknown, which is
not a failure. SINCE looks back 7 days.`,
})

/** Fingerprints are long, and may hold texts of visitors' pages that belong in no log. */
function withoutPrints(step: StepCheck['steps'][number]) {
  const { baseline, latest, ...counts } = step.fingerprints
  if (latest === null) return { ...step, fingerprints: { ...counts, latest } }
  const { fingerprint, ...verdict } = latest
  return { ...step, fingerprints: { ...counts, latest: verdict } }
}

function cellsOf(one: CheckedStep): string[] {
  const { flow, step, state, fallbackSince, missesSince } = one
  const { people, finds, fallback, misses } = totalsOf(one.people)
  const counts = [people, finds - fallback, fallback, misses].map(String)
  const since = state === 'drifting' ? fallbackSince : missesSince
  return [`${flow}/${step}`, state, ...counts, (isBadState(state) && since) || '–']
}

/** Whether fingerprints differ from the baseline, although people find an element. */
function isUnlike({ fingerprints }: CheckedStep): boolean {
  const unlike = fingerprints.drift + fingerprints.gone
  return unlike > 0 && unlike >= minUnlikeShare * (unlike + fingerprints.match)
}

function detailsOf(one: CheckedStep, orgFlag: string): string[] {
  const { flow, step, state, selector, people, pages, messages } = one
  const changed = isBadState(state) ? '' : ', but its element changed or is missing'
  const reported = healthOutcomes.filter(outcome => people[outcome] > 0)
  const lines = [
    ['selector', selectorText(selector)],
    ['people', reported.map(outcome => `${outcome} ${people[outcome]}`).join(', ') || '–'],
    ...pages
      .filter(({ misses, fallback }) => misses + fallback > 0)
      .map(({ page, reports, misses, fallback }) => [
        'page',
        `${page === null ? '(unknown)' : text(page)}: ${misses} missed, ${fallback} by fallback, of ${counted(reports, 'report')}`,
      ]),
    ...messages.map(({ message, reports, lastAt }) => [
      'message',
      `${text(message)} (${counted(reports, 'time')}, last ${lastAt})`,
    ]),
    ['next', adviceFor(one, orgFlag)],
  ]
  return [
    `${flow}/${step} is ${state}${changed}`,
    ...columns(lines.map(([label, value]) => [`  ${label}`, value!])),
  ]
}

const remedies: Readonly<Record<Exclude<HealthOutcome, 'found'>, string>> = {
  not_found:
    'check that these pages still have the element; raise target.waitMs if it appears late, set target.required: false if it can be absent',
  hidden: 'the element is not visible: point at what opens it, or show the flow where it is open',
  ambiguous:
    'the selector finds several elements: make it more specific, or set target.text or target.nth',
  error: 'the search failed: check the messages, and that the selector is valid',
  found_by_alternate: 'the selector no longer finds the element: set another target.selector',
  changed: 'the element changed: check that the text of the step still fits',
}

function adviceFor(one: CheckedStep, orgFlag: string): string {
  const { flow, step, state, canBePinned, people, alternate, suggestion } = one
  const better = suggestion ?? (state === 'drifting' ? alternate : null)
  if (better && better.selector !== one.selector) {
    return `pages find it with \`${selectorText(better.selector)}\`: "cairn steps repair ${flow} ${step}${orgFlag}" puts that into the draft`
  }
  const isRelevant = state === 'drifting' ? isFallback : isMiss
  const [worst] = healthOutcomes
    .filter(outcome => isRelevant(outcome) && people[outcome] > 0)
    .sort((a, b) => people[b] - people[a])
  if (worst === 'changed' && one.isPinned) {
    return 'no selector finds the element, only its snapshot does: set target.selector to one that finds it'
  }
  const remedy = remedies[worst === undefined || worst === 'found' ? 'changed' : worst]
  const wouldHelp = canBePinned && (worst === 'not_found' || worst === 'ambiguous')
  if (!wouldHelp) return remedy
  const pin = `cairn steps pin --flow ${flow} --step ${step}${orgFlag}`
  return `${remedy}; "${pin}" lets pages find it by its snapshot`
}

function summaryOf(checked: readonly CheckedStep[], organisation: string): string {
  const byState = Map.groupBy(checked, ({ state }) => state)
  const parts = stepStates
    .filter(state => byState.has(state))
    .map(state => `${byState.get(state)!.length} ${state}`)
  const why = byState.has('unknown') ? ' (fewer than 5 people in 24 hours)' : ''
  return `${counted(checked.length, 'step')} of ${organisation}: ${parts.join(', ')}${why}`
}
