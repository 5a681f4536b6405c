import { minimalFlow } from '../../core/flow/minimal.ts'
import { previewMinutes } from '../../core/organisation/ticket.ts'
import type { CreatedPreview } from '../../modules/tickets/schema.ts'
import { UsageFailure, warn } from '../failure.ts'
import { print, tell } from '../output.ts'
import { type Given, option, row, whole } from '../table.ts'
import { rightFiles } from './files.ts'

const { min, max } = previewMinutes

export const previewRow = row<CreatedPreview>({
  name: 'preview',
  summary: 'make a link by which a draft is looked at in the real page',
  about:
    'make a link by which a draft is looked at in the real page, by whoever has it: marked as a ' +
    'preview, and nothing is counted. Each load shows the current draft. The page needs ' +
    'the snippet. Links are kept in memory only: they end when the server is restarted',
  needsServer: true,
  args: { '[key]': 'the key of a flow that was pushed' },
  options: [
    option('--file <file>', 'show the flow in this file instead, without storing it'),
    option('--page <address>', 'page to show it on (default: one that the flow names)'),
    option('--minutes <count>', `how long the link works, ${min} to ${max}`, {
      ...{ default: String(previewMinutes.default), parse: whole(min, max) },
    }),
  ],
  route: 'POST /previews',
  body: ({ key, file, page, minutes }) => ({ ...flowOf(key, file), url: page, minutes }),
  show({ link, isFile, origin, expiresAt, id, oldSnippet, needsSnippet }) {
    print(link)
    tell(
      `anyone with this link sees ${isFile ? 'this flow' : 'the draft'} on ${origin} until ${expiresAt}`,
      `end it sooner: cairn api DELETE /previews/${id}`,
    )
    if (oldSnippet === null) return
    warn(
      `the last snippet seen is version ${oldSnippet}, which cannot show previews: they need ${needsSnippet} or newer`,
    )
  },
  examples: [
    'cairn flows preview welcome --page https://app.example.com/projects',
    'cairn flows preview --file tour.yaml --page https://app.example.com/projects',
    'cairn api GET /previews    the links that work',
  ],
})

function flowOf(key?: string, file?: string): Given {
  if ((key === undefined) === (file === undefined)) {
    throw new UsageFailure('name a flow by its key, or a file with --file')
  }
  if (file === undefined) return { flow: key }
  const files = rightFiles([file], { undone: 'no link was made' })
  const [flow, ...others] = files.flatMap(({ flows }) => flows)
  if (!flow || others.length > 0) throw new UsageFailure('--file needs a file with just one flow')
  return { definition: minimalFlow(flow) }
}
