/** Results go to stdout, all else to stderr, so that a pipe gets results alone. */
export function print(...lines: string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** One JSON value on one line. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value))
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
  const all = [header.map(cell => cell.toUpperCase()), ...rows]
  const widths = header.map((_, column) => Math.max(...all.map(row => (row[column] ?? '').length)))
  print(
    ...all.map(row =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
  )
}
