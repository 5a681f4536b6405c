/**
 * Finds numbers in JSON that would change when they are parsed. A double keeps any number of 15 digits, but
 * changes most numbers of 17 or more. JSON itself has no such limit (RFC 8259, section 6).
 */

/** The most digits that every double keeps. */
const keptDigits = 15

/** A number's digits without zeros at either end, and the power of ten of the last digit: `15e-1` for `1.50`. */
function decimalOf(token: string): string {
  const [mantissa = '', exponent = '0'] = token.split(/e/i)
  const point = mantissa.indexOf('.')
  const digits = mantissa.replace('.', '').replace('-', '')
  let from = 0
  while (digits[from] === '0') from++
  let to = digits.length
  while (to > from && digits[to - 1] === '0') to--
  if (from === to) return '0'
  const fractionLength = point < 0 ? 0 : mantissa.length - point - 1
  const power = Number(exponent) - fractionLength + digits.length - to
  return `${token[0] === '-' ? '-' : ''}${digits.slice(from, to)}e${power}`
}

/**
 * Whether a number is still the same decimal after it is parsed and written again. `-0` counts as the same:
 * it becomes 0, which is the same number.
 *
 * @param token a number as in JSON, or a decimal number as in YAML
 */
export function isNumberKept(token: string): boolean {
  if (token.length <= keptDigits && !/e/i.test(token)) return true
  const value = Number(token)
  const kept = String(value)
  return kept === token || (Number.isFinite(value) && decimalOf(token) === decimalOf(kept))
}

/**
 * Signs of such a number: sixteen digits, or a power of ten so small that nothing is left of the number. A
 * number that is too large becomes infinite, so it needs no search. Texts may contain the same characters.
 */
const hasManyDigits = /(?<=[:,[\s]-?)[\d.]{16}/
const isTiny = /[eE]-\d{3}(?<=[:,[\s]-?[\d.]+[eE]-\d{3})/
const doubtful = /-?(?:[\d.]{16,}(?:[eE][+-]?\d+)?|[\d.]+[eE][+-]?\d+)/g

/** A longer text is always processed, because searching an unusual one would cost more than parsing it. */
const longestSearched = 65_536

/** The length of the shortest such number, `1e-324`. */
const shortest = 6

/** Where a string ends: after the next quote that has an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let quote = start; ; ) {
    quote = text.indexOf('"', quote + 1)
    let before = quote
    while (text[before - 1] === '\\') before--
    if ((quote - before) % 2 === 0) return quote + 1
  }
}

/**
 * A JSON text in which every number that might change is replaced by a string of a mark and the number as
 * written. Parsing that text shows where such numbers are. This costs little if most of the text stays as
 * it is.
 *
 * @param text well-formed JSON
 * @param mark a prefix that no string in the text has, and that needs no escapes
 */
export function withMarks(text: string, mark: string): string {
  const isSearched = text.length <= longestSearched
  if (isSearched && !hasManyDigits.test(text) && !isTiny.test(text)) return text
  let marked = ''
  let copied = 0
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at)
    const end = quote < 0 ? text.length : quote
    if (end - at >= shortest) {
      const between = text.slice(at, end).replace(doubtful, `"${mark}$&"`)
      marked += text.slice(copied, at) + between
      copied = end
    }
    at = quote < 0 ? end : endOfString(text, quote)
  }
  return marked + text.slice(copied)
}

/** Whether a value that was parsed from a marked text contains a number that would change. */
export const holdsOther = (value: unknown, mark: string): boolean =>
  typeof value === 'string'
    ? value.startsWith(mark) && !isNumberKept(value.slice(mark.length))
    : typeof value === 'object' &&
      value !== null &&
      Object.values(value).some(part => holdsOther(part, mark))
