import type { Database } from 'bun:sqlite'
import type { Command } from 'commander'
import { personOf } from '../../core/event.ts'
import type { NamedPerson } from '../../storage/erasure/erasures.ts'
import type { OrganisationRecord } from '../../storage/organisations.ts'
import { organisationNamed } from '../data.ts'
import { UsageFailure } from '../failure.ts'

/** As long as the API takes one. */
const longestId = 128

/** A person of an organisation, as a command's arguments name them. */
export interface PersonAsked extends NamedPerson {
  organisation: OrganisationRecord
  id: string
}

/** The arguments and the option by which every command here names a person. */
export const addPersonArguments = (command: Command): Command =>
  command
    .argument('<org>', 'id or slug of the organisation')
    .argument('<person>', 'user id of the person')
    .option('--anonymous', 'the id is an anonymous one')

/** A mistyped id is more likely than a person without data. */
export const nothingStored = ({ person }: Pick<PersonAsked, 'person'>) =>
  `nothing is stored of this person: see that the id is right, and whether it is ${person.startsWith('u') ? 'an anonymous one (--anonymous)' : "a user's"}`

export function personAsked(
  database: Database,
  org: string,
  id: string,
  { anonymous = false }: { anonymous?: boolean },
): PersonAsked {
  if (id === '' || id.length > longestId) {
    throw new UsageFailure(`the id of a person has 1 to ${longestId} characters`)
  }
  const organisation = organisationNamed(database, org)
  const person = anonymous ? personOf(null, id) : personOf(id, null)
  return { organisation, id, orgRow: organisation.row, orgId: organisation.id, person }
}
