import { defaultLimits } from '../../core/organisation/buckets.ts'
import text from './introduction.md' with { type: 'text' }
import { refusalRows } from './refusals.ts'

const limitRows = Object.entries(defaultLimits).map(
  ([bucket, requests]) => `| \`${bucket}\` | ${requests} |`,
)

const errorRows = refusalRows.map(
  ({ status, code, when }) => `| ${status} | ${code === null ? '–' : `\`${code}\``} | ${when} |`,
)

/** The rules that hold for every route, in Markdown. */
export const introduction = text
  .replace('{limits}', () => limitRows.join('\n'))
  .replace('{refusals}', () => errorRows.join('\n'))
  .trim()
