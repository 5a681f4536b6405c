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
  summary: 'copy a flow from the staging environment',
  about:
    'show what a flow of the staging environment ("cairn org link") would change here, ask, and ' +
    'save it as the draft. Steps and items keep the ids that they have here',
  args: { '<key>': 'key of the flow, the same in both' },
  options: [
    option('--from <org>', 'id or slug of the staging environment, if there are several'),
    option('--draft', 'its draft instead of the version published there'),
    option('--publish', 'publish it here too'),
    option('--dry-run', 'show what would change, and change nothing'),
    option('--yes', 'do not ask'),
    option('--note <text>', 'why, for the audit log'),
  ],
  run: promote,
  show({ promotion, flow }, { key, publish, dryRun, orgFlag }) {
    if (flow === null) {
      tell(dryRun ? 'Changed nothing. Run it without --dry-run to promote.' : 'Nothing to promote.')
      return
    }
    const next = publish
      ? `as version ${flow.version}.`
      : flow.hasDraft
        ? `as a draft. Next: ${publishCommand(key, orgFlag)}`
        : 'as its newest version.'
    print(`Promoted ${promotion.key} ${next}`)
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
      'the flow is managed in a repository: push it from there, or unlock it',
    )
  }
  if (!yes) await confirm(manager.organisation, publish)
  const { flows } = await manager.ask<{ flows: Pushed[] }>(`POST ${path}/promote`, {
    body: { stagingEtag: staging.etag, publish, side, note },
    headers: production ? { 'if-match': production.etag } : { 'if-none-match': '*' },
  })
  return { promotion, flow: flows[0]! }
}

async function stagingOf({ ask, organisation }: Manager, named: string | undefined) {
  const { staging } = await ask<EnvironmentsAnswer>('GET /environments')
  const found = staging.filter(({ slug, id }) => named === undefined || [slug, id].includes(named))
  const [only, ...others] = found.map(({ slug }) => slug)
  if (only === undefined) {
    const which = named === undefined ? '' : ` "${shown(named, 100)}"`
    throw new CommandFailure(
      `${organisation} has no staging environment${which}: see "cairn org links"`,
    )
  }
  if (others.length === 0) return only
  throw new UsageFailure(`choose one with --from: ${[only, ...others].join(', ')}`)
}

function show(
  { key, state, staging, production, steps, items, diff, foreignOrigins }: PromotionAnswer,
  from: string,
) {
  const what = staging.side === 'draft' ? 'its draft' : `version ${staging.version}`
  const isChanged = state !== 'same'
  const lines = [
    `${key}: ${state}, ${what} of ${from}`,
    ...(production?.hasDraft && isChanged ? ['  the draft here will be overwritten'] : []),
    ...(staging.hasDraft && staging.side !== 'draft'
      ? ['  a newer draft there is not promoted']
      : []),
    ...(state === 'new' ? [] : partLines('step', steps, false)),
    ...(state === 'new' ? [] : partLines('item', items, false)),
    ...(diff === '' ? [] : [diff.replace(/\n$/, '')]),
  ]
  printDiff(lines.join('\n'))
  for (const origin of foreignOrigins) {
    warn(`the flow uses ${origin}, an origin of ${from} only: change it before you publish`)
  }
}

async function confirm(organisation: string, publish: boolean): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new UsageFailure('not a terminal: use --yes, or --dry-run to see the changes')
  }
  const what = publish
    ? `Publish this in ${organisation}`
    : `Make this the draft in ${organisation}`
  if (await saysYes(`${what}?`)) return
  throw new CommandFailure('changed nothing')
}
