import { recordOf, textOf } from './page-values.ts'
import type { BrowserStore, Person } from './parts.ts'
import { uuid } from './uuid.ts'

const personKey = 'person'

/** What ids the API takes. */
const longestId = 128

/** Who is there, over page loads and tabs, until the page says otherwise. */
export function createPerson(store: BrowserStore) {
  const stranger = (): Person => ({
    userId: null,
    anonymousId: uuid(),
    userHash: null,
    traits: {},
  })

  const kept = (): Person | null => {
    const known = store.get<Person>(personKey)
    return isPerson(known) ? known : null
  }

  let person = kept() ?? stranger()
  const save = (changed: Person) => {
    person = changed
    store.set(personKey, person)
  }

  return {
    get current(): Person {
      return person
    },
    /** For what is kept of each person apart; user and visitor never meet. */
    get name(): string {
      return person.userId === null ? `a${person.anonymousId}` : `u${person.userId}`
    },
    /** @returns who it is, as against before */
    identify(
      userId: unknown,
      traits: unknown,
      userHash: unknown,
    ): 'nobody' | 'same' | 'changed' | 'other' {
      const id = idOf(userId)
      if (id === '') return 'nobody'
      const isOther = person.userId !== id
      const said: Person = {
        userId: id,
        // A second user of this browser is not linked to the first.
        anonymousId: isOther && person.userId !== null ? uuid() : person.anonymousId,
        userHash: typeof userHash === 'string' ? userHash : isOther ? null : person.userHash,
        traits: recordOf(traits) ?? (isOther ? {} : person.traits),
      }
      // Some pages say it with everything that they draw.
      if (JSON.stringify(said) === JSON.stringify(person)) return 'same'
      save(said)
      return isOther ? 'other' : 'changed'
    },
    reset: () => save(stranger()),
    save: () => save(person),
    /** Another page of this browser may have said something else meanwhile. */
    recall() {
      person = kept() ?? person
    },
  }
}

export type PersonStore = ReturnType<typeof createPerson>

/** What is no id, such as an object, would make one person of all. */
const idOf = (userId: unknown): string =>
  ['string', 'number', 'bigint'].includes(typeof userId) ? textOf(userId, longestId) : ''

const isText = (value: unknown) => typeof value === 'string'

/** Whoever else writes into this storage may have written anything. */
const isPerson = (value: Person | null): value is Person =>
  isText(value?.anonymousId) &&
  (value?.userId === null || isText(value?.userId)) &&
  recordOf(value?.traits) !== null
