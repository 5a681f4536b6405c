import type { Command } from '../commands.ts'
import {
  decodeEvents,
  decodeFacts,
  type EncodedBatch,
  type EventText,
  encodeEvents,
} from '../event-text.ts'
import { isBeside, isOf, isPerson, type PersonMatcher } from './person-matcher.ts'

/** What of newly arrived reports is left, where people were erased: nothing of theirs is stored again. */

/** An anonymous id beside the user id of another is left out, and the other's report is kept. */
function withoutIdBeside<Names extends { userId: string | null; anonymousId: string | null }>(
  names: Names,
  people: PersonMatcher,
): Names {
  return isBeside(people, names) ? { ...names, anonymousId: null } : names
}

/** A report by a route for one person; null where it is of somebody who was erased. */
export function reportWithout(command: Command, people: PersonMatcher): Command | null {
  if (command.type === 'complete' || command.type === 'tick') {
    return isOf(people, command) ? null : withoutIdBeside(command, people)
  }
  if (command.type !== 'health' || command.person === null) return command
  return isPerson(people, command.person) ? null : command
}

/** A batch's events that are left, and which they are. */
export interface LeftOfBatch {
  text: EventText
  /** Their places in the batch; null where all of them are left. */
  places: readonly number[] | null
  /** The places of those of people who were erased. */
  erased: readonly number[]
}

/** @param people undefined where nobody of the organisation was erased */
export function batchWithout(
  { orgRow, receivedAt, text }: EncodedBatch,
  people: PersonMatcher | undefined,
): LeftOfBatch {
  const facts = people && decodeFacts(text, orgRow, 'events')
  if (!people || !facts?.some(fact => isOf(people, fact) || isBeside(people, fact))) {
    return { text, places: null, erased: [] }
  }
  const all = [...facts.keys()]
  const erased = all.filter(place => isOf(people, facts[place]!))
  const places = all.filter(place => !erased.includes(place))
  const events = decodeEvents({ ...text, receivedAts: [receivedAt], source: 'events' })
  const kept = places.map(place => withoutIdBeside(events[place]!, people))
  return { text: encodeEvents(kept), places, erased }
}
