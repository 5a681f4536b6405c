import type { Command } from '../command.ts'
import { addUrl, managed } from '../manage.ts'
import { print } from '../output.ts'
import { addPersonArguments, ofOrganisation, type PersonOptions, personNamed } from './named.ts'

export function addAllow(person: Command): void {
  addPersonArguments(addUrl(person.command('allow')))
    .description('take what a person reports again, who was erased and has come back')
    .examples('cairn person allow harbor ada', 'cairn person allow harbor visitor-7 --anonymous')
    .action(async (org: string, id: string, options: PersonOptions, command: Command) => {
      const body = personNamed(id, options)
      await managed(command, ({ ask }) => ask('POST /people/allow', { body }), ofOrganisation(org))
      print('what this person reports is taken again')
    })
}
