import { isMap, isSeq, LineCounter, parseDocument } from 'yaml'
import type { GoTo } from './yaml-editor.tsx'

interface PartPlace extends GoTo {
  key: string
  from: number
  to: number
}

let lastText: string | null = null
let lastPlaces: PartPlace[] = []

/** Where the steps and items of a flow stand in its text; as far as it can be read. */
function placesIn(text: string): PartPlace[] {
  if (text === lastText) return lastPlaces
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const found: PartPlace[] = []
  for (const path of [['steps'], ['checklist', 'items']]) {
    const list = isMap(document.contents) ? document.getIn(path) : null
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

/** The step or item that stands at a place of a text; null between them. */
export const partAt = (text: string, offset: number): string | null =>
  placesIn(text).find(({ from, to }) => from <= offset && offset < to)?.key ?? null

/** Where a step or an item begins. */
export const placeOfPart = (text: string, key: string): GoTo | null => {
  const place = placesIn(text).find(part => part.key === key)
  return place ? { line: place.line, column: place.column } : null
}
