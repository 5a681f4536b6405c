import type { Command } from 'commander'
import { allowAgain } from '../../storage/erasure/erasures.ts'
import { withData } from '../data.ts'
import { examples } from '../examples.ts'
import { CommandFailure } from '../failure.ts'
import { print } from '../output.ts'
import { addSettings, settingsOf } from '../settings.ts'
import { addPersonArguments, personAsked } from './named.ts'

export function addAllow(person: Command): void {
  addPersonArguments(addSettings(person.command('allow'), ['data']))
    .description('take what a person reports again, who was erased and has come back')
    .addHelpText(
      'after',
      examples('cairn person allow harbor ada', 'cairn person allow harbor visitor-7 --anonymous'),
    )
    .action(async (org: string, id: string, options: { anonymous?: boolean }, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const wasErased = await withData(data, database => {
        const asked = personAsked(database, org, id, options)
        return allowAgain(database, data, asked, Date.now())
      })
      if (!wasErased) {
        throw new CommandFailure('this person was not erased, so there is nothing to allow')
      }
      print('what this person reports is taken again')
    })
}
