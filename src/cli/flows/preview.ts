import { minimalFlow } from '../../core/flow/minimal.ts'
import { previewMinutes } from '../../core/organisation/preview-link.ts'
import type { CreatedPreview, PreviewList } from '../../modules/previews/model.ts'
import type { Command, Flags } from '../command.ts'
import { CommandFailure, UsageFailure, warn } from '../failure.ts'
import { addManaged, managed, placeOf, serverOf } from '../manage.ts'
import { print, printJson, printTable, tell } from '../output.ts'
import { rightFiles } from './files.ts'

const { least, usual, most } = previewMinutes

export function addPreview(flows: Command): void {
  addManaged(flows.command('preview'))
    .summary('make a link by which a draft is looked at in the real page')
    .description(
      'make a link by which a draft is looked at in the real page, by whoever has it: marked as a ' +
        'preview, and nothing is counted. Each load shows the current draft. The page needs ' +
        'the snippet. Links are kept in memory only: they end when the server is restarted',
    )
    .argument('[key]', 'the key of a flow that was pushed')
    .option('--file <file>', 'show the flow in this file instead, without storing it')
    .option('--page <address>', 'page to show it on (default: one that the flow names)')
    .option('--minutes <count>', `how long the link works, ${least} to ${most} (default: ${usual})`)
    .option('--list', 'list the links that work, and make none')
    .option('--end <id>', 'end a link: it opens nothing any more')
    .option('--json', 'print what was made, or the list, as JSON')
    .examples(
      'cairn flows preview welcome --page https://app.example.com/projects',
      'cairn flows preview --file tour.yaml --page https://app.example.com/projects',
      'cairn flows preview --list',
      'cairn flows preview --end preview_3xYzQa1b2c3d4e5f6g',
    )
    .action(async (key: string | undefined, options: Options, command: Command) => {
      requireServer(command)
      if (options.list) return listed(command, options)
      if (options.end !== undefined) return ended(command, options.end)
      return made(command, bodyOf(key, options), options)
    })
}

type Options = Flags<'file' | 'page' | 'minutes' | 'end', 'list' | 'json'>

/** Without a server, a command has a memory of its own, and the link ends with it. */
function requireServer(command: Command): void {
  if (command.opts<Flags<'url'>>().url !== undefined) return
  if (serverOf(placeOf(command)) !== null) return
  throw new CommandFailure(
    'no server runs on this data: start it with "cairn serve", or name one with --url',
  )
}

function bodyOf(key: string | undefined, { file, page, minutes }: Options) {
  if ((key === undefined) === (file === undefined)) {
    throw new UsageFailure('name a flow by its key, or a file with --file')
  }
  const more = { url: page, minutes: minutes === undefined ? undefined : minutesIn(minutes) }
  if (file === undefined) return { flow: key, ...more }
  const [flow, ...others] = rightFiles([file], { undone: 'no link was made', json: false }).flatMap(
    one => one.flows,
  )
  if (!flow || others.length > 0) throw new UsageFailure('--file needs a file with just one flow')
  return { definition: minimalFlow(flow), ...more }
}

function minutesIn(given: string): number {
  const count = /^\d{1,3}$/.test(given) ? Number(given) : Number.NaN
  if (count >= least && count <= most) return count
  throw new UsageFailure(`--minutes must be a whole number from ${least} to ${most}`)
}

async function made(command: Command, body: object, { json }: Options): Promise<void> {
  const preview = await managed(command, ({ ask }) =>
    ask<CreatedPreview>('POST /previews', { body }),
  )
  if (json) return printJson(preview)
  print(preview.link)
  tell(
    `anyone with this link sees ${preview.isFile ? 'this flow' : 'the draft'} on ${preview.origin} until ${preview.expiresAt}`,
    `end it sooner: cairn flows preview --end ${preview.id}`,
  )
  if (preview.oldSnippet === null) return
  warn(
    `the last snippet seen is version ${preview.oldSnippet}, which cannot show previews: they need ${preview.needsSnippet} or newer`,
  )
}

async function listed(command: Command, { json }: Options): Promise<void> {
  const { previews } = await managed(command, ({ ask }) => ask<PreviewList>('GET /previews'))
  if (json) return printJson(previews)
  printTable(
    ['id', 'flow', 'page', 'by', 'until', 'opened'],
    previews.map(({ id, flow, url, madeBy, expiresAt, openedAt }) => [
      ...[id, flow, url, madeBy, expiresAt, openedAt ?? '–'],
    ]),
    'there are no working preview links',
  )
}

async function ended(command: Command, id: string): Promise<void> {
  const path = `DELETE /previews/${encodeURIComponent(id)}`
  await managed(command, ({ ask }) => ask(path))
  print(`${id} has ended`)
}
