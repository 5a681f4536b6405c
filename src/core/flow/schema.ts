import type { TObject, TSchema } from '@sinclair/typebox'
import { authoringOf, isOptional, namedBy } from './authoring.ts'
import { FlowDefinition, ItemDefinition, StepDefinition } from './flow.ts'
import { patternsInWords } from './values.ts'

/** A JSON Schema, or a part of one. */
export type JsonSchema = { [keyword: string]: unknown }

/** Parts with a name of their own, so that authors find them in the file. */
const named = new Map<TSchema, string>([
  [FlowDefinition, 'flow'],
  [StepDefinition, 'step'],
  [ItemDefinition, 'item'],
])

/**
 * The JSON Schema of a flow file as authors write it, for editors and for other tools. It accepts what
 * `readFlowFile` accepts, except that it does not find repeated keys. Lengths count Unicode characters
 * there and UTF-16 units here.
 *
 * Draft 7, the newest that VS Code's JSON editor and its YAML extension fully support. The keywords
 * `enumDescriptions`, `patternErrorMessage` and `doNotSuggest` are theirs; other tools ignore them.
 */
export function flowFileSchema(): JsonSchema {
  const flow = { $ref: '#/definitions/flow' }
  const list = { type: 'array', minItems: 1, items: flow }
  const container = {
    type: 'object',
    additionalProperties: false,
    properties: { flows: { ...list, description: 'The flows of this file.' }, version: ignored },
  }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Cairn flow file',
    description: 'One flow, a list of flows, or "flows: " with a list.',
    // Not "anyOf", so that an editor can say what is wrong with the form that the author meant.
    if: { type: 'array' },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: list,
    else: {
      if: { type: 'object', required: ['flows'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: container,
      else: flow,
    },
    definitions: Object.fromEntries([...named].map(([schema, name]) => [name, keywordsOf(schema)])),
  }
}

/** A field of the API's responses, which a file may contain. */
const ignored: JsonSchema = {
  description: 'Set by the server. Ignored in files.',
  doNotSuggest: true,
}

function ofSchema(schema: TSchema): JsonSchema {
  const name = named.get(schema)
  if (name !== undefined) return { $ref: `#/definitions/${name}` }
  const { description, default: byDefault } = schema
  return {
    ...(description && { description }),
    ...keywordsOf(schema),
    // Editors insert the default when they complete a field. An empty default is useless there, and a null
    // in place of an object confuses the YAML extension.
    ...(isWord(byDefault) && { default: byDefault }),
  }
}

const isWord = (value: unknown) =>
  ['boolean', 'number'].includes(typeof value) || (!!value && typeof value === 'string')

function keywordsOf(schema: TSchema): JsonSchema {
  if (schema.anyOf !== undefined) return ofUnion(schema.anyOf)
  const named = namedBy(schema)
  if (named) {
    return {
      type: 'object',
      maxProperties: named.maxProperties,
      additionalProperties: false,
      patternProperties: { [named.pattern]: ofSchema(named.of) },
    }
  }
  if (schema.type === 'object') return ofObject(schema as TObject)
  const { description, default: byDefault, items, pattern, ...keywords } = schema
  return {
    ...keywords,
    ...(pattern && { pattern, patternErrorMessage: `Must be ${patternsInWords[pattern]}` }),
    ...(items && { items: ofSchema(items) }),
  }
}

/** One object instead of branches, because editors then give far better completions and messages. */
function ofUnion(branches: TSchema[]): JsonSchema {
  if (branches.every(branch => 'const' in branch)) {
    return {
      type: 'string',
      enum: branches.map(branch => branch.const),
      enumDescriptions: branches.map(branch => branch.description),
    }
  }
  // The types differ, and a keyword of one type does not restrict values of another.
  return {
    ...Object.assign({}, ...branches.map(keywordsOf)),
    type: branches.map(({ type }) => type),
  }
}

function ofObject(schema: TObject): JsonSchema {
  const { owned, derived } = authoringOf(schema)
  const fields = Object.entries(schema.properties)
  const required = fields
    .filter(
      ([name, field]) => !('default' in field) && !(name in derived) && !isOptional(schema, name),
    )
    .map(([name]) => name)
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: {
      ...Object.fromEntries(fields.map(([name, field]) => [name, ofSchema(field)])),
      ...Object.fromEntries([...owned].map(name => [name, ignored])),
    },
  }
}
