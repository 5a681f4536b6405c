import { defaultLimits } from '../../core/organisation/limits.ts'
import { publicErrors } from './errors.ts'
import text from './introduction.md' with { type: 'text' }

const limitRows = Object.entries(defaultLimits).map(
  ([bucket, requests]) => `| \`${bucket}\` | ${requests} |`,
)

const errorRows = publicErrors.map(
  ([code, { status, when, sentence }]) =>
    `| ${status} | ${sentence === undefined ? `\`${code}\`` : '–'} | ${when} |`,
)

/** What holds for every route, as Markdown. */
export const introduction = text
  .replace('{limits}', () => limitRows.join('\n'))
  .replace('{errors}', () => errorRows.join('\n'))
  .trim()
