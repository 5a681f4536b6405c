import { painted } from '../../core/text/colour.ts'

/** The lines of a unified diff, in the colours that they usually have. */
export function colouredDiff(diff: string): string {
  return diff.replace(/^.+$/gm, line => {
    if (/^(---|\+\+\+) /.test(line)) return painted(line, 'bold')
    if (line.startsWith('@@')) return painted(line, 'cyan')
    if (line.startsWith('-')) return painted(line, 'red')
    return line.startsWith('+') ? painted(line, 'green') : line
  })
}
