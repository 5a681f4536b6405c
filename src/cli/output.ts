import { onOneLine, withEscapes } from '../core/text/unseen.ts'

/**
 * Results go to stdout, everything else to stderr, so that a pipe gets only results. Much of it comes from
 * other people's pages and files, which must not be able to move the cursor or reverse a line. So all output
 * goes through here.
 */
export function print(...lines: string[]): void {
  printPainted(...lines.map(line => withEscapes(line)))
}

/** Lines that contain colour codes, and whose texts are already escaped. */
export function printPainted(...lines: string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Prints to stderr what is worth knowing but is not a result. */
export function tell(...lines: string[]): void {
  if (lines.length > 0) process.stderr.write(`${withEscapes(lines.join('\n'))}\n`)
}

/** Asks a person at a terminal; anything but yes counts as no. */
export async function saysYes(question: string): Promise<boolean> {
  process.stderr.write(withEscapes(`${question} Type y to go on: `))
  for await (const line of console) return /^y(es)?$/i.test(line.trim())
  return false
}

/** One JSON value on one line. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value))
}

/** `1 flow`, `2 flows`. */
export const counted = (count: number, what: string, many = `${what}s`) =>
  `${count} ${count === 1 ? what : many}`

/** `1.4 GB`, for people; powers of 1,000. */
export function sizeOf(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  let [value, unit] = [bytes, 0]
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

/** Lines with aligned columns. */
export function columns(cells: readonly (readonly string[])[]): string[] {
  const rows = cells.map(row => row.map(onOneLine))
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

/** Prints aligned columns under a header, or only `none` if there are no rows. */
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

/** A value of an answer as people read it. */
export function cellOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–'
  if (Array.isArray(value)) return value.map(cellOf).join(' ') || '–'
  return typeof value === 'object' ? cellOf(Object.values(value)) : String(value)
}

/** The fields of an answer, a line each; those of an object within it with dots. */
export function fieldLines(answer: object): string[] {
  const flat = (object: object, above = ''): [string, string][] =>
    Object.entries(object).flatMap(([name, value]) =>
      value !== null && typeof value === 'object' && !Array.isArray(value)
        ? flat(value, `${above}${name}.`)
        : [[`${above}${name}`, cellOf(value)]],
    )
  return columns(flat(answer))
}
