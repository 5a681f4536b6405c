import { htmlIn } from './markdown-html.ts'
import { unsafeLinkIn } from './markdown-links.ts'
import { error, type FlowProblem, warning } from './problem.ts'

/** What is wrong with a text that is shown as Markdown. */
export function* markdownProblems(text: string, path: string): Iterable<FlowProblem> {
  const link = unsafeLinkIn(text)
  if (link !== null) yield error('unsafe_link', path, link)
  const html = htmlIn(text)
  if (html !== null) yield warning('html', path, html)
}
