import { fragileParts } from '../../../core/step/selector-fragility.ts'
import { readSelector } from '../../../core/step/selector-syntax.ts'
import { healthWords as words } from '../words/health.ts'
import type { CheckedStep } from './health.ts'

/** A selector that would find a step's element, and how that is known. */
export interface Candidate {
  selector: string
  known: string
  /** What the next build will probably break of it. */
  fragile: readonly string[]
}

/** Null where nothing suggests one. */
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
