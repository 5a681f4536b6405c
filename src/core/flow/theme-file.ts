import { asAuthored, readShape } from './file-shape.ts'
import { error } from './problem.ts'
import { type FileProblem, SourceFile } from './source-file.ts'
import { Theme } from './theme.ts'
import { themeProblems } from './theme-rules.ts'

/** A theme and the problems of its file; the theme is null if there is an error. */
export interface ThemeFile {
  theme: Theme | null
  problems: FileProblem[]
}

/** Reads a theme as its author wrote it: the fields of a flow's `theme`, and no others. Never throws. */
export function readThemeFile(text: string, options: { format?: 'yaml' | 'json' } = {}): ThemeFile {
  const file = new SourceFile(text, options.format ?? 'yaml')
  const [root, second] = file.roots
  if (second) {
    const message = 'A file can have only one theme: remove the second one'
    file.reportIn(second, error('not_a_theme', '', message))
    return { theme: null, problems: file.problems }
  }
  if (!root || typeof root.value !== 'object' || Array.isArray(root.value)) {
    const message = 'Must be the fields of a theme: begin with "accent: ", or another of them'
    if (root) file.reportIn(root, error('not_a_theme', '', message))
    else if (file.problems.length === 0) file.report(0, error('not_a_theme', '', message))
    return { theme: null, problems: file.problems }
  }
  const { value, problems } = readShape(Theme, root.value)
  for (const problem of problems) {
    const { node } = file.placeOf(root, problem.path)
    file.reportIn(root, asAuthored(problem, node), problem.path)
  }
  const theme = problems.length === 0 ? (value as Theme) : null
  for (const problem of theme ? themeProblems(theme) : []) file.reportIn(root, problem)
  return { theme: file.errorsBelow('').length > 0 ? null : theme, problems: file.problems }
}
