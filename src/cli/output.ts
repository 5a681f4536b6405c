/** Results go to stdout, all else to stderr, so that a pipe gets results alone. */
export function print(...lines: string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** One JSON value on one line. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value))
}

/** `1 flow`, `2 flows`. */
export const counted = (count: number, what: string, many = `${what}s`) =>
  `${count} ${count === 1 ? what : many}`

/** Lines whose columns line up. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const [first = []] = rows
  const widths = first.map((_, column) => Math.max(...rows.map(row => (row[column] ?? '').length)))
  return rows.map(row =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

export function printColumns(rows: readonly (readonly string[])[]): void {
  print(...columns(rows))
}

/** Columns that line up, under a header; nothing but `none` where there are no rows. */
export function printTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): void {
  if (rows.length === 0) {
    print(none)
    return
  }
  printColumns([header.map(cell => cell.toUpperCase()), ...rows])
}
