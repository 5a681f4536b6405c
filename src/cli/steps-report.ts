import { isoTime } from '../core/clock.ts'
import {
  isBadState,
  isMakeshift,
  isMiss,
  type Outcome,
  outcomes,
  stepStates,
  totalsOf,
} from '../core/step-health.ts'
import { shown } from '../core/wording.ts'
import { columns, counted } from './output.ts'
import type { CheckedStep } from './steps.ts'

/** Selectors, addresses and messages come from whoever has a key: shown long, but harmlessly. */
const text = (value: string) => shown(value, 200)

/** From this share on, fingerprints that are no match are worth a word, as makeshift finds are. */
const fewUnlike = 0.2

/** The states of all steps as a table, then the evidence for each that is not well. */
export function stepReport(checked: readonly CheckedStep[]): string[] {
  if (checked.length === 0) return ['no published step points at an element']
  const isOne = new Set(checked.map(({ organisation }) => organisation.slug)).size === 1
  const named = checked.map(one => {
    const name = `${one.flow.key}/${one.step.key}`
    return { one, name: isOne ? name : `${one.organisation.slug}: ${name}` }
  })
  const header = ['STEP', 'STATE', 'PEOPLE', 'FOUND', 'OTHERWISE', 'MISSED', 'SINCE']
  const rows = named.map(({ one, name }) => {
    const { people, finds, makeshift, misses } = totalsOf(one.evidence.people)
    const counts = [people, finds - makeshift, makeshift, misses].map(String)
    return [name, one.health.state, ...counts, sinceOf(one)]
  })
  const notWell = named.filter(({ one }) => isBadState(one.health.state) || isUnlike(one))
  return [
    ...columns([header, ...rows]),
    ...notWell.flatMap(({ one, name }) => ['', ...detail(one, name)]),
    '',
    summary(checked),
  ]
}

function sinceOf({ health, evidence }: CheckedStep): string {
  const at = health.state === 'drifting' ? evidence.makeshiftSince : evidence.missesSince
  return at === null || !isBadState(health.state) ? '–' : isoTime(at)
}

/** Whether fingerprints say that the element is another, though people may find it. */
function isUnlike({ evidence: { fingerprints } }: CheckedStep): boolean {
  const unlike = fingerprints.drift + fingerprints.gone
  return unlike > 0 && unlike >= fewUnlike * (unlike + fingerprints.match)
}

function detail(one: CheckedStep, name: string): string[] {
  const { health, step, evidence } = one
  const { people, fingerprints, lastFindAt, lastMissAt } = evidence
  const title = isBadState(health.state)
    ? `${name} is ${health.state}`
    : `${name} is ${health.state}, but its element does not look as it did`
  const said = outcomes.filter(outcome => people[outcome] > 0)
  const { match, drift, gone, latest } = fingerprints
  const lines: (readonly [string, string] | null)[] = [
    ['selector', text(step.target.selector)],
    said.length > 0
      ? ['people', said.map(outcome => `${outcome} ${people[outcome]}`).join(', ')]
      : null,
    ...evidence.pages.flatMap(page => pageLine(page) ?? []).map(line => ['page', line] as const),
    ...evidence.messages.map(({ message, reports, lastAt }) => {
      const times = reports === 1 ? isoTime(lastAt) : `${reports} times, last ${isoTime(lastAt)}`
      return ['message', `${text(message)} (${times})`] as const
    }),
    lastMissAt === null ? null : ['last missed', isoTime(lastMissAt)],
    lastFindAt === null ? null : ['last found', isoTime(lastFindAt)],
    latest && [
      'fingerprints',
      `${match} match, ${drift} drift, ${gone} gone; the latest ${latest.status}, score ${latest.score.toFixed(2)}`,
    ],
    ['next', advice(one)],
  ]
  const shownLines = lines.filter(line => line !== null)
  return [title, ...columns(shownLines.map(([label, value]) => [`  ${label}`, value]))]
}

/** A page on which something was wrong; null for one on which all is well. */
function pageLine(told: CheckedStep['evidence']['pages'][number]): string | null {
  const { page, reports, misses, makeshift } = told
  if (misses + makeshift === 0) return null
  const bad = [
    ...(misses > 0 ? [`${misses} missed`] : []),
    ...(makeshift > 0 ? [`${makeshift} found otherwise`] : []),
  ]
  return `${page === null ? '(not told)' : text(page)}: ${bad.join(', ')}, of ${counted(reports, 'report')}`
}

/** What to do about each way of not being found as the step describes it. */
const remedies: Readonly<Record<Exclude<Outcome, 'found'>, string>> = {
  not_found:
    'see whether these pages still have the element; set a longer target.waitMs where it comes late, and target.required: false where it may rightly be away',
  hidden:
    'the element is there but cannot be seen: point at what opens it, or show the flow only where it is open',
  ambiguous:
    'the selector finds several elements: make it more exact, or set target.text or target.nth',
  error: 'looking for the element failed: see the messages, and whether the selector is valid',
  found_by_alternate:
    'the selector no longer finds the element, other signs did: set target.selector to one that finds it',
  changed:
    'the element looks different: see whether the step still says the right thing about it; a changed target begins with a new baseline',
}

function advice({ evidence, step, flow, health }: CheckedStep): string {
  const { people, alternate, fingerprints } = evidence
  const { suggestion } = fingerprints
  if (suggestion && suggestion.selector !== step.target.selector) {
    const { selector, times, of } = suggestion
    return `set target.selector to \`${text(selector)}\` (suggested by ${times} of ${counted(of, 'fingerprint')}), then "cairn flows push FILE" and "cairn flows publish ${flow.key}"`
  }
  if (health.state === 'drifting' && alternate && alternate.selector !== step.target.selector) {
    const { selector, reports } = alternate
    return `see whether \`${text(selector)}\`, by which ${counted(reports, 'report')} found it, is a good target.selector; else set one that finds the element`
  }
  const isIt = health.state === 'drifting' ? isMakeshift : isMiss
  const [worst] = outcomes
    .filter(outcome => isIt(outcome) && people[outcome] > 0)
    .sort((a, b) => people[b] - people[a])
  return remedies[worst === undefined || worst === 'found' ? 'changed' : worst]
}

function summary(checked: readonly CheckedStep[]): string {
  const byState = Map.groupBy(checked, ({ health }) => health.state)
  const parts = stepStates.flatMap(state => {
    const count = byState.get(state)?.length ?? 0
    return count > 0 ? [`${count} ${state}`] : []
  })
  const why = byState.has('unknown')
    ? ' (under 5 people have told of the published version in 24 hours)'
    : ''
  return `${counted(checked.length, 'step')}: ${parts.join(', ')}${why}`
}
