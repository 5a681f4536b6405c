import { fourDecimals } from '../number/statistics.ts'
import type { Fingerprint } from './fingerprint.ts'
import {
  ancestryLikeness,
  attributeSet,
  equality,
  idLikeness,
  jaccard,
  likeness,
  mean,
  nameOf,
  overlap,
  testIdLikeness,
  textLikeness,
  wordLikeness,
} from './likeness.ts'

/** The parts by which two fingerprints are compared, and how much of the score each decides. */
export const signalWeights = {
  testId: 0.2,
  id: 0.2,
  tag: 0.1,
  roleAndName: 0.15,
  text: 0.15,
  ancestors: 0.15,
  attributes: 0.05,
  // Layouts change with every viewport. Reported to people who look into a drift, but never counted.
  position: 0,
} as const

/** A part of a comparison. */
export type Signal = keyof typeof signalWeights

/**
 * How similar an element is to its baseline. `score` and each of `signals` are 0 to 1 with four decimals;
 * `signals` has a {@link Signal} only if it was compared.
 */
export type Comparison = {
  status: 'match' | 'drift' | 'gone'
  score: number
  signals: Record<string, number>
}

const matchFrom = 0.85
const driftFrom = 0.5
export const maxCandidates = 20
/**
 * Rows of a table differ in little more than their number. Closer than this, two candidates count as
 * equally good.
 */
const clearLead = 0.05

/** The verdict on an element that was compared with its baseline. */
export type Judgement = Comparison & { suggestedSelector: string | null }

/**
 * Compares what a page saw with the baseline, and suggests a better selector if one is needed: the element
 * has changed, or the step's selector does not match it alone.
 *
 * @param baseline the result of `allowedFingerprint`, with the locale of its page; a null locale stands for
 *   any
 * @param seen the same; `print` is null if the element was looked for and is not there
 */
export function judgeFingerprint(
  baseline: { print: Fingerprint; locale: string | null },
  seen: { print: Fingerprint | null; locale: string | null; candidates: readonly Fingerprint[] },
): Judgement {
  const options = { sameLocale: isSameLocale(baseline.locale, seen.locale) }
  const comparison = compareFingerprints(baseline.print, seen.print, options)
  const isWell = comparison.status === 'match' && seen.print?.matchCount === 1
  return {
    ...comparison,
    suggestedSelector: isWell ? null : suggestSelector(baseline.print, seen.candidates, options),
  }
}

/** Language tags are case-insensitive (RFC 5646, section 2.1.1), and some systems write `_` in them. */
export function isSameLocale(a: string | null, b: string | null): boolean {
  if (a === null || b === null) return true
  const [one, other] = [a, b].map(tag => tag.replaceAll('_', '-').toLowerCase())
  return one === other
}

/**
 * Compares an element with its baseline.
 *
 * A signal that is absent on both sides is not counted; one that only one side has scores 0. In another
 * locale no words are compared: the text, the accessible name, `placeholder` and `title`. If the test id
 * differs, an equal text can lower the score but not raise it, because rows of a table all say "Delete". If
 * there is nothing to compare, no change was seen, and the score is 1.
 *
 * @param baseline the result of `allowedFingerprint`
 * @param seen the same; `null` if the element was looked for and is not there
 */
export function compareFingerprints(
  baseline: Fingerprint,
  seen: Fingerprint | null,
  { sameLocale }: { sameLocale: boolean },
): Comparison {
  if (seen === null) return { status: 'gone', score: 0, signals: {} }

  const found: Record<Signal, number | undefined> = {
    testId: testIdLikeness(baseline.testId, seen.testId),
    id: idLikeness(baseline.id, seen.id),
    tag: equality(baseline.tag, seen.tag),
    roleAndName: mean([
      equality(baseline.role, seen.role),
      sameLocale ? wordLikeness(nameOf(baseline), nameOf(seen)) : undefined,
    ]),
    text: sameLocale ? textLikeness(baseline, seen) : undefined,
    ancestors: likeness(baseline.ancestors, seen.ancestors, ancestryLikeness),
    attributes: mean([
      jaccard(attributeSet(baseline, sameLocale), attributeSet(seen, sameLocale)),
      jaccard(new Set(baseline.classes), new Set(seen.classes)),
    ]),
    position: mean([
      equality(baseline.nthOfType, seen.nthOfType),
      likeness(baseline.rect, seen.rect, overlap),
    ]),
  }

  const anotherTestId = baseline.testId && seen.testId && found.testId === 0
  const lowest = anotherTestId
    ? Math.min(weigh(found), weigh({ ...found, text: undefined }))
    : weigh(found)
  // Based on the rounded score, so that the status cannot contradict the score in the response.
  const score = fourDecimals(lowest)
  const status = score >= matchFrom ? 'match' : score >= driftFrom ? 'drift' : 'gone'
  const signals: Comparison['signals'] = {}
  for (const [signal, value] of entriesOf(found)) signals[signal] = fourDecimals(value)
  return { status, score, signals }
}

/**
 * The selector to use in place of a step's own. It is that of the one candidate that is the baseline's
 * element as far as can be seen (`match`), that its selector matches alone, and that clearly leads all
 * candidates with another selector. Never a selector that the caller did not send.
 *
 * @param candidates results of `allowedFingerprint`; only the first 20 are looked at
 * @returns `null` if there is no such candidate
 */
export function suggestSelector(
  baseline: Fingerprint,
  candidates: readonly Fingerprint[],
  options: { sameLocale: boolean },
): string | null {
  const scored = candidates.slice(0, maxCandidates).map(candidate => {
    const { score, signals } = compareFingerprints(baseline, candidate, options)
    // A score of 1 because there was nothing to compare is no reason to suggest anything.
    const compared = entriesOf(signals).some(([signal]) => signalWeights[signal] > 0)
    return { candidate, score: compared ? score : 0 }
  })
  const top = Math.max(0, ...scored.map(({ score }) => score))
  if (top < matchFrom) return null
  const selector = scored.find(({ score }) => score === top)!.candidate.selector
  const rivals = scored.filter(({ score }) => top - score < clearLead)
  const isAlone = rivals.every(
    ({ candidate }) => candidate.selector === selector && candidate.matchCount === 1,
  )
  return isAlone && selector !== undefined ? selector : null
}

function weigh(signals: Partial<Record<Signal, number>>): number {
  let sum = 0
  let weights = 0
  for (const [signal, value] of entriesOf(signals)) {
    sum += signalWeights[signal] * value
    weights += signalWeights[signal]
  }
  return weights === 0 ? 1 : sum / weights
}

function entriesOf(signals: Partial<Record<Signal, number>>): [Signal, number][] {
  const entries = Object.entries(signals) as [Signal, number | undefined][]
  return entries.filter((entry): entry is [Signal, number] => entry[1] !== undefined)
}

/** What a flow remembers of an element: the parts of a fingerprint that its author wants compared. */
export type Remembered = Omit<Fingerprint, 'matchCount'> & { locale?: string }

/** If a comparison covers less than half of the weights, even a perfect score says little. */
const minEvidence = 0.5

function isEnough(signals: Record<string, number>): boolean {
  let sum = 0
  for (const signal of Object.keys(signals)) sum += signalWeights[signal as Signal]
  // Rounded, because sums of such weights are inexact.
  return fourDecimals(sum) >= minEvidence
}

/** Whether it says enough to identify an element. */
export function isTelling(remembered: Remembered): boolean {
  const print = { ...remembered, matchCount: 1 }
  return isEnough(compareFingerprints(print, print, { sameLocale: true }).signals)
}

/**
 * How similar an element on a page is to a remembered one, 0 to 1. Only what the remembered one has is
 * compared, so test ids that all elements have got since do not count against any. 0 if too little is left
 * to compare, as with words in another language.
 *
 * @param locale of the page; null if it says none, which may be any
 */
export function rememberedLikeness(
  remembered: Remembered,
  seen: Fingerprint,
  locale: string | null,
): number {
  const sameLocale = isSameLocale(remembered.locale ?? null, locale)
  // An author may write them in upper case, as developer tools show them.
  const [tag, role] = [remembered.tag?.toLowerCase(), remembered.role?.toLowerCase()]
  const baseline = { ...remembered, tag, role, matchCount: 1 }
  const comparable = comparableParts(remembered, seen)
  const { score, signals } = compareFingerprints(baseline, comparable, { sameLocale })
  return isEnough(signals) ? score : 0
}

function comparableParts(remembered: Remembered, seen: Fingerprint): Fingerprint {
  const names = new Set(Object.keys(remembered))
  // Hash and text are two forms of the same thing, and a label that is read aloud counts as the name.
  if (names.has('textHash') || names.has('text')) names.add('textHash').add('text')
  const all = { ...seen, name: nameOf(seen), ariaLabel: undefined }
  const parts = Object.entries(all).filter(([part]) => names.has(part))
  return { ...Object.fromEntries(parts), matchCount: seen.matchCount }
}
