import fc from 'fast-check'
import type { JsonSchema } from '../../src/core/flow/schema.ts'
import type { Description } from './described.ts'

/** Requests drawn from the API's description. */

/**
 * What a schema cannot know, by the field's name: which ids there are, and what time it is. For these
 * reasons a value that fits its schema may still be refused.
 */
export type Known = Record<string, fc.Arbitrary<unknown>>

const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })

const anything = fc.oneof(
  word,
  fc.integer({ min: -1_000_000, max: 1_000_000 }),
  fc.boolean(),
  fc.constant(null),
  fc.array(word, { maxLength: 3 }),
  fc.dictionary(word, word, { maxKeys: 3 }),
)

/** Well-formed and without NUL; lengths count UTF-16 units. */
function texts({ pattern, minLength = 0, maxLength = 40 }: JsonSchema): fc.Arbitrary<string> {
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern))
  const [min, max] = [minLength as number, maxLength as number]
  const drawn = fc.string({ unit: 'grapheme', minLength: min, maxLength: Math.min(max, 30) })
  // At the bound, too.
  const longest = fc.constant('x'.repeat(max))
  return fc
    .oneof({ arbitrary: drawn, weight: 9 }, { arbitrary: longest, weight: 1 })
    .filter(text => !text.includes('\0') && text.length >= min && text.length <= max)
}

function numbers({ minimum = -1e9, maximum = 1e9 }: JsonSchema, isWhole: boolean) {
  const [min, max] = [minimum as number, maximum as number]
  if (isWhole) return fc.integer({ min: Math.max(min, -1e9), max: Math.min(max, 1e9) })
  return fc.double({ min, max, noNaN: true }).map(value => value + 0)
}

export class Generator {
  constructor(
    private readonly description: Description,
    private readonly known: Known,
  ) {}

  /** Values that fit a schema. */
  valid(schema: JsonSchema): fc.Arbitrary<unknown> {
    return this.draw(schema).filter(value => this.description.fits(schema, value))
  }

  private draw(schema: JsonSchema): fc.Arbitrary<unknown> {
    const real = this.description.resolved(schema)
    if ('const' in real) return fc.constant(real.const)
    if (Array.isArray(real.enum)) return fc.constantFrom(...real.enum)
    if (Array.isArray(real.anyOf) && !real.properties) {
      return fc.oneof(...real.anyOf.map(branch => this.draw(branch)))
    }
    if (Array.isArray(real.type)) {
      return fc.oneof(...real.type.map(type => this.draw({ ...real, type })))
    }
    switch (real.type) {
      case 'null':
        return fc.constant(null)
      case 'boolean':
        return fc.boolean()
      case 'integer':
      case 'number':
        return numbers(real, real.type === 'integer')
      case 'string':
        return texts(real)
      case 'array':
        return fc.array(this.draw(real.items as JsonSchema), {
          minLength: (real.minItems as number) ?? 0,
          maxLength: Math.min((real.maxItems as number) ?? 4, 4),
        })
      case 'object':
        return this.object(real)
      default:
        return anything
    }
  }

  private object(schema: JsonSchema): fc.Arbitrary<unknown> {
    if (schema.additionalProperties) {
      const values = this.draw(schema.additionalProperties as JsonSchema)
      return fc.dictionary(word, values, { maxKeys: 4 })
    }
    const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
    const required = (schema.required ?? []) as string[]
    const drawn = fields.map(([name, field]) => {
      const value = this.known[name] ?? this.draw(field)
      return [name, required.includes(name) ? value : fc.option(value, { nil: undefined, freq: 3 })]
    })
    // An unknown field is always accepted.
    const stranger = fc.option(anything, { nil: undefined, freq: 1 })
    return fc
      .record(Object.fromEntries([...drawn, ['aFieldFromTheFuture', stranger]]))
      .map(value =>
        Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)),
      )
  }

  /** A value with one thing wrong about it somewhere; now and then it still fits. */
  broken(schema: JsonSchema): fc.Arbitrary<unknown> {
    return this.valid(schema).chain(value => {
      const ways = [...this.waysToBreak(schema, value)]
      return ways.length === 0 ? fc.constant(value) : fc.constantFrom(...ways)
    })
  }

  /** Every value that is one mistake away. */
  private *waysToBreak(schema: JsonSchema, value: unknown): Iterable<unknown> {
    const real = this.description.resolved(schema)
    yield* [[], {}, 'text', 0.5, -1, true, null].filter(other => typeof other !== typeof value)
    if (typeof value === 'string') {
      if (real.maxLength !== undefined) yield 'x'.repeat((real.maxLength as number) + 1)
      if (real.minLength !== undefined) yield ''
      if (real.pattern !== undefined || real.enum) yield `${value}?`
    }
    if (typeof value === 'number') {
      if (real.minimum !== undefined) yield (real.minimum as number) - 1
      if (real.maximum !== undefined) yield (real.maximum as number) * 2 + 1
      if ([real.type].flat().includes('integer')) yield value + 0.5
    }
    if (Array.isArray(value)) {
      const { items, minItems, maxItems } = real as { items?: JsonSchema; [bound: string]: unknown }
      if (minItems) yield []
      if (maxItems && value.length > 0) yield Array((maxItems as number) + 1).fill(value[0])
      // If a list is only one of several kinds of values, nothing more is known about it.
      for (const [i, item] of items ? value.entries() : []) {
        for (const way of this.waysToBreak(items as JsonSchema, item)) yield value.with(i, way)
      }
    } else if (typeof value === 'object' && value !== null) {
      const fields = (real.properties ?? {}) as Record<string, JsonSchema>
      for (const [name, part] of Object.entries(value)) {
        const { [name]: _, ...without } = value as Record<string, unknown>
        yield without
        if (!fields[name]) continue
        for (const way of this.waysToBreak(fields[name], part)) yield { ...value, [name]: way }
      }
    }
  }
}
