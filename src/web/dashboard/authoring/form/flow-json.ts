import type { TSchema } from '@sinclair/typebox'
import { derivedDefaults, FlowDefinition } from '../../../../core/flow/flow.ts'
import {
  isMapping,
  isSame,
  type Mapping,
  type Path,
  type Plain,
  valueAt,
} from '../../../../core/flow/plain.ts'

/** A flow as its author writes it, and the changes that a form makes to it. Nothing is changed in place. */

/** The schema of a value that may also be null. */
export const behindNull = (schema: TSchema): TSchema => {
  const branches = (schema.anyOf as TSchema[] | undefined)?.filter(({ type }) => type !== 'null')
  return branches?.length === 1 ? branches[0]! : schema
}

/** The schema of the field at a path; undefined for a field that no flow has. */
export const schemaAt = (path: Path): TSchema | undefined =>
  path.reduce<TSchema | undefined>((schema, name) => {
    const holder = schema && behindNull(schema)
    return typeof name === 'number' ? holder?.items : holder?.properties?.[name]
  }, FlowDefinition)

/** The words that a field can be, each with its meaning. */
export const optionsOf = (path: Path): [word: string, means: string][] =>
  ((schemaAt(path)?.anyOf ?? []) as TSchema[]).map(({ const: word, description = '' }) => [
    word,
    description,
  ])

/** Undefined if there is none, or if it depends on other fields. */
export const defaultOf = (path: Path): Plain | undefined => schemaAt(path)?.default

/** Whether the field stays, even if it is empty. */
function isRequired(path: Path): boolean {
  if (path.length === 1 && path[0] === 'name') return false
  const holder = schemaAt(path.slice(0, -1))
  const names: string[] = (holder && behindNull(holder).required) ?? []
  return names.includes(String(path.at(-1))) && defaultOf(path) === undefined
}

/** With another value at a path. Undefined removes it, and mappings and lists that are empty without it. */
export function withValue(
  around: Plain | undefined,
  [name, ...rest]: Path,
  value: Plain | undefined,
): Plain | undefined {
  if (name === undefined) return value
  if (typeof name === 'number') {
    const list = Array.isArray(around) ? [...around] : []
    const inner = withValue(list[name], rest, value)
    // An entry stays when its last field goes.
    if (inner !== undefined || rest.length > 0) list[name] = inner ?? {}
    else list.splice(name, 1)
    return list.length > 0 ? list : undefined
  }
  const fields = isMapping(around) ? around : {}
  const own = Object.hasOwn(fields, name) ? fields[name] : undefined
  const inner = withValue(own, rest, value)
  const { [name]: _, ...others } = fields
  const all = inner === undefined ? others : { ...fields, [name]: inner }
  return Object.keys(all).length > 0 ? all : undefined
}

/** A flow with a field's new value. A default is left out, like an empty text that no rule requires. */
export function written(flow: Mapping, path: Path, value: Plain | undefined): Mapping {
  const isEmpty = value === '' && !isRequired(path)
  const byDefault = defaultOf(path)
  const isDefault = byDefault !== undefined && isSame(value, byDefault)
  return (withValue(flow, path, isEmpty || isDefault ? undefined : value) ?? {}) as Mapping
}

/** The kind of a flow: as set, or derived from what it has. */
export function kindOf(flow: Mapping): string {
  if (typeof flow.kind === 'string') return flow.kind
  const steps = (Array.isArray(flow.steps) ? flow.steps : []) as never[]
  const [checklist, launcher] = [flow.checklist ?? null, flow.launcher] as never[]
  return derivedDefaults.flow.kind({ steps, checklist: checklist!, launcher: launcher! })
}

/** How often people see a flow that does not say so. */
export const frequencyOf = (flow: Mapping): string =>
  derivedDefaults.flow.frequency({
    kind: kindOf(flow) as FlowDefinition['kind'],
    launcher: (flow.launcher ?? null) as never,
  })

/** The kind of a step: as set, or derived from whether it points at something. */
export const stepKindOf = (step: Mapping): string =>
  typeof step.kind === 'string'
    ? step.kind
    : derivedDefaults.step.kind({ target: (step.target ?? null) as never })

export const isPlain = (value: Plain | undefined) => typeof value !== 'object' || value === null

export const textOf = (value: Plain | undefined) =>
  value === undefined || value === null ? '' : String(value)

/** The mappings of a list, whatever else is written in it. */
export const mappingsAt = (flow: Plain | undefined, path: Path): Mapping[] => {
  const list = valueAt(flow, path)
  return Array.isArray(list) ? list.map(entry => (isMapping(entry) ? entry : {})) : []
}

/** Sorts fields as the schema has them, so that a text made of them reads like any other flow. */
export function inSchemaOrder(value: Plain, schema: TSchema | undefined = FlowDefinition): Plain {
  const holder = schema && behindNull(schema)
  if (Array.isArray(value)) return value.map(entry => inSchemaOrder(entry, holder?.items))
  if (!isMapping(value)) return value
  const order = Object.keys(holder?.properties ?? {})
  const known = order.filter(name => Object.hasOwn(value, name))
  const names = new Set([...known, ...Object.keys(value)])
  return Object.fromEntries(
    [...names].map(name => [name, inSchemaOrder(value[name]!, holder?.properties?.[name])]),
  )
}

/** The text at a place of a part, such as `target.selector`; empty if there is none. */
export const textIn = (part: Mapping, place: string): string => {
  const value = valueAt(part, place.split('.'))
  return isPlain(value) ? textOf(value) : ''
}
