import type { Database } from 'bun:sqlite'
import type { Command } from 'commander'
import { shown } from '../core/wording.ts'
import type { SnippetStatus } from '../modules/presence/model.ts'
import { presenceService } from '../modules/presence/service.ts'
import { StoredCatalogue } from '../storage/catalogue.ts'
import { PresenceBoard } from '../storage/presence-board.ts'
import { Readers } from '../storage/readers.ts'
import { organisationNamed, withData, writtenDown } from './data.ts'
import { examples } from './examples.ts'
import { exitStatus } from './failure.ts'
import { columns, print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

/** `cairn org status`: what GET /snippet-status answers, for the operator. */
export function addStatus(org: Command): void {
  addSettings(org.command('status'), ['data'])
    .description(
      'say whether the snippet is installed and alive, and what is wrong; exit status 1 if it is misconfigured',
    )
    .argument('[org]', 'id or slug; may be left out where there is only one')
    .option('--json', 'print what GET /snippet-status answers, and {id, slug}')
    .addHelpText('after', examples('cairn org status', 'cairn org status harbor --json'))
    .action(async (name: string | undefined, { json }: { json?: boolean }, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const { id, slug, status } = await withData(data, async database => {
        const how = 'as the first argument, "cairn org status ORG"'
        const organisation = organisationNamed(database, name, how)
        await writtenDown(database, data)
        return { ...organisation, status: await statusOf(database, organisation.row) }
      })
      if (status.state === 'misconfigured') process.exitCode = exitStatus.failure
      if (json) return printJson({ id, slug, ...status })
      print(...statusLines(slug, status))
    })
}

function statusOf(database: Database, orgRow: number): Promise<SnippetStatus> {
  const catalogue = new StoredCatalogue(database)
  const readers = new Readers(database, new PresenceBoard(PresenceBoard.memory(orgRow + 1)))
  const stores = {
    catalogue: () => catalogue,
    presence: { read: (row: number, now: number) => readers.presence(row, now) },
  }
  return presenceService({ stores }).status(catalogue.organisationByRow(orgRow), Date.now())
}

function statusLines(slug: string, status: SnippetStatus): string[] {
  const { stages, findings, snippetVersion, skewMsMedian } = status
  const refused = Object.entries(status.rejected24h).map(([code, count]) => `${code} ${count}`)
  const facts: [string, string][] = [
    // Whatever a page sent as its version: anyone who views one has the key.
    ['snippet', snippetVersion === null ? '–' : shown(snippetVersion)],
    ['clock skew', skewMsMedian === null ? '–' : `${skewMsMedian} ms`],
    ['refused in 24 h', refused.join(', ') || '–'],
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
