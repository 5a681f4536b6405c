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
  summary: 'create a link that shows a draft on your page',
  about:
    'create a link that shows the current draft on your page, marked as a preview. Nothing is ' +
    'counted. Anyone with the link can see it. The page needs the snippet. Links stop working ' +
    'when the server restarts',
  needsServer: true,
  args: { '[key]': 'the key of a flow that was pushed' },
  options: [
    option('--file <file>', 'show the flow in this file, without storing it'),
    option('--page <address>', 'URL of the page (default: from the targeting of the flow)'),
    option('--minutes <count>', `how long the link works, ${min} to ${max}`, {
      ...{ default: String(previewMinutes.default), parse: whole(min, max) },
    }),
  ],
  route: 'POST /previews',
  body: ({ key, file, page, minutes }) => ({ ...flowOf(key, file), url: page, minutes }),
  show({ link, isFile, origin, expiresAt, id, oldSnippet, needsSnippet }) {
    print(link)
    tell(
      `Anyone with this link sees ${isFile ? 'this flow' : 'the draft'} on ${origin} until ${expiresAt}.`,
      `To end it sooner: cairn api DELETE /previews/${id}`,
    )
    if (oldSnippet === null) return
    warn(`your pages run snippet ${oldSnippet}, and previews need ${needsSnippet} or later`)
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
  const files = rightFiles([file], { undone: 'created no link' })
  const [flow, ...others] = files.flatMap(({ flows }) => flows)
  if (!flow || others.length > 0)
    throw new UsageFailure('--file needs a file with exactly one flow')
  return { definition: minimalFlow(flow) }
}
