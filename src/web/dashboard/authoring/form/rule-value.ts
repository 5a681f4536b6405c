import type { Plain } from '../../../../core/flow/minimal.ts'

/** How the value of a rule is written in one line, and read from it. */

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[-+]?\d+)?$/i
const quoted = /^"(?:[^"\\]|\\.)*"$/

/** What stands in quotes is text, and in it a backslash says what JSON says by it. */
function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string
  } catch {
    return text.slice(1, -1)
  }
}

function readOne(text: string): Plain {
  if (text === 'true' || text === 'false') return text === 'true'
  if (number.test(text) && Number.isFinite(Number(text))) return Number(text)
  return quoted.test(text) ? unquoted(text) : text
}

/** Text that would be read as something else stands in quotes. */
function writeOne(value: Plain, isInList: boolean): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const isPlain = readOne(value) === value && !value.includes('\n')
  const isParted = isInList && (value !== value.trim() || /^$|[,"]/.test(value))
  return isPlain && !isParted ? value : JSON.stringify(value)
}

export const isList = (op: unknown) => op === 'in' || op === 'nin'

/** Commas in quotes part nothing. */
const parts = (text: string) => text.match(/\s*"(?:[^"\\]|\\.)*"\s*(?=,|$)|[^,]+/g) ?? []

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
    ? value.every(one => typeof one !== 'object')
    : typeof value !== 'object' || value === null

/** The value that fits another operator; undefined where it needs none. */
export function valueForOp(value: Plain | undefined, op: string): Plain | undefined {
  if (op === 'exists') return undefined
  const isNothing = value === undefined || value === null || value === ''
  if (isList(op)) return Array.isArray(value) ? value : isNothing ? [] : [value]
  return (Array.isArray(value) ? value[0] : value) ?? ''
}
