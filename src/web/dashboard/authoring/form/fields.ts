import type { TSchema } from '@sinclair/typebox'
import { isMapping, type Path, valueAt } from '../../../../core/flow/edit/source.ts'
import { derivedDefaults, FlowDefinition } from '../../../../core/flow/flow.ts'
import type { Plain } from '../../../../core/flow/minimal.ts'

/** What the schema of flow files says about a field: its purpose, its possible values and its default. */

/** The schema of a value that may also be null. */
export const behindNull = (schema: TSchema): TSchema => {
  const branches = (schema.anyOf as TSchema[] | undefined)?.filter(({ type }) => type !== 'null')
  return branches?.length === 1 ? branches[0]! : schema
}

/** The schema of the field at a path, as its holder declares it. */
export function schemaAt(path: Path): TSchema {
  return path.reduce<TSchema>((schema, name) => {
    const holder = behindNull(schema)
    return typeof name === 'number' ? holder.items : holder.properties[name]
  }, FlowDefinition)
}

export const hintOf = (path: Path): string => schemaAt(path).description ?? ''

/** Undefined if there is none, or if it depends on other fields. */
export const defaultOf = (path: Path): Plain | undefined => schemaAt(path).default

/** The words that the field can be, each with its meaning. */
export const optionsOf = (path: Path): [word: string, means: string][] =>
  (schemaAt(path).anyOf as TSchema[]).map(({ const: word, description }) => [
    word,
    description ?? '',
  ])

/** Whether the file has to set the field, so that it is written even if it is empty. */
export function isRequired(path: Path): boolean {
  const schema = schemaAt(path)
  const holder = behindNull(schemaAt(path.slice(0, -1)))
  const name = String(path.at(-1))
  return (
    !('default' in schema) &&
    !!holder.required?.includes(name) &&
    !(path.length === 1 && name === 'name')
  )
}

/** The fields of the mapping at a path, in the order in which files are written. */
export const orderOf = (path: Path): string[] =>
  Object.keys(behindNull(schemaAt(path)).properties ?? {})

type Mapping = { [name: string]: Plain }

/** The kind of a flow: as set, or derived from what it has. */
export function kindOf(flow: Mapping): string {
  if (typeof flow.kind === 'string') return flow.kind
  const steps = (Array.isArray(flow.steps) ? flow.steps : []) as never[]
  return derivedDefaults.flow.kind({ steps, checklist: (flow.checklist ?? null) as never })
}

/** The kind of a step: as set, or derived from whether it points at something. */
export const stepKindOf = (step: Mapping): string =>
  typeof step.kind === 'string'
    ? step.kind
    : derivedDefaults.step.kind({ target: (step.target ?? null) as never })

/** A path with keys in place of indexes, so that it still means the same entry after others have moved. */
export function identityOf(flow: Plain, path: Path): string {
  const names = path.map((name, depth) => {
    const at = typeof name === 'number' ? valueAt(flow, path.slice(0, depth + 1)) : undefined
    return isMapping(at) && typeof at.key === 'string' ? `key ${at.key}` : name
  })
  return JSON.stringify(names)
}

/** The places where an author has written a default out. If it is chosen again there, it is written again. */
export function writtenDefaults(flow: Plain): ReadonlySet<string> {
  const written = new Set<string>()
  const visit = (value: Plain, path: Path, schema: TSchema | undefined) => {
    if (!schema) return
    const holder = behindNull(schema)
    if (Array.isArray(value)) {
      for (const [index, entry] of value.entries()) visit(entry, [...path, index], holder.items)
    } else if (isMapping(value)) {
      for (const [name, field] of Object.entries(value)) {
        visit(field, [...path, name], holder.properties?.[name])
      }
    } else if (path.length > 0 && schema.default === value) written.add(identityOf(flow, path))
  }
  visit(flow, [], FlowDefinition)
  return written
}

/** Names of fields that no flow has. They are kept and shown. Those that the server adds do not count. */
export function unknownFields(value: Plain | undefined, path: Path): string[] {
  if (!isMapping(value)) return []
  const known = new Set([...orderOf(path), 'id', 'position', 'version', 'publishedAt'])
  return Object.keys(value).filter(name => !known.has(name))
}
