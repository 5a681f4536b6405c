import { fragileParts } from '../../../core/step/selector-fragility.ts'
import { readSelector } from '../../../core/step/selector-syntax.ts'
import { healthWords as words } from '../words/health.ts'
import type { CheckedStep } from './health.ts'

/** A selector that would find a step's element, and how that is known. */
export interface Candidate {
  selector: string
  known: string
  /** The parts of it that the next build will probably break. */
  fragile: readonly string[]
}

/** The candidate for a step; null if nothing suggests one. */
export function candidateOf({ suggestion, alternate }: CheckedStep): Candidate | null {
  const selector = suggestion?.selector ?? alternate?.selector
  if (selector === undefined) return null
  const read = readSelector(selector)
  return {
    selector,
    known: suggestion
      ? words.byFingerprints(suggestion.times, suggestion.of)
      : words.byReports(alternate!.reports),
    fragile: 'tree' in read ? fragileParts(read.tree, false) : [],
  }
}
