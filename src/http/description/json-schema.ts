import { KindGuard, type TSchema } from '@sinclair/typebox'
import type { JsonSchema } from '../../core/flow/schema.ts'
import { documentedAs } from '../../core/shapes.ts'

/** Some readers' regular expressions, such as RE2, have no lookaround. Words describe these patterns. */
const lookaround = /\(\?<?[=!]/

/** Cairn's own keywords; defaults, which only flow files have; and the closing of objects, as responses may grow. */
const dropped = new Set(['mustBe', 'default', 'additionalProperties', 'title'])

const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`

/** Turns TypeBox schemas into plain ones. Those with a title become components, which others refer to. */
export class SchemaBook {
  readonly components: Record<string, JsonSchema> = {}

  /** A schema as it stands in the document. */
  of(schema: TSchema): JsonSchema {
    const described = (schema[documentedAs as never] ?? schema) as TSchema
    const plain = this.plain(described)
    const { title } = described
    if (title === undefined) return plain
    const known = this.components[title]
    if (known && JSON.stringify(known) !== JSON.stringify(plain)) {
      throw new Error(`Two schemas are titled ${title}`)
    }
    this.components[title] = plain
    return { $ref: `#/components/schemas/${title}` }
  }

  private plain(schema: TSchema): JsonSchema {
    const plain: JsonSchema = Object.fromEntries(
      Object.entries(schema).filter(([keyword]) => !dropped.has(keyword)),
    )
    if (typeof plain.pattern === 'string' && lookaround.test(plain.pattern)) delete plain.pattern
    if (schema.mustBe) plain.description ??= sentence(schema.mustBe)
    if (KindGuard.IsUnion(schema)) return this.union(plain)
    if (schema.items) plain.items = this.of(schema.items)
    if (schema.properties) {
      const fields = Object.entries<TSchema>(schema.properties)
      plain.properties = Object.fromEntries(fields.map(([name, field]) => [name, this.of(field)]))
    }
    if (KindGuard.IsRecord(schema)) {
      delete plain.patternProperties
      const [values] = Object.values(schema.patternProperties)
      plain.additionalProperties = values ? this.of(values) : {}
    }
    return plain
  }

  /** A union of literals becomes an enum. Null beside a single other branch becomes a second type. */
  private union({ anyOf, ...plain }: JsonSchema): JsonSchema {
    const branches = (anyOf as TSchema[]).filter(branch => !KindGuard.IsNull(branch))
    const isNullable = branches.length < (anyOf as TSchema[]).length
    const [only, ...others] = branches.every(branch => KindGuard.IsLiteral(branch))
      ? [enumOf(branches, plain)]
      : branches.map(branch => this.of(branch))
    const schema = only && others.length === 0 ? only : { anyOf: [only, ...others] }
    return { ...(isNullable ? nullable(schema) : schema), ...plain }
  }
}

/** The literals' own descriptions follow that of the union. */
function enumOf(literals: readonly TSchema[], plain: JsonSchema): JsonSchema {
  const meanings = literals
    .filter(({ description }) => description)
    .map(literal => `- \`${literal.const}\`: ${literal.description}`)
  if (meanings.length > 0) {
    plain.description = [plain.description, meanings.join('\n')].filter(Boolean).join('\n\n')
  }
  return { type: 'string', enum: literals.map(literal => literal.const) }
}

function nullable(schema: JsonSchema): JsonSchema {
  const { type, enum: values, anyOf } = schema
  if (Array.isArray(type)) return schema
  if (typeof type === 'string') {
    return {
      ...schema,
      type: [type, 'null'],
      ...(Array.isArray(values) && { enum: [...values, null] }),
    }
  }
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] }
  return { anyOf: [schema, { type: 'null' }] }
}
