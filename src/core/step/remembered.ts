import { fourDecimals } from '../number/statistics.ts'
import {
  compareFingerprints,
  type Fingerprint,
  isSameLocale,
  type Signal,
  signalWeights,
} from './fingerprint.ts'
import { nameOf } from './likeness.ts'

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
  const requested = partsAskedFor(remembered, seen)
  const { score, signals } = compareFingerprints(baseline, requested, { sameLocale })
  return isEnough(signals) ? score : 0
}

function partsAskedFor(remembered: Remembered, seen: Fingerprint): Fingerprint {
  const requested = new Set(Object.keys(remembered))
  // Hash and text are two forms of the same thing, and a label that is read aloud counts as the name.
  if (requested.has('textHash') || requested.has('text')) requested.add('textHash').add('text')
  const all = { ...seen, name: nameOf(seen), ariaLabel: undefined }
  const parts = Object.entries(all).filter(([part]) => requested.has(part))
  return { ...Object.fromEntries(parts), matchCount: seen.matchCount }
}
