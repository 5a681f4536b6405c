import type { EnvironmentsAnswer } from '../modules/environments/model.ts'
import type { Command, Flags } from './command.ts'
import { tokenIn } from './elsewhere.ts'
import { UsageFailure } from './failure.ts'
import { managedOrg, orgCommand } from './manage.ts'
import { print, printJson, printTable } from './output.ts'

/** Holds the token of the other organisation, so that it is in no list of processes and in no history. */
const variable = 'CAIRN_STAGING_TOKEN'

type Options = Flags<'staging' | 'url', 'json'>

/** `cairn org link` and `unlink`: the other organisation in which flows are tried first. */
export function addEnvironments(org: Command): void {
  orgCommand(org, 'link')
    .summary('show or link organisations in which flows are tried first')
    .description(
      'show which organisations try flows for this one, or link another: whoever writes flows here may ' +
        `then read the flows there, and nothing else. With --url, ${variable} replaces --staging: it ` +
        'holds a management token of that organisation with the scope settings:write',
    )
    .option('--staging <org>', 'id or slug of the organisation in which flows are tried')
    .option('--json', 'print {production, staging} as JSON')
    .examples(
      'cairn org link harbor',
      'cairn org link harbor --staging harbor-staging',
      `CAIRN_TOKEN=… ${variable}=… cairn org link --url https://cairn.example.com`,
    )
    .action(async (name: string | undefined, options: Options, command: Command) => {
      const body = linkBody(command.opts<Options>())
      const links = await managedOrg(command, name, ({ ask }) =>
        body === null
          ? ask<EnvironmentsAnswer>('GET /environments')
          : ask<EnvironmentsAnswer>('POST /environments', { body }),
      )
      if (options.json) return printJson(links)
      if (links.production) print(`tries flows for ${links.production.slug}`)
      else {
        printTable(
          ['staging', 'id', 'name', 'linked'],
          links.staging.map(({ slug, id, name, linkedAt }) => [slug, id, name, linkedAt]),
          'no organisation tries flows for it: link one with "cairn org link ORG --staging OTHER"',
        )
      }
    })
  orgCommand(org, 'unlink')
    .description('take a link away, from either side: what was promoted stays')
    .requiredOption('--staging <org>', 'id or slug of the organisation at the other end')
    .examples('cairn org unlink harbor --staging harbor-staging')
    .action(async (name: string | undefined, { staging }: Options, command: Command) => {
      const path = `DELETE /environments/${encodeURIComponent(staging!)}`
      const own = await managedOrg(command, name, async ({ ask, organisation }) => {
        await ask(path)
        return organisation
      })
      print(`${own} and ${staging} are no longer linked`)
    })
}

/** The organisation to be linked; null if links are only shown. */
function linkBody({ staging, url }: Options): object | null {
  if (staging === undefined) {
    return url === undefined || !process.env[variable] ? null : { token: tokenIn(variable) }
  }
  if (url === undefined) return { organisation: staging }
  throw new UsageFailure(`with --url, say which by its token, in the variable ${variable}`)
}
