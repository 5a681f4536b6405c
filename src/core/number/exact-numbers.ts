/**
 * Numbers of JSON that mean another number once they are read. A double keeps 15 digits of any number,
 * and of most with 17 or more it keeps others; JSON itself has no such limit (RFC 8259, section 6).
 */

/** The most digits that every double keeps. */
const keptDigits = 15

/** A number's digits without zeros at either end, and the power of ten of the last: `15e-1` for `1.50`. */
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
 * Whether a number is still the same, as a decimal, once it is read and written again.
 * `-0` is: it becomes 0, which is the same number.
 *
 * @param token a number as JSON writes it, or YAML in decimals
 */
export function isNumberKept(token: string): boolean {
  if (token.length <= keptDigits && !/e/i.test(token)) return true
  const value = Number(token)
  const kept = String(value)
  return kept === token || (Number.isFinite(value) && decimalOf(token) === decimalOf(kept))
}

/**
 * What such a number has: sixteen digits, or a power of ten so small that nothing is left of it. One
 * that is too large becomes infinite, which needs no search. Texts may hold the like.
 */
const hasManyDigits = /(?<=[:,[\s]-?)[\d.]{16}/
const isTiny = /[eE]-\d{3}(?<=[:,[\s]-?[\d.]+[eE]-\d{3})/
const doubtful = /-?(?:[\d.]{16,}(?:[eE][+-]?\d+)?|[\d.]+[eE][+-]?\d+)/g

/** A longer text is gone through at once: to search an odd one would cost more than to read it. */
const longestSearched = 65_536

/** Of the shortest such number, `1e-324`. */
const shortest = 6

/** Where a string ends: behind the next quote that has no odd number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let quote = start; ; ) {
    quote = text.indexOf('"', quote + 1)
    let before = quote
    while (text[before - 1] === '\\') before--
    if ((quote - before) % 2 === 0) return quote + 1
  }
}

/**
 * A text of JSON in which every number that might change is a string, of a mark and the number as it
 * stands: to read it again tells where such numbers are, and costs little where most of it is kept.
 *
 * @param text well-formed JSON
 * @param mark what no string in it begins with; needs no escapes
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

/** Whether a value that was read from a marked text holds a number that would change. */
export const holdsOther = (value: unknown, mark: string): boolean =>
  typeof value === 'string'
    ? value.startsWith(mark) && !isNumberKept(value.slice(mark.length))
    : typeof value === 'object' &&
      value !== null &&
      Object.values(value).some(part => holdsOther(part, mark))
