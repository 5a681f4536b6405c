import { KindGuard, type TSchema } from '@sinclair/typebox'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import type { Problem } from './errors.ts'
import { patternsInWords } from './flow/values.ts'

/** Says in sentences how a value fails a schema, for callers of the API and for authors of files. */

/** A problem, with the library's error that it was made from. */
export interface ShapeProblem extends Problem {
  error: ValueError
}

const count = (n: number, one: string) => `${n} ${one}${n === 1 ? '' : 's'}`

/** A sentence for each way in which a value can fail a schema. None contains the value itself. */
const sentences: Partial<Record<ValueErrorType, (schema: TSchema) => string>> = {
  [ValueErrorType.ObjectRequiredProperty]: () => 'Is required',
  [ValueErrorType.ObjectAdditionalProperties]: () => 'There is no such field',
  [ValueErrorType.ObjectMaxProperties]: schema =>
    `Must have at most ${count(schema.maxProperties, 'field')}`,
  [ValueErrorType.Object]: () => 'Must be an object',
  [ValueErrorType.Array]: () => 'Must be an array',
  [ValueErrorType.ArrayMinItems]: schema =>
    `Must have at least ${count(schema.minItems, 'element')}`,
  [ValueErrorType.ArrayMaxItems]: schema =>
    `Must have at most ${count(schema.maxItems, 'element')}`,
  [ValueErrorType.ArrayUniqueItems]: () => 'Must not have an element twice',
  [ValueErrorType.Literal]: schema => `Must be ${schema.const}`,
  [ValueErrorType.Boolean]: () => 'Must be true or false',
  [ValueErrorType.Integer]: () => 'Must be a whole number',
  [ValueErrorType.Number]: () => 'Must be a number',
  [ValueErrorType.IntegerMinimum]: schema => `Must be at least ${schema.minimum}`,
  [ValueErrorType.NumberMinimum]: schema => `Must be at least ${schema.minimum}`,
  [ValueErrorType.IntegerMaximum]: schema => `Must be at most ${schema.maximum}`,
  [ValueErrorType.NumberMaximum]: schema => `Must be at most ${schema.maximum}`,
  [ValueErrorType.String]: () => 'Must be a text',
  [ValueErrorType.StringMinLength]: schema =>
    `Must have at least ${count(schema.minLength, 'character')}`,
  [ValueErrorType.StringMaxLength]: schema =>
    `Must have at most ${count(schema.maxLength, 'character')}`,
}

const otherwise = ({ mustBe, pattern }: TSchema) => {
  const words = mustBe ?? patternsInWords[pattern]
  return words ? `Must be ${words}` : 'Is not valid'
}

const sentenceOf = ({ type, schema }: ValueError) => (sentences[type] ?? otherwise)(schema)

const typeNames: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

/** The `type` that a schema of this value would have. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Says what a union accepts: its words, what is wrong by its branch of the value's type, or its types. */
function* problemsOfUnion(error: ValueError): Iterable<ShapeProblem> {
  const { path, schema, value } = error
  const branches = (schema.anyOf as TSchema[]).map((branch, i) => ({
    branch,
    errors: error.errors[i] ?? [],
  }))
  const real = branches.filter(({ branch }) => !KindGuard.IsNull(branch))
  const meant =
    real.length === 1 ? real[0] : real.find(({ branch }) => branch.type === typeOf(value))
  if (schema.mustBe) yield { path, message: `Must be ${schema.mustBe}`, error }
  else if (real.every(({ branch }) => KindGuard.IsLiteral(branch))) {
    const words = real.map(({ branch }) => branch.const)
    yield { path, message: `Must be one of ${words.join(', ')}`, error }
  } else if (meant) yield* shapeProblems(meant.errors)
  else {
    const names = real.map(({ branch }) => typeNames[branch.type])
    const message = names.includes(undefined) ? 'Is not valid' : `Must be ${names.join(' or ')}`
    yield { path, message, error }
  }
}

/** What is wrong, in the schema's order; of one place perhaps several things. */
export function* shapeProblems(errors: Iterable<ValueError>): Iterable<ShapeProblem> {
  for (const error of errors) {
    if (error.type === ValueErrorType.Union) yield* problemsOfUnion(error)
    else yield { path: error.path, message: sentenceOf(error), error }
    // Otherwise every element would be searched for further problems, however many there are.
    if (error.type === ValueErrorType.ArrayMaxItems) return
  }
}
