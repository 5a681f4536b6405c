import { fragileParts } from '../../../core/step/selector-fragility.ts'
import { readSelector } from '../../../core/step/selector-syntax.ts'
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
      ? `Suggested by ${suggestion.times} of the ${suggestion.of} latest pages that need another selector. It matched one element, like the one before.`
      : `Found the element in ${alternate!.reports} ${alternate!.reports === 1 ? 'report' : 'reports'} where the selector did not.`,
    fragile: 'tree' in read ? fragileParts(read.tree, false) : [],
  }
}
