import type { Command } from 'commander'
import { longestRetentionDays } from '../core/organisation/retention.ts'
import { isoTime } from '../core/time/clock.ts'
import { dayMs } from '../core/time/durations.ts'
import type { Settings } from '../modules/organisations/model.ts'
import { examples } from './examples.ts'
import { UsageFailure, warn } from './failure.ts'
import { addUrl, managedOrg } from './manage.ts'
import { counted, print, printJson } from './output.ts'
import { addSettings } from './settings.ts'

interface Options {
  days?: string
  default?: boolean
  json?: boolean
}

export function addRetention(org: Command): void {
  addUrl(addSettings(org.command('retention'), ['data']))
    .description("show or set how many days an organisation's raw events are accepted and kept")
    .argument('[org]', 'id or slug; may be left out where there is only one')
    .option('--days <n>', 'days; the server deletes what it received earlier, for good')
    .option('--default', "as long as the server's CAIRN_RETENTION_DAYS says")
    .option('--json', 'print {id, slug, retentionDays} as JSON, null for the default')
    .addHelpText(
      'after',
      `${examples(
        'cairn org retention harbor',
        'cairn org retention harbor --days 30',
        'cairn org retention harbor --default',
      )}

What is deleted: raw events (rows=events of the export), health reports,
fingerprints that are no baseline, dead letters. Analytics, runs, checklists and
completions stay, for any range.`,
    )
    .action(async (name: string | undefined, options: Options, command: Command) => {
      const days = daysIn(options)
      const settings = await managedOrg(command, name, ({ ask }) =>
        days === undefined
          ? ask<Settings>('GET /settings')
          : ask<Settings>('PATCH /settings', { body: { retentionDays: days } }),
      )
      if (typeof days === 'number') {
        const before = isoTime(Date.now() - days * dayMs)
        warn(`raw events received before ${before} are deleted from now on, for good`)
      }
      show(settings, options)
    })
}

/** Undefined where nothing is to be set, null for the server's setting. */
function daysIn({ days, default: isDefault }: Options): number | null | undefined {
  if (days === undefined) return isDefault ? null : undefined
  if (isDefault) throw new UsageFailure('give --days or --default, not both')
  const count = /^\d{1,5}$/.test(days) ? Number(days) : 0
  if (count >= 1 && count <= longestRetentionDays) return count
  throw new UsageFailure(
    `--days "${days.slice(0, 20)}": set a whole number from 1 to ${longestRetentionDays}`,
  )
}

function show({ id, slug, retentionDays }: Settings, { json }: Options): void {
  const byServer = 'as long as the server is told (CAIRN_RETENTION_DAYS)'
  if (json) printJson({ id, slug, retentionDays })
  else print(retentionDays === null ? byServer : counted(retentionDays, 'day'))
}
