import type { PersonIds } from '../../../core/event/stored-event.ts'

/** Whom a search through the data looks for. */
export interface PersonMatcher {
  isUser(id: string): boolean
  isAnonymous(id: string): boolean
}

/**
 * A person's hash: HMAC-SHA-256 (RFC 2104) over the organisation's id and the person's name, its first
 * 16 bytes in hex. Without the key nobody can try names against it.
 *
 * @param key in base64
 * @param person `u` + user id, or `a` + anonymous id
 */
export function hashOfPerson(key: string, orgId: string, person: string): string {
  const hasher = new Bun.CryptoHasher('sha256', Buffer.from(key, 'base64'))
  return hasher.update(`${orgId}\0${person}`).digest('hex').slice(0, 32)
}

/** A few megabytes. */
const mostAnswers = 32_768

/**
 * Caches which names matched: the same people come again and again, and hashing a name costs more than
 * everything else that is done for an event. It forgets all answers when there are too many.
 */
export class MatchMemory {
  private readonly known = new Map<string, boolean>()

  /** @param scope within which a name belongs to one person only */
  about(scope: string, person: string, isIt: (person: string) => boolean): boolean {
    const name = `${scope} ${person}`
    const before = this.known.get(name)
    if (before !== undefined) return before
    if (this.known.size === mostAnswers) this.known.clear()
    const answer = isIt(person)
    this.known.set(name, answer)
    return answer
  }
}

/** Matches somebody of whom only the hash is known. */
export const hashedPerson = (key: string, orgId: string, hash: string): PersonMatcher =>
  hashedPeople(orgId, new Map([[key, new Set([hash])]]), new MatchMemory())

/**
 * Matches anybody whose hash is one of these, by key.
 *
 * @param answers shared by organisations; only for these hashes
 */
export function hashedPeople(
  orgId: string,
  hashesByKey: ReadonlyMap<string, ReadonlySet<string>>,
  answers: MatchMemory,
): PersonMatcher {
  const isIt = (person: string) => {
    for (const [key, hashes] of hashesByKey) {
      if (hashes.has(hashOfPerson(key, orgId, person))) return true
    }
    return false
  }
  return {
    isUser: id => answers.about(orgId, `u${id}`, isIt),
    isAnonymous: id => answers.about(orgId, `a${id}`, isIt),
  }
}

/** Matches somebody by name. */
export const personByName = (person: string): PersonMatcher => ({
  isUser: id => `u${id}` === person,
  isAnonymous: id => `a${id}` === person,
})

/** Whether something is a person's own. */
export const isOf = ({ isUser, isAnonymous }: PersonMatcher, { userId, anonymousId }: PersonIds) =>
  userId === null ? anonymousId !== null && isAnonymous(anonymousId) : isUser(userId)

/** Whether something is another user's, but was sent from a browser that had the person's anonymous id. */
export const isBeside = ({ isAnonymous }: PersonMatcher, { userId, anonymousId }: PersonIds) =>
  userId !== null && anonymousId !== null && isAnonymous(anonymousId)

/** Whether something is a person's own, or was sent from a browser that had their anonymous id. */
export const isNamedIn = (person: PersonMatcher, names: PersonIds) =>
  isOf(person, names) || isBeside(person, names)

/** Whether an organisation-wide name (`personOf`) is the person's. */
export const isPerson = ({ isUser, isAnonymous }: PersonMatcher, person: string) =>
  person.startsWith('u') ? isUser(person.slice(1)) : isAnonymous(person.slice(1))
