/** A line of a unified diff, for people to read. */
export interface DiffLine {
  kind: 'added' | 'removed' | 'same' | 'place'
  text: string
  /** For a place: the line of the new text at which it begins. */
  line: number
}

const place = /^@@ -\d+(?:,\d+)? \+(\d+)/

/** The lines of a unified diff, without its head; null if it says that too much differs. */
export function linesOf(diff: string): DiffLine[] | null {
  const [, , ...body] = diff.split('\n')
  if (body[0] !== undefined && body[0] !== '' && !place.test(body[0])) return null
  const lines: DiffLine[] = []
  for (const text of body) {
    const [, line] = place.exec(text) ?? []
    if (line !== undefined) lines.push({ kind: 'place', text: '', line: Number(line) })
    else if (text.startsWith('+')) lines.push({ kind: 'added', text: text.slice(1), line: 0 })
    else if (text.startsWith('-')) lines.push({ kind: 'removed', text: text.slice(1), line: 0 })
    else if (text.startsWith(' ')) lines.push({ kind: 'same', text: text.slice(1), line: 0 })
  }
  return lines
}
