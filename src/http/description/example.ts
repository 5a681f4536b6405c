import type { JsonSchema } from './json-schema.ts'

/**
 * A value to show for a schema: its own first example, else one put together from its parts'. What
 * may be null and has no example is null.
 */
export function exampleOf(
  schema: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>,
): unknown {
  const { $ref, examples, properties, items, anyOf, type } = schema
  if (typeof $ref === 'string') {
    const named = components[$ref.slice('#/components/schemas/'.length)]
    return named && exampleOf(named, components)
  }
  if (Array.isArray(examples)) return examples[0]
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (Array.isArray(anyOf) && !properties) return exampleOf(anyOf[0] as JsonSchema, components)
  if (properties) {
    const parts = Object.entries(properties as Record<string, JsonSchema>)
      .map(([name, part]) => [name, exampleOf(part, components)] as const)
      .filter(([, value]) => value !== undefined)
    return Object.fromEntries(parts)
  }
  if (items) return [exampleOf(items as JsonSchema, components)]
  const types = [type].flat()
  if (types.includes('null')) return null
  if (types.includes('boolean')) return true
  if (types.includes('integer') || types.includes('number')) return schema.minimum ?? 0
  if (types.includes('object')) return {}
  return types.includes('string') ? 'text' : undefined
}
