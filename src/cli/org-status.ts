import type { Command } from 'commander'
import { shown } from '../core/text/wording.ts'
import type { Installation } from '../modules/installation/model.ts'
import { examples } from './examples.ts'
import { exitStatus } from './failure.ts'
import { addUrl, managedOrg } from './manage.ts'
import { columns, print, printJson } from './output.ts'
import { addSettings } from './settings.ts'

/** `cairn org status`: what GET /snippet-status answers, for who manages the organisation. */
export function addStatus(org: Command): void {
  addUrl(addSettings(org.command('status'), ['data']))
    .description(
      'say whether the snippet is installed and alive, and what is wrong; exit status 1 if it is misconfigured',
    )
    .argument('[org]', 'id or slug; may be left out where there is only one')
    .option('--json', 'print what GET /snippet-status answers, and {id, slug, erased24h}')
    .addHelpText('after', examples('cairn org status', 'cairn org status harbor --json'))
    .action(async (name: string | undefined, { json }: { json?: boolean }, command: Command) => {
      const { id, slug, status } = await managedOrg(command, name, async manager => ({
        id: manager.id,
        slug: manager.organisation,
        status: await manager.ask<Installation>('GET /install'),
      }))
      if (status.state === 'misconfigured') process.exitCode = exitStatus.failure
      if (json) return printJson({ id, slug, ...status })
      print(...statusLines(slug, status))
    })
}

function statusLines(slug: string, status: Installation): string[] {
  const { stages, findings, snippetVersion, skewMsMedian, erased24h } = status
  const refused = Object.entries(status.rejected24h).map(([code, count]) => `${code} ${count}`)
  const facts: [string, string][] = [
    // Whatever a page sent as its version: anyone who views one has the key.
    ['snippet', snippetVersion === null ? '–' : shown(snippetVersion)],
    ['clock skew', skewMsMedian === null ? '–' : `${skewMsMedian} ms`],
    ['refused in 24 h', refused.join(', ') || '–'],
    ['of erased people', erased24h === 0 ? '–' : `${erased24h} in 24 h, not kept`],
  ]
  return [
    `${slug}: ${status.state}, ${status.installed ? 'installed' : 'not installed'}`,
    '',
    ...columns([
      ['STAGE', 'FIRST', 'LAST'],
      ...stages.map(({ stage, firstAt, lastAt }) => [stage, firstAt ?? '–', lastAt ?? '–']),
    ]),
    '',
    ...columns(facts),
    ...findings.flatMap(({ severity, code, message, fix }) => [
      '',
      `${severity}: ${code}`,
      `  ${message}`,
      `  ${fix}`,
    ]),
    ...(findings.length === 0 ? ['', 'nothing is wrong'] : []),
  ]
}
