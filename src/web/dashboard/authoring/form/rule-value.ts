import type { Plain } from '../../../../core/flow/plain.ts'

/** Writes the value of a rule in one line, and reads it from there. */

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[-+]?\d+)?$/i
const quoted = /^"(?:[^"\\]|\\.)*"$/

/** Anything in quotes is text, in which a backslash means the same as in JSON. */
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

/** Puts text in quotes if it would otherwise be read as something else. */
function writeOne(value: Plain, isInList: boolean): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const isPlain = readOne(value) === value && !value.includes('\n')
  const isParted = isInList && (value !== value.trim() || /^$|[,"]/.test(value))
  return isPlain && !isParted ? value : JSON.stringify(value)
}

export const isList = (op: unknown) => op === 'in' || op === 'nin'

/** Splits a list. Commas in quotes do not separate. */
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

/** The value converted for another operator; undefined if there is none. */
export function valueForOp(value: Plain | undefined, op: string): Plain | undefined {
  if (op === 'exists') return undefined
  const isNothing = value === undefined || value === null || value === ''
  if (isList(op)) return Array.isArray(value) ? value : isNothing ? [] : [value]
  return (Array.isArray(value) ? value[0] : value) ?? undefined
}
