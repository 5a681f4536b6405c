import { AppError, invalid } from '../../core/errors.ts'
import { idsOf, personOf } from '../../core/event/event.ts'
import type { Actor } from '../../core/organisation/audit.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { withEscapes } from '../../core/text/unseen.ts'
import { type Clock, isoTime } from '../../core/time/clock.ts'
import { TimeSlices } from '../../scheduling/cooperative.ts'
import type {
  Erased,
  ErasureProgress,
  NamedPerson,
  PeopleStore,
} from '../../storage/interfaces/people.ts'

/** An organisation as an export names it. */
export type PersonsOrganisation = Pick<Organisation, 'ref' | 'id' | 'slug' | 'name'>

/** A person by one of the two ids that they report with. */
export interface EitherId {
  userId?: string | undefined
  anonymousId?: string | undefined
}

/** @throws AppError `validation_failed` if both ids are named, or neither */
export function namedPerson({ ref, id }: PersonsOrganisation, ids: EitherId): NamedPerson {
  const { userId = null, anonymousId = null } = ids
  if ((userId === null) === (anonymousId === null)) {
    throw invalid({ path: '', message: 'Name a userId or an anonymousId, one of the two' })
  }
  return { orgRef: ref, orgId: id, person: personOf(userId, anonymousId) }
}

/** An export can wait, so other work gets the thread for twice as long as the export works on it. */
const pauseMs = 6

const json = (value: unknown) => withEscapes(JSON.stringify(value))

/** Exports and erases a person's data, and accepts their reports again. */
export class People {
  constructor(
    private readonly store: PeopleStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Everything that is stored about a person, as one JSON object with one row per line. It is generated as
   * it is read, because it may be of any size, and others get their turn meanwhile.
   *
   * @throws AppError `person_not_found` before the first piece, if nothing is stored
   */
  async *stored(organisation: PersonsOrganisation, ids: EitherId): AsyncGenerator<string> {
    const person = namedPerson(organisation, ids)
    const { id, slug, name } = organisation
    const { userId, anonymousId } = idsOf(person.person)
    const who = userId === null ? { anonymousId } : { userId }
    // The text before the next row. It is held back until there is a row.
    let before = `{"organisation":${json({ id, slug, name })},\n`
    before += `"person":${json(who)},\n"exportedAt":"${isoTime(this.clock.now())}"`
    let isEmpty = true
    const slices = new TimeSlices(false, pauseMs)
    for (const { section, rows } of await this.store.stored(person)) {
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
    if (isEmpty) throw new AppError('person_not_found', 'Nothing is stored of this person')
    yield `${before}}\n`
  }

  /** See `PeopleStore.erase`. A second call finds nothing more to erase. @throws AppError */
  erase(
    organisation: PersonsOrganisation,
    ids: EitherId,
    options: { compact: boolean },
    actor: Actor,
    tell: (progress: ErasureProgress) => void,
  ): Promise<Erased> {
    const person = namedPerson(organisation, ids)
    return this.store.erase(person, options, this.auditOf('person.erase', actor), tell)
  }

  /** Accepts reports of a person who was erased again. @throws AppError `person_not_found` */
  async allow(organisation: PersonsOrganisation, ids: EitherId, actor: Actor): Promise<void> {
    const person = namedPerson(organisation, ids)
    if (await this.store.allow(person, this.auditOf('person.allow', actor))) return
    throw new AppError(
      'person_not_found',
      'This person was not erased, so there is nothing to allow',
    )
  }

  private auditOf(action: string, actor: Actor) {
    return { at: this.clock.now(), actor, action, before: null, after: null, note: null }
  }
}
