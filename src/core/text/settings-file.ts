/** One line of a file of settings, as it was read. */
export interface FileSetting {
  name: string
  value: string
  line: number
}

/** A line that is none, and what to do. */
export interface FileFault {
  line: number
  advice: string
}

/** Far above what settings take; more is another file. */
export const mostSettingsBytes = 65_536

const escapes = /\\(.)/g

/**
 * Reads a file of settings: a line `NAME=value` each, blank lines, and comments that begin with `#`
 * or `;`. It is what systemd takes as an `EnvironmentFile=` (systemd.exec(5)), without what would be
 * read otherwise elsewhere: nothing is expanded, and no value goes over its line. A value may stand
 * in single quotes, as it is, or in double ones, in which a backslash keeps what follows it.
 */
export function readSettingsFile(text: string): { settings: FileSetting[]; faults: FileFault[] } {
  const settings = new Map<string, FileSetting>()
  const faults: FileFault[] = []
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
    if (rest === undefined) faults.push({ line, advice: adviceFor(content) })
    else if (value === null) {
      faults.push({
        line,
        advice: `put all of the value of ${name} in one pair of quotes, or none`,
      })
    } else if (earlier) {
      faults.push({ line, advice: `${name} stands in line ${earlier.line} already: remove one` })
    } else settings.set(name, { name, value, line })
  }
  return { settings: [...settings.values()], faults }
}

/** Null where quotes do not fit. */
function unquoted(value: string): string | null {
  if (!/^["']/.test(value)) return /["']$/.test(value) ? null : value
  if (/^'[^']*'$/.test(value)) return value.slice(1, -1)
  return /^"(?:[^"\\]|\\.)*"$/.test(value) ? value.slice(1, -1).replace(escapes, '$1') : null
}

/** Never shows the line, which may hold a secret. */
function adviceFor(content: string): string {
  if (/^export\s/.test(content)) return 'leave out "export"'
  if (/^[A-Za-z_][A-Za-z0-9_]*\s+=/.test(content)) return 'leave no space before "="'
  return 'write NAME=value, or begin a comment with #'
}
