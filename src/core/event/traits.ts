import { startReasonTrait } from './start-reason.ts'

/** How many traits an organisation can list, and how many characters their names and values can have. */
export const maxTraits = 8
export const maxTraitLength = 64

const traitPattern = /^[\p{L}\p{N}$][\p{L}\p{N}_.$ -]*$/u

/** What is wrong with the name of a trait, as a sentence without a capital letter; null if nothing is. */
export function traitProblem(name: string): string | null {
  if (name === startReasonTrait)
    return `${startReasonTrait} is always stored and need not be listed`
  if (name.length <= maxTraitLength && traitPattern.test(name) && name === name.trim()) return null
  return `a trait's name is at most ${maxTraitLength} letters, digits, "_", ".", "-", "$" and spaces, such as plan or company.size`
}

/** What is kept about a person when a run starts: the values of traits that the organisation lists. */
export type ListedTraits = Readonly<Record<string, string>>

/** Numbers and booleans become text, and texts are cut; null for a value that cannot be counted by. */
function countableValue(sent: unknown): string | null {
  if (!['string', 'number', 'boolean'].includes(typeof sent)) return null
  // Cut by characters and not by UTF-16 units, so that none is cut in two.
  return [...String(sent).slice(0, 2 * maxTraitLength)].slice(0, maxTraitLength).join('') || null
}

/** Only the traits that the organisation lists; null if the person has none of them. */
export function listedTraits(names: readonly string[], sent: Traits): ListedTraits | null {
  const listed: Record<string, string> = {}
  for (const name of names) {
    const value = countableValue(attributeOf(sent, name))
    if (value !== null) listed[name] = value
  }
  return Object.keys(listed).length > 0 ? listed : null
}

/** The value of a trait; null if it was not sent. */
export const traitIn = (traits: ListedTraits, name: string): string | null =>
  (Object.hasOwn(traits, name) && traits[name]) || null

const personal =
  /e-?mail|(first|last|full|user|sur)[ ._-]?name|^name$|phone|address|birth|(^|[ ._-])(id|ip|uuid)$/i

/** Whether a trait's name alone suggests that it identifies one person. */
export const mayNameSomebody = (trait: string): boolean =>
  personal.test(trait) || /[a-z]I[dp]$/.test(trait)

/** What a page or a back end sent about a person: a JSON object. */
export type Traits = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Traits =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A trait by its name, or by the path to it: `company.plan`. */
export function attributeOf(traits: Traits, name: string): unknown {
  if (Object.hasOwn(traits, name)) return traits[name]
  const dot = name.indexOf('.')
  if (dot < 0 || !Object.hasOwn(traits, name.slice(0, dot))) return undefined
  const inner = traits[name.slice(0, dot)]
  return isObject(inner) ? attributeOf(inner, name.slice(dot + 1)) : undefined
}
