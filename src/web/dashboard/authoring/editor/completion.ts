/** A JSON Schema with the few keywords that the schema of flow files uses. */
export interface Schema {
  $ref?: string
  type?: string | readonly string[]
  description?: string
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  items?: Schema
  enum?: readonly (string | null)[]
  enumDescriptions?: readonly (string | undefined)[]
  default?: unknown
  doNotSuggest?: boolean
  definitions?: Readonly<Record<string, Schema>>
}

/** The place in a file where somebody is typing. */
export interface Place {
  /** Names of the fields from the flow inwards; `*` stands for an entry of a list. */
  path: readonly string[]
  /** The field whose value is being typed; null while the name of a field is typed. */
  field: string | null
  /** The offset at which the typed text begins. */
  from: number
  /** The fields beside it. */
  siblings: ReadonlySet<string>
}

export interface Suggestion {
  label: string
  /** The text to insert. */
  apply: string
  type: 'property' | 'enum'
  detail?: string
  info?: string
}

interface Line {
  /** Columns before the first field, including the dashes of entries. */
  indent: number
  /** Columns of the dashes of the entries that begin in this line. */
  dashes: number[]
  name: string | null
}

const lineOf = (text: string): Line | null => {
  if (/^\s*(#|$)/.test(text)) return null
  const [head = ''] = /^[ ]*(?:-[ ]+|-$)*/.exec(text) ?? []
  const dashes = [...head.matchAll(/-/g)].map(({ index }) => index)
  const name = /^["']?([\w.-]+)["']?\s*:(?:\s|$)/.exec(text.slice(head.length))?.[1] ?? null
  return { indent: head.length, dashes, name }
}

/** The fields around a place, found by the indentation of the lines above. */
function around(lines: readonly string[], column: number, ofDashes: readonly number[]) {
  const path = ofDashes.map(() => '*')
  const siblings = new Set<string>()
  let least = column
  let isBeside = ofDashes.length === 0
  if (ofDashes.length > 0) least = ofDashes[0]!
  for (const text of lines.toReversed()) {
    if (text.startsWith('---')) break
    const line = lineOf(text)
    if (!line) continue
    if (isBeside && line.indent === column && line.name) siblings.add(line.name)
    const entry = line.dashes.findLast(dash => dash < least)
    if (entry !== undefined && line.indent >= least) {
      path.unshift('*')
      least = entry
      isBeside = false
    }
    // A list may be indented no further than the field that it belongs to.
    const isParent = line.indent < least || (line.indent === least && path[0] === '*')
    if (line.name && isParent && line.dashes.every(dash => dash < line.indent)) {
      if (line.indent === least && path[0] !== '*') continue
      path.unshift(line.name)
      least = line.indent
      isBeside = false
      const own = line.dashes.at(-1)
      if (own !== undefined) {
        path.unshift('*')
        least = line.dashes[0]!
      }
    }
  }
  return { path, siblings }
}

/** The place of the cursor in a file, by indentation; null inside comments and multi-line texts. */
export function placeAt(text: string, position: number): Place | null {
  const lines = text.slice(0, position).split('\n')
  const current = lines.pop()!
  if (/^\s*#|\s#/.test(current)) return null
  const [head = ''] = /^[ ]*(?:-[ ]+)*/.exec(current) ?? []
  const dashes = [...head.matchAll(/-/g)].map(({ index }) => index)
  const { path, siblings } = around(lines, head.length, dashes)
  const rest = current.slice(head.length)
  const opened = rest.lastIndexOf('{') > rest.lastIndexOf('}') ? rest.lastIndexOf('{') : -1
  if (opened >= 0) {
    const before = /([\w-]+):\s*$/.exec(rest.slice(0, opened))?.[1]
    const inside = rest.slice(opened + 1)
    const typed = /(?:^|,)\s*([^,]*)$/.exec(inside)?.[1] ?? ''
    const names = [...inside.matchAll(/([\w-]+):/g)].map(([, name = '']) => name)
    const field = /^([\w-]+):\s+/.exec(typed)
    return {
      path: before ? [...path, before] : path,
      field: field?.[1] ?? null,
      from: position - typed.length + (field?.[0].length ?? 0),
      siblings: new Set(names),
    }
  }
  const field = /^([\w-]+):[ ]+/.exec(rest)
  if (!field && !/^[\w-]*$/.test(rest)) return null
  const from = position - rest.length + (field?.[0].length ?? 0)
  return { path, field: field?.[1] ?? null, from, siblings }
}

/** The schema at a path; null if there is none. */
export function schemaAt(root: Schema, path: readonly string[]): Schema | null {
  const resolved = (schema: Schema | undefined): Schema | null =>
    schema?.$ref ? (root.definitions?.[schema.$ref.split('/').at(-1)!] ?? null) : (schema ?? null)
  let found = resolved(root.definitions?.flow)
  for (const [i, name] of path.entries()) {
    // A file may be a list of flows, or have them under `flows`.
    if ((i === 0 && name === '*') || (i === 0 && name === 'flows')) continue
    if (i === 1 && path[0] === 'flows' && name === '*') continue
    found = resolved(name === '*' ? found?.items : found?.properties?.[name])
  }
  return found
}

const isOf = ({ type }: Schema, name: string) => [type].flat().includes(name)

/** What follows the name of a field. Values that are lists or mappings begin on the next line. */
const afterName = (schema: Schema) =>
  isOf(schema, 'array') || (isOf(schema, 'object') && !isOf(schema, 'string')) ? ':' : ': '

/** What can be typed at a place: fields that are not there yet, or the values of a field. */
export function suggestionsAt(root: Schema, place: Place): Suggestion[] {
  const { path, field, siblings } = place
  const about = ({ description }: Schema) => description !== undefined && { info: description }
  if (field !== null) {
    const schema = schemaAt(root, [...path, field])
    const values = isOf(schema ?? {}, 'boolean') ? ['true', 'false'] : (schema?.enum ?? [])
    return values.flatMap((value, i) => {
      if (value === null) return []
      const detail = value === String(schema!.default) ? 'default' : undefined
      const info = schema!.enumDescriptions?.[i]
      return {
        label: value,
        apply: value,
        type: 'enum' as const,
        ...(detail && { detail }),
        ...(info && { info }),
      }
    })
  }
  const schema = schemaAt(root, path)
  return Object.entries(schema?.properties ?? {})
    .filter(([name, { doNotSuggest }]) => !doNotSuggest && !siblings.has(name))
    .map(([name]) => {
      const of = schemaAt(root, [...path, name]) ?? {}
      const isRequired = schema!.required?.includes(name)
      return {
        label: name,
        apply: name + afterName(of),
        type: 'property' as const,
        ...(isRequired && { detail: 'required' }),
        ...about(of),
      }
    })
}
