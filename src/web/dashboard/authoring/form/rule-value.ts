import type { Plain } from '../../../../core/flow/minimal.ts'

/** How the value of a rule is written in one line, and read from it. */

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[-+]?\d+)?$/i

function readOne(text: string): Plain {
  if (text === 'true' || text === 'false') return text === 'true'
  if (number.test(text) && Number.isFinite(Number(text))) return Number(text)
  return /^".*"$/s.test(text) && text.length > 1 ? text.slice(1, -1) : text
}

/** Text that would be read as something else stands in quotes. */
function writeOne(value: Plain, isInList: boolean): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const isPlain = readOne(value) === value && value === (isInList ? value.trim() : value)
  return isPlain && !(isInList && /^$|,/.test(value)) ? value : `"${value}"`
}

export const isList = (op: unknown) => op === 'in' || op === 'nin'

/** Commas in quotes part nothing. */
const parts = (text: string) => text.match(/(?:\s*"[^"]*"\s*(?=,|$)|[^,]+)/g) ?? []

export function readValue(text: string, op: unknown): Plain {
  if (!isList(op)) return readOne(text)
  return parts(text)
    .map(part => part.trim())
    .filter(part => part !== '')
    .map(readOne)
}

export function writeValue(value: Plain | undefined): string {
  if (value === undefined) return ''
  if (!Array.isArray(value)) return writeOne(value, false)
  return value.map(one => writeOne(one, true)).join(', ')
}

/** Whether the form can show it: a plain value, or a list of such. */
export const isWritable = (value: Plain | undefined): boolean =>
  Array.isArray(value)
    ? value.every(one => typeof one !== 'object' && fitsInList(one))
    : value === undefined || value === null || (typeof value !== 'object' && isOneLine(value))

const isOneLine = (one: Plain) => typeof one !== 'string' || !one.includes('\n')
const fitsInList = (one: Plain) => isOneLine(one) && (typeof one !== 'string' || !one.includes('"'))

/** The value that fits another operator; undefined where it needs none. */
export function valueForOp(value: Plain | undefined, op: string): Plain | undefined {
  if (op === 'exists') return undefined
  const first = Array.isArray(value) ? value[0] : value
  if (isList(op))
    return Array.isArray(value) ? value : first === undefined || first === null ? [] : [first]
  return first ?? ''
}
