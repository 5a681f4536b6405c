/** One line of a settings file, as it was read. */
export interface FileSetting {
  name: string
  value: string
  line: number
}

/** A line that is not a setting, and what to do about it. */
export interface FileProblem {
  line: number
  advice: string
}

/** Far more than settings need. A larger file is probably another file. */
export const maxSettingsBytes = 65_536

const escapes = /\\(.)/g

/**
 * Reads a settings file: one `NAME=value` per line, blank lines, and comments that begin with `#` or `;`.
 * This is what systemd accepts as an `EnvironmentFile=` (systemd.exec(5)), without what other tools would
 * read differently: nothing is expanded, and no value continues on the next line. A value may be in single
 * quotes, which keep it as it is, or in double quotes, in which a backslash keeps the character after it.
 */
export function readSettingsFile(text: string): { settings: FileSetting[]; faults: FileProblem[] } {
  const settings = new Map<string, FileSetting>()
  const problems: FileProblem[] = []
  for (const [i, whole] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = i + 1
    const content = whole.trim()
    if (content === '' || /^[#;]/.test(content)) continue
    const [, name = '', rest] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(content) ?? []
    const value = rest === undefined ? null : unquoted(rest.trim())
    const earlier = settings.get(name)
    if (rest === undefined) problems.push({ line, advice: adviceFor(content) })
    else if (value === null) {
      problems.push({
        line,
        advice: `put all of the value of ${name} in one pair of quotes, or none`,
      })
    } else if (earlier) {
      problems.push({ line, advice: `${name} stands in line ${earlier.line} already: remove one` })
    } else settings.set(name, { name, value, line })
  }
  return { settings: [...settings.values()], faults: problems }
}

/** Null if the quotes do not match. */
function unquoted(value: string): string | null {
  if (!/^["']/.test(value)) return /["']$/.test(value) ? null : value
  if (/^'[^']*'$/.test(value)) return value.slice(1, -1)
  return /^"(?:[^"\\]|\\.)*"$/.test(value) ? value.slice(1, -1).replace(escapes, '$1') : null
}

/** Never shows the line, because it may contain a secret. */
function adviceFor(content: string): string {
  if (/^export\s/.test(content)) return 'leave out "export"'
  if (/^[A-Za-z_][A-Za-z0-9_]*\s+=/.test(content)) return 'leave no space before "="'
  return 'write NAME=value, or begin a comment with #'
}
