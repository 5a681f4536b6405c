import { AppError, invalid } from '../../core/errors.ts'
import { idsOf, personOf } from '../../core/event/event.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { withEscapes } from '../../core/text/unseen.ts'
import { isoTime } from '../../core/time/clock.ts'
import { TimeSlices } from '../../scheduling/cooperative.ts'
import type { NamedPerson, PeopleStore } from '../../storage/interfaces/people.ts'

/** A person by one of the two ids that they report with. */
export interface EitherId {
  userId?: string | undefined
  anonymousId?: string | undefined
}

/** @throws AppError `validation_failed` if both ids are named, or neither */
export function namedPerson({ ref, id }: Organisation, ids: EitherId): NamedPerson {
  const { userId = null, anonymousId = null } = ids
  if ((userId === null) === (anonymousId === null)) {
    throw invalid({ path: '', message: 'Send either a userId or an anonymousId' })
  }
  return { orgRef: ref, orgId: id, person: personOf(userId, anonymousId) }
}

/** An export can wait, so other work gets the thread for twice as long as the export works on it. */
const pauseMs = 6

const json = (value: unknown) => withEscapes(JSON.stringify(value))

/**
 * Everything that is stored about a person, as one JSON object with one row per line. It is generated as it
 * is read, because it may be of any size, and others get their turn meanwhile.
 *
 * @throws AppError `person_not_found` before the first piece, if nothing is stored
 */
export async function* exportOf(
  store: PeopleStore,
  { id, slug, name }: Organisation,
  person: NamedPerson,
  now: number,
): AsyncGenerator<string> {
  const { userId, anonymousId } = idsOf(person.person)
  const who = userId === null ? { anonymousId } : { userId }
  // The text before the next row. It is held back until there is a row.
  let before = `{"organisation":${json({ id, slug, name })},\n`
  before += `"person":${json(who)},\n"exportedAt":"${isoTime(now)}"`
  let isEmpty = true
  const slices = new TimeSlices(false, pauseMs)
  for (const { section, rows } of await store.stored(person)) {
    before += `,\n"${section}":[`
    let count = 0
    for (const row of rows) {
      if (row !== null) {
        yield `${before}${count++ === 0 ? '' : ','}\n${json(row)}`
        before = ''
      }
      await slices.rest()
    }
    before += ']'
    if (count > 0) isEmpty = false
  }
  if (isEmpty) throw new AppError('person_not_found', 'Nothing is stored about this person')
  yield `${before}}\n`
}
