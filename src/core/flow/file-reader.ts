import type { TObject, TSchema } from '@sinclair/typebox'
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  type YAMLMap,
} from 'yaml'
import { below, quoted, unknownField } from '../text/wording.ts'
import { authoringOf, isOptional, namedBy } from './authoring.ts'
import { expected, got, meant, mismatch, scalarFault, typeOf } from './file-mismatch.ts'
import { fieldsOf, position, type Report, start } from './file-nodes.ts'
import type { FlowPart } from './rules.ts'

export interface ReadPart extends FlowPart {
  node: Node
  /** The names of its fields whose shape is wrong. */
  wrong: ReadonlySet<string>
}

/** Stands for a value that could not be read, once the reason has been reported. */
export const unreadable = Symbol('unreadable')

/** Turns nodes into definitions. The schemas contain all rules; this only walks them along with the nodes. */
export class Reader {
  /** The results for anchored nodes, so that each is read, and its problems are reported, only once. */
  private readonly known = new Map<Node, Map<TSchema, unknown>>()

  constructor(
    private readonly aliases: Map<Alias, Node>,
    private readonly lines: LineCounter,
    private readonly report: Report,
    /** Called for every mapping, even if what contains it is wrong, or if it has wrong fields itself. */
    private readonly onRead: (part: ReadPart) => void,
  ) {}

  resolve(node: Node): Node | undefined {
    return isAlias(node) ? this.aliases.get(node) : node
  }

  /** An entry of a list whose entries are distinguished by their keys. */
  entry(schema: TSchema, given: Node, path: string, keys: Map<string, number>): unknown {
    const value = this.read(schema, given, path)
    const node = this.resolve(given)
    const field = isMap(node) ? fieldsOf(node).find(({ name }) => name === 'key') : undefined
    const keyNode = field?.value ? this.resolve(field.value) : undefined
    if (!isScalar(keyNode) || typeof keyNode.value !== 'string') return value
    // An alias repeats a key at the place of the alias, not at that of its anchor.
    const offset = node === given ? start(field!.value!) : start(given)
    const earlier = keys.get(keyNode.value)
    if (earlier === undefined) {
      keys.set(keyNode.value, offset)
      return value
    }
    const { line } = position(this.lines, earlier)
    const message = `The key ${quoted(keyNode.value)} is used already on line ${line}: change it`
    this.report('repeated_key', offset, `${path}/key`, message)
    return unreadable
  }

  private read(schema: TSchema, given: Node, path: string): unknown {
    const node = this.resolve(given)
    if (node === undefined) return unreadable
    if (isAlias(node) || node.anchor === undefined) return this.readNode(schema, node, path)
    const known = this.known.get(node) ?? new Map<TSchema, unknown>()
    this.known.set(node, known)
    if (!known.has(schema)) known.set(schema, this.readNode(schema, node, path))
    return known.get(schema)
  }

  private readNode(schema: TSchema, node: Node, path: string): unknown {
    const refuse = (message: string) => {
      this.report('invalid_value', start(node), path, message)
      return unreadable
    }
    if (schema.anyOf !== undefined) {
      const value = isScalar(node) ? node.value : undefined
      const branches = schema.anyOf as TSchema[]
      if (branches.some(branch => 'const' in branch)) {
        const words = branches.map(branch => String(branch.const))
        if (words.includes(value as string)) return value
        const hint = typeof value === 'string' ? meant(value, words) : ''
        return refuse(`Must be ${expected(schema)}, not ${got(node)}${hint}`)
      }
      const others = branches.filter(({ type }) => type !== 'null')
      const branch =
        branches.find(({ type }) => type === typeOf(node)) ??
        // If there is only one other type besides null, the message about that type is the most helpful.
        (others.length === 1 ? others[0] : undefined)
      if (branch !== undefined) return this.readNode(branch, node, path)
    } else if (schema.type === 'object') {
      if (isMap(node) && namedBy(schema)) return this.readNamed(schema, node, path)
      if (isMap(node)) return this.readFields(schema as TObject, node, path)
    } else if (schema.type === 'array') {
      const isEmpty = isSeq(node) && node.items.length < (schema.minItems ?? 0)
      if (isEmpty) return refuse('The list is empty: write an entry, or leave the field out')
      if (isSeq(node)) return this.readEntries(schema, node.items as Node[], path)
    } else if (isScalar(node)) {
      const wrong = scalarFault(schema, node.value)
      return wrong === null ? node.value : refuse(wrong || mismatch(schema, node))
    }
    return refuse(mismatch(schema, node))
  }

  private readEntries(schema: TSchema, nodes: Node[], path: string): unknown {
    const keys = new Map<string, number>()
    const keyed = schema.items.properties?.key !== undefined
    const entries = nodes.slice(0, schema.maxItems).map((node, index) => {
      const below = `${path}/${index}`
      return keyed
        ? this.entry(schema.items, node, below, keys)
        : this.read(schema.items, node, below)
    })
    const tooMany = nodes[schema.maxItems]
    if (tooMany !== undefined) {
      const message = `At most ${schema.maxItems} entries, not ${nodes.length}: remove the rest`
      this.report('invalid_value', start(tooMany), path, message)
      return unreadable
    }
    return entries.includes(unreadable) ? unreadable : entries
  }

  /** A mapping whose names are chosen by its author. */
  private readNamed(schema: TSchema, map: YAMLMap, path: string): unknown {
    const { pattern, of, most } = namedBy(schema)!
    const values: [name: string, value: unknown][] = []
    const given = new Set<string>()
    for (const { key, value, name, offset } of fieldsOf(map)) {
      const place = below(path, name)
      // Reported with the other repeated fields of the file.
      if (given.has(name)) return unreadable
      given.add(name)
      if (!isScalar(key) || !new RegExp(pattern).test(name)) {
        this.report('invalid_value', offset, place, `${quoted(name)} cannot be a name here`)
        values.push([name, unreadable])
      } else if (value === null) {
        this.report('invalid_value', offset, place, `Must be ${expected(of)}, not empty`)
        values.push([name, unreadable])
      } else values.push([name, this.read(of, value, place)])
    }
    if (values.length > most) {
      const message = `At most ${most} entries, not ${values.length}: remove the rest`
      this.report('invalid_value', start(map), path, message)
      return unreadable
    }
    return values.some(([, value]) => value === unreadable)
      ? unreadable
      : Object.fromEntries(values)
  }

  private readFields(schema: TObject, map: YAMLMap, path: string): unknown {
    const { owned, derived } = authoringOf(schema)
    const names = Object.keys(schema.properties)
    // Only filled under names of the schema, so that no name in the file ever becomes a property.
    const fields: Record<string, unknown> = {}
    const given = new Set<string>()
    const wrong = new Set<string>()
    let isKnown = true
    for (const { name, value, offset } of fieldsOf(map)) {
      if (given.has(name)) {
        // Reported with the other repeated fields of the file.
        wrong.add(name)
        continue
      }
      given.add(name)
      if (owned.has(name)) continue
      if (!names.includes(name)) {
        this.report('unknown_field', offset, below(path, name), unknownField(name, names))
        wrong.add(name)
        isKnown = false
        continue
      }
      const property = schema.properties[name]!
      if (value !== null) fields[name] = this.read(property, value, below(path, name))
      else {
        const message = `Must be ${expected(property)}, not empty`
        this.report('invalid_value', offset, below(path, name), message)
        fields[name] = unreadable
      }
      if (fields[name] === unreadable) wrong.add(name)
    }
    for (const name of names) {
      const property = schema.properties[name]!
      // Perhaps this is the one that an unknown name means.
      if (!given.has(name) && !isKnown) wrong.add(name)
      if (given.has(name) || name in derived || isOptional(schema, name)) continue
      if ('default' in property) fields[name] = structuredClone(property.default)
      else {
        const message = `Add the field ${quoted(name)}: ${expected(property)}`
        this.report('missing_field', start(map), below(path, name), message)
        wrong.add(name)
      }
    }
    for (const name in derived) if (!given.has(name)) fields[name] = derived[name]!(fields as never)
    // In the schema's order, whatever the order in the file.
    const filled = names.filter(name => Object.hasOwn(fields, name))
    const value = Object.fromEntries(filled.map(name => [name, fields[name]]))
    this.onRead({ schema, value, path, node: map, wrong })
    return wrong.size > 0 ? unreadable : value
  }
}
