import { isMap, isSeq, LineCounter } from 'yaml'
import { parseYaml } from '../../../../core/flow/yaml.ts'
import type { GoTo } from './yaml-editor.tsx'

interface PartPlace extends GoTo {
  key: string
  from: number
  to: number
}

let lastText: string | null = null
let lastPlaces: PartPlace[] = []

/** The places of a flow's steps and items in its text, as far as that can be read. */
function placesIn(text: string): PartPlace[] {
  if (text === lastText) return lastPlaces
  const lines = new LineCounter()
  const parsed = parseYaml(text, lines)
  const document = 'excess' in parsed ? undefined : parsed.documents[0]
  const found: PartPlace[] = []
  for (const path of [['steps'], ['checklist', 'items'], ['launcher', 'items']]) {
    const list = isMap(document?.contents) ? document.getIn(path) : null
    if (!isSeq(list)) continue
    for (const node of list.items) {
      if (!isMap(node) || !node.range) continue
      const [from, , to] = node.range
      const { line, col } = lines.linePos(from)
      found.push({ key: String(node.get('key')), from, to, line, column: col })
    }
  }
  lastText = text
  lastPlaces = found
  return found
}

/** The key of the step or item at an offset of a text; null between them. */
export const partAt = (text: string, offset: number): string | null =>
  placesIn(text).find(({ from, to }) => from <= offset && offset < to)?.key ?? null

/** The place where a step or an item begins. */
export const placeOfPart = (text: string, key: string): GoTo | null => {
  const place = placesIn(text).find(part => part.key === key)
  return place ? { line: place.line, column: place.column } : null
}
