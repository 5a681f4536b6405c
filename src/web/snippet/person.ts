import type { Keep, Person } from './parts.ts'
import { uuid } from './uuid.ts'

const personKey = 'person'

/** What ids the API takes. */
const longestId = 128

/** Who is there, over page loads and tabs, until the page says otherwise. */
export function createPerson(keep: Keep) {
  const stranger = (): Person => ({
    userId: null,
    anonymousId: uuid(),
    userHash: null,
    traits: {},
  })

  let person = keep.get<Person>(personKey) ?? stranger()
  const save = (changed: Person) => {
    person = changed
    keep.set(personKey, person)
  }

  return {
    get current(): Person {
      return person
    },
    /** For what is kept of each person apart; user and visitor never meet. */
    get name(): string {
      return person.userId === null ? `a${person.anonymousId}` : `u${person.userId}`
    },
    /** @returns whether it is somebody else than before */
    identify(userId: unknown, traits: unknown, userHash: unknown): boolean {
      const id = String(userId ?? '').slice(0, longestId)
      if (id === '') return false
      const isOther = person.userId !== id
      save({
        userId: id,
        // A second user of this browser is not linked to the first.
        anonymousId: isOther && person.userId !== null ? uuid() : person.anonymousId,
        userHash: typeof userHash === 'string' ? userHash : isOther ? null : person.userHash,
        traits: isRecord(traits) ? traits : isOther ? {} : person.traits,
      })
      return isOther
    },
    reset: () => save(stranger()),
    /** Nothing of anybody stays behind. */
    forget() {
      person = stranger()
      keep.remove(personKey)
    },
    save: () => save(person),
  }
}

export type PersonStore = ReturnType<typeof createPerson>

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
