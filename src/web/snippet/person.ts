import { recordOf, textOf } from './page-values.ts'
import type { BrowserStore, Person } from './parts.ts'
import { uuid } from './uuid.ts'

const personKey = 'person'

/** The longest id that the API takes. */
const maxIdLength = 128

/** A person and the group that they belong to, which rules see as one of their traits. */
interface Kept extends Person {
  group?: Readonly<Record<string, unknown>>
}

/** Who is there, over page loads and tabs, until the page names another person. */
export function createPerson(store: BrowserStore) {
  const stranger = (): Kept => ({
    userId: null,
    anonymousId: uuid(),
    userHash: null,
    traits: {},
  })

  const kept = (): Kept | null => {
    const known = store.get<Kept>(personKey)
    return isPerson(known) ? known : null
  }

  let person = kept() ?? stranger()
  const save = (changed: Kept) => {
    person = changed
    store.set(personKey, person)
  }

  return {
    get current(): Person {
      const { traits, group } = person
      return group ? { ...person, traits: { ...traits, group } } : person
    },
    /** The name under which each person's data is kept. Users and visitors never share one. */
    get name(): string {
      return person.userId === null ? `a${person.anonymousId}` : `u${person.userId}`
    },
    /** @returns who it is, compared with before */
    identify(
      userId: unknown,
      traits: unknown,
      userHash: unknown,
    ): 'nobody' | 'same' | 'changed' | 'other' {
      const id = idOf(userId)
      if (id === '') return 'nobody'
      const isOther = person.userId !== id
      const next: Kept = {
        userId: id,
        // A second user of this browser is not linked to the first.
        anonymousId: isOther && person.userId !== null ? uuid() : person.anonymousId,
        userHash: typeof userHash === 'string' ? userHash : isOther ? null : person.userHash,
        traits: recordOf(traits) ?? (isOther ? {} : person.traits),
        // The visitor who is identified now may already have been in the group.
        ...(person.group && (!isOther || person.userId === null) && { group: person.group }),
      }
      // Some pages identify the user at every render.
      if (JSON.stringify(next) === JSON.stringify(person)) return 'same'
      save(next)
      return isOther ? 'other' : 'changed'
    },
    /** @returns whether it is valid: an id, or null for none */
    group(groupId: unknown, traits: unknown): boolean {
      const { group: _, ...alone } = person
      if (groupId === null) save(alone)
      const id = idOf(groupId)
      if (id !== '') save({ ...alone, group: { ...recordOf(traits), id } })
      return id !== '' || groupId === null
    },
    reset: () => save(stranger()),
    save: () => save(person),
    /** Another page of this browser may have identified somebody else meanwhile. */
    recall() {
      person = kept() ?? person
    },
  }
}

export type PersonStore = ReturnType<typeof createPerson>

/** A value that is no id, such as an object, would turn everybody into one person. */
const idOf = (userId: unknown): string =>
  ['string', 'number', 'bigint'].includes(typeof userId) ? textOf(userId, maxIdLength) : ''

const isText = (value: unknown) => typeof value === 'string'

/** Other scripts write into this storage too, and may have written anything. */
const isPerson = (value: Kept | null): value is Kept =>
  isText(value?.anonymousId) &&
  (value?.userId === null || isText(value?.userId)) &&
  recordOf(value?.traits) !== null
