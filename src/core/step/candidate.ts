import type { JudgedSelector } from './proposal.ts'

/** A selector that finds an element among others, as judged. */
export interface Candidate extends Pick<JudgedSelector, 'grade' | 'mayNamePerson'> {
  selector: string
  matchCount: number
}

/** The chosen selector. If it finds only the element, others that find only the element come with it. */
export function takenOf(
  candidates: readonly Candidate[],
  selector: string,
): { selector: string; alternates?: string[] } {
  const alone = candidates.filter(({ matchCount }) => matchCount === 1)
  if (!alone.some(one => one.selector === selector)) return { selector }
  const alternates = alone
    .filter(one => one.selector !== selector && one.grade !== 'weak' && !one.mayNamePerson)
    .map(one => one.selector)
  return alternates.length > 0 ? { selector, alternates } : { selector }
}

/** The selector that is clearly meant; undefined if somebody has to choose. */
export const clearChoice = (
  candidates: readonly Candidate[],
  isWrapper: boolean,
): string | undefined =>
  isWrapper ? undefined : candidates.find(({ matchCount }) => matchCount === 1)?.selector
