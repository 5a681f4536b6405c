import type { Command } from '../command.ts'
import { UsageFailure } from '../failure.ts'
import type { Named } from '../manage.ts'

/** As long as the API takes one. */
const longestId = 128

/** What every command takes that is about a person. */
export interface PersonOptions {
  anonymous?: boolean
}

/** The arguments and the option by which every command here names a person. */
export const addPersonArguments = (command: Command): Command =>
  command
    .argument('<org>', 'id or slug of the organisation')
    .argument('<person>', 'user id of the person')
    .option('--anonymous', 'the id is an anonymous one')

/** The person as the API names them. */
export function personNamed(
  id: string,
  { anonymous = false }: PersonOptions,
): Record<string, string> {
  if (id === '' || id.length > longestId) {
    throw new UsageFailure(`the id of a person has 1 to ${longestId} characters`)
  }
  return anonymous ? { anonymousId: id } : { userId: id }
}

/** A mistyped id is more likely than a person without data. */
export const nothingStored = ({ anonymous = false }: PersonOptions) =>
  `nothing is stored of this person: see that the id is right, and whether it is ${anonymous ? "a user's" : 'an anonymous one (--anonymous)'}`

/** The organisation, which is always an argument. */
export const ofOrganisation = (org: string): Named => ({ org, how: 'as the first argument' })
