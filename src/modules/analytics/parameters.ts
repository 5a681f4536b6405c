import { invalid, mostProblems, type Problem } from '../../core/errors.ts'
import { below, nearest, quoted, shown } from '../../core/text/wording.ts'
import { parametersOf } from '../../http/input.ts'

/**
 * The names of parameters that mean nothing, each once and at most twenty: an answer that leaves one
 * out of account has to say so.
 *
 * @param names those that mean something
 * @throws AppError `validation_failed` for one that looks like one of them misspelt: what was asked
 *   would be answered by other numbers
 */
export function ignoredParameters(request: Request, names: readonly string[]): string[] {
  const others = new Set(parametersOf(request).map(([name]) => name))
  for (const name of names) others.delete(name)
  const first = [...others].slice(0, mostProblems)
  const misspelt = first.flatMap((name): Problem[] => {
    const meant = nameMeant(name, names)
    if (meant === null) return []
    const message = `There is no such parameter: did you mean ${quoted(meant)}?`
    return [{ path: below('', name), message }]
  })
  if (misspelt.length > 0) throw invalid(...misspelt)
  return first.map(name => shown(name))
}

/** A name that was probably meant: by its letters in order, such as tz, or by nearly all of them. */
function nameMeant(name: string, names: readonly string[]): string | null {
  if (name.length < 2) return null
  const short = names.filter(known => isShortFor(name.toLowerCase(), known))
  if (short.length === 1) return short[0]!
  // Two letters are near to any other two.
  return name.length === 2 ? null : nearest(name, [...names])
}

/** Whether a word has nothing but letters of another, in their order, and begins as it does. */
function isShortFor(word: string, whole: string): boolean {
  if (word[0] !== whole[0]) return false
  let at = 0
  for (const letter of word) {
    at = whole.indexOf(letter, at) + 1
    if (at === 0) return false
  }
  return true
}
