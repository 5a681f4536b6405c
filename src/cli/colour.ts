/** Whether what is read by a terminal may be coloured: see https://no-color.org. */
export function wantsColour(
  stream: { isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
}

/** Codes of ECMA-48, "select graphic rendition". */
const codes = { bold: 1, red: 31, green: 32, cyan: 36 } as const

const painted = (line: string, code: number) => `\x1b[${code}m${line}\x1b[0m`

/** The lines of a unified diff, in the colours that they usually have. */
export function colouredDiff(diff: string): string {
  return diff.replace(/^.+$/gm, line => {
    if (/^(---|\+\+\+) /.test(line)) return painted(line, codes.bold)
    if (line.startsWith('@@')) return painted(line, codes.cyan)
    if (line.startsWith('-')) return painted(line, codes.red)
    return line.startsWith('+') ? painted(line, codes.green) : line
  })
}
