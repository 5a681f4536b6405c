import { type Command, Option } from 'commander'
import type { Settings } from '../modules/organisations/model.ts'
import { examples } from './examples.ts'
import { addUrl, managedOrg } from './manage.ts'
import { print, printJson } from './output.ts'
import { addSettings } from './settings.ts'

interface Options {
  doNotTrack?: 'honour' | 'ignore'
  json?: boolean
}

export function addPrivacy(org: Command): void {
  addUrl(addSettings(org.command('privacy'), ['data']))
    .description('show or set whether browsers that ask not to be tracked are heeded')
    .argument('[org]', 'id or slug; may be left out where there is only one')
    .addOption(
      new Option(
        '--do-not-track <how>',
        'what "Do Not Track" and Global Privacy Control do',
      ).choices(['honour', 'ignore']),
    )
    .option('--json', 'print {id, slug, honoursDoNotTrack} as JSON')
    .addHelpText(
      'after',
      `${examples('cairn org privacy harbor', 'cairn org privacy harbor --do-not-track honour')}

Where it is honoured, who asks is shown flows as everybody is, but nothing is
reported of them and nothing stored in their browser, unless your page has their
consent and says so: cairn.consent(true).`,
    )
    .action(async (name: string | undefined, { doNotTrack, json }: Options, command: Command) => {
      const { id, slug, honoursDoNotTrack } = await managedOrg(command, name, ({ ask }) => {
        if (doNotTrack === undefined) return ask<Settings>('GET /settings')
        const body = { honoursDoNotTrack: doNotTrack === 'honour' }
        return ask<Settings>('PATCH /settings', { body })
      })
      if (json) printJson({ id, slug, honoursDoNotTrack })
      else print(`do not track  ${honoursDoNotTrack ? 'honour' : 'ignore (the default)'}`)
    })
}
