import { wantsColour } from '../../core/text/colour.ts'
import { withEscapes } from '../../core/text/unseen.ts'
import { shown } from '../../core/text/wording.ts'
import type { EnvironmentsAnswer, PromotionAnswer } from '../../modules/environments/model.ts'
import type { Command, Flags } from '../command.ts'
import { CommandFailure, UsageFailure, warn } from '../failure.ts'
import { addManaged, type Manager, managed } from '../manage.ts'
import { print, printJson, printPainted, saysYes, tell } from '../output.ts'
import { colouredDiff, partLines } from './diff.ts'
import { orgFlag, type Pushed, publishCommand } from './records.ts'

type Options = Flags<'from' | 'note', 'draft' | 'publish' | 'dryRun' | 'yes' | 'json'>

export function addPromote(flows: Command): void {
  addManaged(flows.command('promote'))
    .summary('take a flow over from the organisation in which it was tried')
    .description(
      'show what a flow of the organisation in which flows are tried ("cairn org link") would change ' +
        'here, ask, and make exactly that the draft. Steps and items keep the ids that ' +
        'they have here',
    )
    .argument('<key>', 'key of the flow, the same in both')
    .option('--from <org>', 'id or slug of that organisation; may be left out where one is linked')
    .option('--draft', 'its draft, not the newest version published there')
    .option('--publish', 'publish it here too')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--yes', 'do not ask')
    .option('--note <text>', 'why, for the audit log')
    .option('--json', 'print {promotion, flow} as JSON; flow is null if nothing was changed')
    .examples(
      'cairn flows promote welcome --org harbor',
      'cairn flows promote welcome --org harbor --from harbor-staging --publish',
      'CAIRN_TOKEN=… cairn flows promote welcome --publish --yes --url https://cairn.example.com',
    )
    .action((key: string, options: Options, command: Command) =>
      managed(command, manager => promote(manager, key, options)),
    )
}

async function promote(manager: Manager, key: string, options: Options): Promise<void> {
  const { dryRun = false, yes = false, publish = false, json = false, note } = options
  const from = await stagingOf(manager, options.from)
  const path = `/environments/${encodeURIComponent(from)}/flows/${encodeURIComponent(key)}`
  const side = options.draft ? ('draft' as const) : undefined
  const query = side === undefined ? '' : `?side=${side}`
  const promotion = await manager.ask<PromotionAnswer>(`GET ${path}/diff${query}`)
  if (!json) show(promotion, from)
  const { production, staging, state } = promotion
  const isLive = production?.status === 'published' && !production.hasDraft
  const isDone = state === 'same' && (!publish || isLive)
  if (isDone || dryRun) {
    if (json) return printJson({ promotion, flow: null })
    tell(
      isDone
        ? 'there is nothing to promote'
        : 'nothing was changed: run it without --dry-run to do it',
    )
    return
  }
  if (production?.isLocked) {
    throw new CommandFailure(
      'the flow is changed in its repository alone: push it from there, or unlock it',
    )
  }
  if (!yes) await confirm(manager.organisation, publish)
  const headers: Record<string, string> = production
    ? { 'if-match': production.etag }
    : { 'if-none-match': '*' }
  const body = { stagingEtag: staging.etag, publish, ...(side && { side }), ...(note && { note }) }
  const { flows } = await manager.ask<{ flows: Pushed[] }>(`POST ${path}/promote`, {
    body,
    headers,
  })
  const [flow] = flows
  if (json) return printJson({ promotion, flow })
  const next = publish
    ? `published as version ${flow!.version}`
    : flow!.hasDraft
      ? `a draft; show it with "${publishCommand(key, orgFlag(manager))}"`
      : 'as its newest version'
  print(`${key}  promoted from ${from}, ${next}`)
}

/** The slug of the organisation that is meant. */
async function stagingOf({ ask, organisation }: Manager, named: string | undefined) {
  const { staging } = await ask<EnvironmentsAnswer>('GET /environments')
  const slugs = staging.map(({ slug }) => slug)
  if (named !== undefined) {
    const found = staging.find(({ slug, id }) => slug === named || id === named)
    if (found) return found.slug
    throw new CommandFailure(
      `"${shown(named, 100)}" is not linked to ${organisation}: see "cairn org link ${organisation}"`,
    )
  }
  const [only, ...others] = slugs
  if (only === undefined) {
    throw new CommandFailure(
      `no organisation tries flows for ${organisation}: link one with "cairn org link ${organisation} --staging OTHER"`,
    )
  }
  if (others.length === 0) return only
  throw new UsageFailure(`choose one with --from: ${slugs.join(', ')}`)
}

/** What would change, for people. */
function show(
  { key, state, staging, production, steps, items, diff, foreignOrigins }: PromotionAnswer,
  from: string,
) {
  const what = staging.side === 'draft' ? 'its draft' : `version ${staging.version}`
  const against =
    production && (production.hasDraft ? 'the draft' : `version ${production.version}`)
  const heading = [
    `${key}: ${state}, ${what} of ${from}`,
    ...(against && state !== 'same' ? [`against ${against} here`] : []),
  ]
  const lines = [
    heading.join(', '),
    ...(production?.hasDraft && state !== 'same' ? ['  the draft here will be overwritten'] : []),
    ...(staging.hasDraft && staging.side !== 'draft' ? ['  a newer draft stays there'] : []),
    ...(state === 'new' ? [] : partLines('step', steps, 'its funnel ends', [])),
    ...(state === 'new' ? [] : partLines('item', items, 'its ticks end', [])),
    ...(diff === '' ? [] : [diff.replace(/\n$/, '')]),
  ]
  const text = withEscapes(lines.join('\n'))
  printPainted(wantsColour(process.stdout, process.env) ? colouredDiff(text) : text)
  for (const origin of foreignOrigins) {
    warn(`it names ${origin}, which is an origin of ${from} only: fix that before visitors see it`)
  }
}

async function confirm(organisation: string, publish: boolean): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new UsageFailure('cannot ask here: use --yes, or --dry-run to show the changes only')
  }
  const what = publish
    ? `Publish this in ${organisation}`
    : `Make this the draft in ${organisation}`
  if (await saysYes(`${what}?`)) return
  throw new CommandFailure('nothing was changed')
}
