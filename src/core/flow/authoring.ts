import type { TObject, TSchema } from '@sinclair/typebox'
import {
  derivedDefaults,
  Flow,
  FlowDefinition,
  Item,
  ItemDefinition,
  Step,
  StepDefinition,
} from './flow.ts'

/** How authors may write a mapping, beyond what its schema says. */
export interface AuthoredFields {
  /**
   * Fields that only the server sets. They are dropped, so that the response of `GET /flows/{id}` can be
   * pushed again.
   */
  owned: ReadonlySet<string>
  /** Defaults that are derived from neighbouring fields, which are filled in first. */
  derived: Readonly<Record<string, (fields: never) => unknown>>
}

const pairs: [definition: TObject, wire: TObject, derived: AuthoredFields['derived']][] = [
  [FlowDefinition, Flow, derivedDefaults.flow],
  [StepDefinition, Step, derivedDefaults.step],
  [ItemDefinition, Item, {}],
]

const authored = new Map<TSchema, AuthoredFields>(
  pairs.map(([definition, wire, derived]) => {
    const all = Object.keys(wire.properties)
    return [definition, { owned: new Set(all.filter(n => !(n in definition.properties))), derived }]
  }),
)

const plain: AuthoredFields = { owned: new Set(), derived: {} }

export function authoringOf(schema: TSchema): AuthoredFields {
  return authored.get(schema) ?? plain
}

const derivedSchemas = new Set(
  pairs.flatMap(([{ properties }, , derived]) => Object.keys(derived).map(n => properties[n])),
)

/** Whether the field of this schema gets its default from neighbouring fields. */
export const isDerived = (schema: TSchema) => derivedSchemas.has(schema)

/** The branch of a union that a value of this type is meant for: that of its type, or the only one besides null. */
export function branchOf(schema: TSchema, type: string): TSchema {
  const branches = (schema.anyOf as TSchema[] | undefined) ?? [schema]
  const real = branches.filter(branch => branch.type !== 'null')
  return branches.find(branch => branch.type === type) ?? (real.length === 1 ? real[0]! : schema)
}

/** Whether a field may be absent and has no default: then it is absent from the definition too. */
export const isOptional = (schema: TObject, name: string) => !schema.required?.includes(name)

/** The pattern of the names that an author chooses in a mapping, and the schema of the values behind them. */
export function namedBy(
  schema: TSchema,
): { pattern: string; of: TSchema; maxProperties: number } | null {
  const [entry] = Object.entries<TSchema>(schema.patternProperties ?? {})
  return entry
    ? { pattern: entry[0], of: entry[1], maxProperties: schema.maxProperties ?? Infinity }
    : null
}
