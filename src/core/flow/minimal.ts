import type { TObject, TSchema } from '@sinclair/typebox'
import { authoringOf, namedBy } from './authoring.ts'
import { FlowDefinition } from './flow.ts'
import { isSame, type Mapping, type Plain } from './plain.ts'
import { inOrder } from './texts/fields.ts'

/**
 * A flow as briefly as its author could have written it: whatever would be filled in anyway is left out,
 * and the rest is in the schema's order. Reading it gives the definition again.
 */
export function minimalFlow(definition: FlowDefinition): Mapping {
  const { texts } = definition
  const flow = texts ? { ...definition, texts: inOrder(texts, definition) } : definition
  return minimalFields(FlowDefinition, flow)
}

/** The same for a value of one field. */
export const minimalOf = (schema: TSchema, value: Plain): Plain => minimal(schema, value)

function minimal(schema: TSchema, value: unknown): Plain {
  const branches: TSchema[] = schema.anyOf ?? [schema]
  const object = branches.find(({ type }) => type === 'object')
  const named = namedBy(schema)
  if (named) return minimalNamed(named.of, value)
  if (object !== undefined && value !== null) return minimalFields(object as TObject, value)
  if (schema.type === 'array') return (value as unknown[]).map(one => minimal(schema.items, one))
  return value as Plain
}

function minimalNamed(of: TSchema, value: unknown): Mapping {
  const entries = Object.entries(value as Record<string, unknown>)
  return Object.fromEntries(entries.map(([name, one]) => [name, minimal(of, one)]))
}

function minimalFields(schema: TObject, value: unknown): Mapping {
  const fields = value as Record<string, unknown>
  const { derived } = authoringOf(schema)
  const isImplied = (name: string, property: TSchema) => {
    // A definition of an earlier release may lack a field that was added later, with a default.
    if (fields[name] === undefined) return true
    const implied = derived[name] ? derived[name](value as never) : property.default
    return isSame(fields[name], implied)
  }
  return Object.fromEntries(
    Object.entries(schema.properties)
      .filter(([name, property]) => !isImplied(name, property))
      .map(([name, property]) => [name, minimal(property, fields[name])]),
  )
}
