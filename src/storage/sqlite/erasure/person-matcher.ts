/** Whom a look through the data is about. */
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
 * Remembers who is whom: the same people come again and again, and to hash a name costs more than all
 * else that is done for an event. It forgets all of them where they become too many.
 */
export class MatchMemory {
  private readonly known = new Map<string, boolean>()

  /** @param scope within which the person's name is theirs alone */
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

const matcher = (
  isIt: (person: string) => boolean,
  scope = '',
  answers = new MatchMemory(),
): PersonMatcher => ({
  isUser: id => answers.about(scope, `u${id}`, isIt),
  isAnonymous: id => answers.about(scope, `a${id}`, isIt),
})

/** Somebody of whom only the hash is known. */
export const hashedPerson = (key: string, orgId: string, hash: string): PersonMatcher =>
  matcher(person => hashOfPerson(key, orgId, person) === hash)

/**
 * Anybody whose hash is one of these, by key.
 *
 * @param answers shared by organisations; of these hashes alone
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
  return matcher(isIt, orgId, answers)
}

/** Somebody by name. */
export const personByName = (person: string): PersonMatcher => ({
  isUser: id => `u${id}` === person,
  isAnonymous: id => `a${id}` === person,
})

/** The two ids by which an event or a run names people. */
interface Names {
  userId: string | null
  anonymousId: string | null
}

/** Whether something is a person's own. */
export const isOf = ({ isUser, isAnonymous }: PersonMatcher, { userId, anonymousId }: Names) =>
  userId === null ? anonymousId !== null && isAnonymous(anonymousId) : isUser(userId)

/** Whether something of another user was sent from a browser that went by the person's anonymous id. */
export const isBeside = ({ isAnonymous }: PersonMatcher, { userId, anonymousId }: Names) =>
  userId !== null && anonymousId !== null && isAnonymous(anonymousId)

/** Whether it is a person by the organisation-wide name (`personOf`). */
export const isPerson = ({ isUser, isAnonymous }: PersonMatcher, person: string) =>
  person.startsWith('u') ? isUser(person.slice(1)) : isAnonymous(person.slice(1))
