import {
  type Document,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
} from 'yaml'
import { isMapping, type Plain } from '../plain.ts'
import { parseYaml } from '../yaml.ts'

/** Finds positions in the text of a flow file, without changing anything. */

/** A field of a mapping, with the nodes of its name and value. */
type Field = Pair<Node, Node | null>

/** A text that is one valid YAML document. */
export interface Source {
  text: string
  document: Document.Parsed
  value: Plain
}

/** Why a text cannot be read. */
export interface SourceProblem {
  reason: 'syntax' | 'several'
  /** Counted from 1. */
  line: number | null
}

/** Reads one document. If anything is wrong with the text, none of it is trusted, and the problem is returned. */
export function parseSource(text: string): Source | SourceProblem {
  const lines = new LineCounter()
  const syntax = (offset: number): SourceProblem => ({
    reason: 'syntax',
    line: lines.linePos(offset).line,
  })
  const parsed = parseYaml(text, lines)
  if ('excess' in parsed) return syntax(parsed.offset)
  const [document, second] = parsed.documents
  if (!document) return syntax(0)
  const [error] = document.errors
  if (error) return syntax(error.pos[0])
  if (second) return { reason: 'several', line: lines.linePos(second.range[0]).line }
  const repeated = repeatedField(document)
  if (repeated) return syntax(repeated.range![0])
  try {
    return { text, document, value: unshared(document.toJS() as Plain) }
  } catch {
    // An alias without an anchor, or too many aliases.
    return { reason: 'syntax', line: null }
  }
}

/** The name of the first field that its mapping has already. */
function repeatedField(document: Document.Parsed): Node | null {
  let repeated: Node | null = null
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>()
      for (const field of fieldsOf(map)) {
        const name = nameOf(field)
        if (seen.has(name)) {
          repeated = field.key
          return visit.BREAK
        }
        seen.add(name)
      }
    },
  })
  return repeated
}

/** A copy in which a value that an anchor shares is repeated wherever it is used. */
function unshared(value: Plain): Plain {
  if (Array.isArray(value)) return value.map(unshared)
  if (!isMapping(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, unshared(field)]))
}

export const isError = (read: Source | SourceProblem): read is SourceProblem => 'reason' in read

const fieldsOf = (map: YAMLMap) => map.items as unknown as Field[]

const nameOf = ({ key }: Field) => (isScalar(key) ? String(key.value) : '')
