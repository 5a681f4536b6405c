import { attributeOf, type Traits } from '../flow/audience-match.ts'

/** How many traits an organisation lists at most, and how long their names and values are, characters. */
export const mostTraits = 8
export const longestTrait = 64

/** What is kept of a person when a run starts: the values of traits that the organisation lists. */
export type ListedTraits = Readonly<Record<string, string>>

/** Numbers and truths as text, texts cut; null for what is no value to count by. */
function countableValue(said: unknown): string | null {
  if (!['string', 'number', 'boolean'].includes(typeof said)) return null
  // Characters, so that none is cut in two.
  return [...String(said).slice(0, 2 * longestTrait)].slice(0, longestTrait).join('') || null
}

/** Of all that is said of a person only what the organisation lists; null where that is nothing. */
export function listedTraits(names: readonly string[], said: Traits): ListedTraits | null {
  const listed: Record<string, string> = {}
  for (const name of names) {
    const value = countableValue(attributeOf(said, name))
    if (value !== null) listed[name] = value
  }
  return Object.keys(listed).length > 0 ? listed : null
}

/** What was said of a trait; null for nothing. */
export const traitIn = (traits: ListedTraits, name: string): string | null =>
  (Object.hasOwn(traits, name) && traits[name]) || null

const personal =
  /e-?mail|(first|last|full|user|sur)[ ._-]?name|^name$|phone|address|birth|(^|[ ._-])(id|ip|uuid)$/i

/** Whether a trait by its name alone tells one person from all others. */
export const mayNameSomebody = (trait: string): boolean =>
  personal.test(trait) || /[a-z]I[dp]$/.test(trait)
