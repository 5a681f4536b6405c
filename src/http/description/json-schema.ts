import { KindGuard, type TSchema } from '@sinclair/typebox'
import type { JsonSchema } from '../../core/flow/schema.ts'
import { toldAs } from '../shapes.ts'

/** Not every reader's regular expressions support lookaround (RE2's do not), so these are described in words. */
const looksAround = /\(\?<?[=!]/

/**
 * Keywords that are left out: Cairn's own; defaults, which only flow files have; and the closing of objects,
 * because Cairn's answers may gain fields.
 */
const dropped = new Set(['mustBe', 'default', 'additionalProperties', 'title'])

const capitalised = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** Turns TypeBox schemas into plain ones. Those with a title become components, which others refer to. */
export class SchemaBook {
  readonly components: Record<string, JsonSchema> = {}

  /** A schema as it stands in the document. */
  of(schema: TSchema): JsonSchema {
    const told = (schema[toldAs as never] ?? schema) as TSchema
    const plain = this.plain(told)
    const { title } = told
    if (title === undefined) return plain
    const known = this.components[title]
    if (known && JSON.stringify(known) !== JSON.stringify(plain)) {
      throw new Error(`Two schemas are titled ${title}`)
    }
    this.components[title] = plain
    return { $ref: `#/components/schemas/${title}` }
  }

  private plain(schema: TSchema): JsonSchema {
    if (KindGuard.IsUnion(schema)) return this.union(schema)
    const { type, description } = schema
    // First the two that a reader looks for first.
    const plain: JsonSchema = { ...(type && { type }), ...(description && { description }) }
    for (const [keyword, value] of Object.entries(schema)) {
      if (!dropped.has(keyword)) plain[keyword] = value
    }
    if (typeof plain.pattern === 'string' && looksAround.test(plain.pattern)) delete plain.pattern
    if (schema.mustBe) plain.description ??= `${capitalised(schema.mustBe)}.`
    if (schema.items) plain.items = this.of(schema.items)
    if (schema.properties) {
      plain.properties = Object.fromEntries(
        Object.entries(schema.properties as Record<string, TSchema>).map(([name, field]) => [
          name,
          this.of(field),
        ]),
      )
    }
    if (KindGuard.IsRecord(schema)) {
      delete plain.patternProperties
      const [values] = Object.values(schema.patternProperties)
      plain.additionalProperties = values ? this.of(values) : {}
    }
    return plain
  }

  /** A union of words becomes an enum. Null beside a single other branch becomes a further type of that branch. */
  private union(schema: TSchema): JsonSchema {
    const branches = schema.anyOf as TSchema[]
    const real = branches.filter(branch => !KindGuard.IsNull(branch))
    const isNullable = real.length < branches.length
    const { description, examples, mustBe } = schema
    const words = {
      ...(description !== undefined && { description }),
      ...(description === undefined && mustBe && { description: `${capitalised(mustBe)}.` }),
      ...(examples !== undefined && { examples }),
    }
    if (real.every(branch => KindGuard.IsLiteral(branch))) return enumOf(real, isNullable, words)
    const [only, ...others] = real.map(branch => this.of(branch))
    if (only && others.length === 0 && isNullable) return { ...nullable(only), ...words }
    const anyOf = [only, ...others, ...(isNullable ? [{ type: 'null' }] : [])]
    return { ...words, anyOf }
  }
}

function enumOf(literals: readonly TSchema[], isNullable: boolean, words: JsonSchema): JsonSchema {
  const meanings = literals
    .filter(({ description }) => description)
    .map(literal => `- \`${literal.const}\`: ${literal.description}`)
  const description = [words.description, meanings.join('\n')].filter(Boolean).join('\n\n')
  const values = literals.map(literal => literal.const)
  return {
    type: isNullable ? ['string', 'null'] : 'string',
    ...words,
    ...(description !== '' && { description }),
    enum: isNullable ? [...values, null] : values,
  }
}

const nullSchema = { type: 'null' }

function nullable(schema: JsonSchema): JsonSchema {
  const { type, anyOf } = schema
  if (Array.isArray(type)) return schema
  if (typeof type === 'string' && !schema.enum) return { ...schema, type: [type, 'null'] }
  if (typeof type === 'string') {
    return { ...schema, type: [type, 'null'], enum: [...(schema.enum as unknown[]), null] }
  }
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, nullSchema] }
  return { anyOf: [schema, nullSchema] }
}
