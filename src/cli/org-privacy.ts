import { type Command, Option } from 'commander'
import { setDoNotTrack } from '../storage/organisations.ts'
import { changeData, organisationNamed, withData } from './data.ts'
import { examples } from './examples.ts'
import { print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'

interface Options {
  doNotTrack?: 'honour' | 'ignore'
  json?: boolean
}

export function addPrivacy(org: Command): void {
  addSettings(org.command('privacy'), ['data'])
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
      const { data } = settingsOf(command, 'data')
      const how = 'as the first argument, "cairn org privacy ORG"'
      const { id, slug, honoursDoNotTrack } =
        doNotTrack === undefined
          ? await withData(data, database => organisationNamed(database, name, how))
          : await changeData(data, database => {
              const { row } = organisationNamed(database, name, how)
              return setDoNotTrack(database, row, doNotTrack === 'honour')
            })
      if (json) printJson({ id, slug, honoursDoNotTrack })
      else print(`do not track  ${honoursDoNotTrack ? 'honour' : 'ignore (the default)'}`)
    })
}
