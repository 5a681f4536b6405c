/** A table in Markdown, which also reads well as plain text. */
export interface Table {
  title: string
  header: readonly string[]
  rows: readonly (readonly string[])[]
  /** Sentences below it. */
  notes?: readonly string[]
}

/** Rows with aligned columns. */
function inLine(rows: readonly (readonly string[])[]): string[][] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map(row => (row[i] ?? '').length)))
  return rows.map(row => widths.map((width, i) => (row[i] ?? '').padEnd(width)))
}

/** A table's lines, ready to be pasted into a document. */
export function markdownOf({ title, header, rows, notes = [] }: Table): string[] {
  const [head, ...body] = inLine([header, ...rows]).map(cells => `| ${cells.join(' | ')} |`)
  const rule = (head ?? '').replace(/[^|]/g, '-')
  return [
    `**${title}**`,
    '',
    head ?? '',
    rule,
    ...body,
    ...(notes.length > 0 ? ['', ...notes] : []),
  ]
}
