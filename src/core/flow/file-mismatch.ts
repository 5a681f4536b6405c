import type { TSchema } from '@sinclair/typebox'
import { isCollection, isMap, isScalar, isSeq, type Node } from 'yaml'
import { didYouMean, quoted, shown } from '../text/wording.ts'
import { authoredPattern, patternsInWords } from './values.ts'

/** Null if the value is right; otherwise what is wrong with it, or an empty text if it has the wrong type. */
export function scalarFault(schema: TSchema, value: unknown): string | null {
  if (schema.type === 'null') return value === null ? null : ''
  if (schema.type === 'boolean') return typeof value === 'boolean' ? null : ''
  if (schema.type === 'string') {
    if (typeof value !== 'string') return ''
    const { minLength = 0, maxLength = Infinity, pattern } = schema
    if (value.length < minLength) return 'Must not be empty: write something'
    if (value.length > maxLength) {
      return `At most ${maxLength} characters, not ${value.length}: shorten it`
    }
    if (pattern === undefined) return null
    const asked = authoredPattern(pattern)
    if (new RegExp(asked).test(value)) return null
    return `Must be ${patternsInWords[asked]}, not ${quoted(value)}`
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) return ''
  if (schema.type === 'integer' && !Number.isInteger(value)) return ''
  return value < (schema.minimum ?? value) || value > (schema.maximum ?? value) ? '' : null
}

/** Why a node does not have the type of its schema, in one sentence. */
export function mismatch(schema: TSchema, node: Node): string {
  return `Must be ${expected(schema)}, not ${got(node)}${hintFor(schema, node)}`
}

/** A hint if YAML has probably read something else than its author meant. */
function hintFor(schema: TSchema, node: Node): string {
  if (schema.type === 'string') {
    if (isCollection(node)) return node.flow ? ': put it in quotes' : ''
    if (['number', 'boolean'].includes(typeOf(node))) return ': put it in quotes'
    return node.comment && isScalar(node) && node.source === ''
      ? ': what follows " #" is a comment, so put such text in quotes'
      : ''
  }
  const first = isMap(node) ? node.items[0]?.key : null
  const isDash = schema.type === 'array' && isScalar(first) && /^-\S/.test(String(first.value))
  return isDash ? ': put a space behind the dash' : ''
}

/** Words that other tools use for "exists" with false. */
const notExists =
  /^(?:(?:does)?_?not_?exists?|nexists|(?:is_?)?(?:missing|absent|unset|null|not_?set))$/i

/** What to write instead of a word that is none of these, as the end of a sentence, or nothing. */
export function meant(word: string, words: string[]): string {
  if (words.includes('exists') && notExists.test(word.replace(/[ -]/g, '_'))) {
    return ': for "must not be there" write op: exists with value: false'
  }
  return didYouMean(word, words)
}

/** The `type` that a schema of this node would have. */
export function typeOf(node: Node): string {
  if (isMap(node)) return 'object'
  if (isSeq(node)) return 'array'
  return isScalar(node) && node.value !== null ? typeof node.value : 'null'
}

/** A schema in words, to stand after "Must be". */
export function expected(schema: TSchema): string {
  const { anyOf, minimum, maximum } = schema
  if (anyOf !== undefined) {
    if ('const' in anyOf[0]) return `one of ${anyOf.map((word: TSchema) => word.const).join(', ')}`
    return anyOf.map(expected).join(' or ')
  }
  if (schema.type === 'integer') {
    const from = minimum === undefined ? '' : ` from ${minimum}`
    return `a whole number${from}${maximum === undefined ? '' : ` to ${maximum}`}`
  }
  if (schema.type === 'string') return `text of at most ${schema.maxLength} characters`
  const words: Record<string, string> = {
    object: 'a mapping of fields',
    array: 'a list',
    boolean: 'true or false',
    number: 'a number',
  }
  return words[schema.type] ?? 'null'
}

/** A node in words, to stand after "not". */
export function got(node: Node): string {
  if (isMap(node)) return 'a mapping'
  if (isSeq(node)) return 'a list'
  const value = isScalar(node) ? node.value : null
  if (value === null) return 'empty'
  return typeof value === 'string' ? quoted(value) : shown(String(value))
}
