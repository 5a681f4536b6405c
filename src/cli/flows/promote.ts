import { shown } from '../../core/text/wording.ts'
import type { EnvironmentsAnswer, PromotionAnswer } from '../../modules/environments/schema.ts'
import { CommandFailure, UsageFailure, warn } from '../failure.ts'
import type { Manager } from '../manage.ts'
import { print, saysYes, tell } from '../output.ts'
import { type Given, option, row } from '../table.ts'
import { partLines, printDiff } from './diff.ts'
import { type Pushed, publishCommand } from './records.ts'

interface Promoted {
  promotion: PromotionAnswer
  /** Null if nothing was changed. */
  flow: Pushed | null
}

export const promoteRow = row<Promoted>({
  name: 'promote',
  summary: 'take a flow over from the organisation in which it was tried',
  about:
    'show what a flow of the organisation in which flows are tried ("cairn org link") would change ' +
    'here, ask, and make exactly that the draft. Steps and items keep the ids that ' +
    'they have here',
  args: { '<key>': 'key of the flow, the same in both' },
  options: [
    option('--from <org>', 'id or slug of that organisation; may be left out where one is linked'),
    option('--draft', 'its draft, not the newest version published there'),
    option('--publish', 'publish it here too'),
    option('--dry-run', 'show what would change, and change nothing'),
    option('--yes', 'do not ask'),
    option('--note <text>', 'why, for the audit log'),
  ],
  run: promote,
  show({ promotion, flow }, { key, publish, dryRun, orgFlag }) {
    if (flow === null) {
      tell(
        dryRun
          ? 'nothing was changed: run it without --dry-run to do it'
          : 'there is nothing to promote',
      )
      return
    }
    const next = publish
      ? `published as version ${flow.version}`
      : flow.hasDraft
        ? `a draft; show it with "${publishCommand(key, orgFlag)}"`
        : 'as its newest version'
    print(`${promotion.key}  promoted, ${next}`)
  },
  examples: [
    'cairn flows promote welcome --org harbor',
    'cairn flows promote welcome --org harbor --from harbor-staging --publish',
    'CAIRN_TOKEN=… cairn flows promote welcome --publish --yes --url https://cairn.example.com',
  ],
})

async function promote(manager: Manager, given: Given): Promise<Promoted> {
  const { key, draft, publish = false, dryRun, yes, note, json } = given
  const from = await stagingOf(manager, given.from)
  const path = `/environments/${encodeURIComponent(from)}/flows/${encodeURIComponent(key)}`
  const side = draft ? ('draft' as const) : undefined
  const query = side === undefined ? '' : `?side=${side}`
  const promotion = await manager.ask<PromotionAnswer>(`GET ${path}/diff${query}`)
  if (!json) show(promotion, from)
  const { production, staging, state } = promotion
  const isLive = production?.status === 'published' && !production.hasDraft
  const isDone = state === 'same' && (!publish || isLive)
  if (isDone || dryRun) return { promotion, flow: null }
  if (production?.isLocked) {
    throw new CommandFailure(
      'the flow is changed in its repository alone: push it from there, or unlock it',
    )
  }
  if (!yes) await confirm(manager.organisation, publish)
  const { flows } = await manager.ask<{ flows: Pushed[] }>(`POST ${path}/promote`, {
    body: { stagingEtag: staging.etag, publish, side, note },
    headers: production ? { 'if-match': production.etag } : { 'if-none-match': '*' },
  })
  return { promotion, flow: flows[0]! }
}

/** The slug of the organisation that is meant. */
async function stagingOf({ ask, organisation }: Manager, named: string | undefined) {
  const { staging } = await ask<EnvironmentsAnswer>('GET /environments')
  const found = staging.filter(({ slug, id }) => named === undefined || [slug, id].includes(named))
  const [only, ...others] = found.map(({ slug }) => slug)
  if (only === undefined) {
    const which = named === undefined ? 'no organisation' : `"${shown(named, 100)}"`
    throw new CommandFailure(
      `${which} is linked to ${organisation} to try flows for it: see "cairn org links"`,
    )
  }
  if (others.length === 0) return only
  throw new UsageFailure(`choose one with --from: ${[only, ...others].join(', ')}`)
}

/** Prints what would change. */
function show(
  { key, state, staging, production, steps, items, diff, foreignOrigins }: PromotionAnswer,
  from: string,
) {
  const what = staging.side === 'draft' ? 'its draft' : `version ${staging.version}`
  const isChanged = state !== 'same'
  const lines = [
    `${key}: ${state}, ${what} of ${from}`,
    ...(production?.hasDraft && isChanged ? ['  the draft here will be overwritten'] : []),
    ...(staging.hasDraft && staging.side !== 'draft' ? ['  a newer draft stays there'] : []),
    ...(state === 'new' ? [] : partLines('step', steps, false)),
    ...(state === 'new' ? [] : partLines('item', items, false)),
    ...(diff === '' ? [] : [diff.replace(/\n$/, '')]),
  ]
  printDiff(lines.join('\n'))
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
