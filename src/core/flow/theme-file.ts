import { isMap, LineCounter } from 'yaml'
import { type FileProblem, inSourceOrder, type LocatedProblem } from './file.ts'
import { offsetAt, parse, type Report, start } from './file-nodes.ts'
import { Reader, unreadable } from './file-reader.ts'
import { Theme } from './theme.ts'
import { themeProblems } from './theme-rules.ts'

/** A theme and the problems of its file; the theme is null if there is an error. */
export interface ThemeFile {
  theme: Theme | null
  problems: FileProblem[]
}

/** Reads a theme as its author wrote it: the fields of a flow's `theme`, and no others. Never throws. */
export function readThemeFile(text: string, options: { format?: 'yaml' | 'json' } = {}): ThemeFile {
  const lines = new LineCounter()
  const findings: LocatedProblem[] = []
  const report: Report = (code, offset, path, message, severity = 'error') => {
    findings.push({ severity, code, path, message, offset })
  }
  const source = parse(text, options.format ?? 'yaml', lines, report)
  const [root, ...more] = source?.roots ?? []
  let theme: Theme | null = null
  if (more.length > 0) {
    report(
      'not_a_theme',
      start(more[0]!.node),
      '',
      'A file can have only one theme: remove the second one',
    )
  } else if (source && root && isMap(root.node)) {
    const { aliases } = source
    const read = new Reader(aliases, lines, report, () => {}).entry(Theme, root.node, '', new Map())
    if (read !== unreadable) theme = read as Theme
    for (const { severity, code, path, message } of theme ? themeProblems(theme) : []) {
      report(code, offsetAt(root.node, path, aliases), path, message, severity)
    }
  } else if (findings.length === 0) {
    const message = 'Must be the fields of a theme: begin with "accent: ", or another of them'
    report('not_a_theme', root ? start(root.node) : 0, '', message)
  }
  const isWrong = findings.some(({ severity }) => severity === 'error')
  return { theme: isWrong ? null : theme, problems: inSourceOrder(findings, lines) }
}
