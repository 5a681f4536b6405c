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

/** The events of a page mostly share their person: who was asked for last is not hashed again. */
function remembered(isIt: (id: string) => boolean): (id: string) => boolean {
  let last: string | null = null
  let was = false
  return id => {
    if (id === last) return was
    last = id
    was = isIt(id)
    return was
  }
}

const matcher = (isIt: (person: string) => boolean): PersonMatcher => ({
  isUser: remembered(id => isIt(`u${id}`)),
  isAnonymous: remembered(id => isIt(`a${id}`)),
})

/** Somebody of whom only the hash is known. */
export const hashedPerson = (key: string, orgId: string, hash: string): PersonMatcher =>
  matcher(person => hashOfPerson(key, orgId, person) === hash)

/** Anybody whose hash is one of these, by key. */
export const hashedPeople = (
  orgId: string,
  hashesByKey: ReadonlyMap<string, ReadonlySet<string>>,
): PersonMatcher =>
  matcher(person => {
    for (const [key, hashes] of hashesByKey) {
      if (hashes.has(hashOfPerson(key, orgId, person))) return true
    }
    return false
  })

/** Somebody by name. */
export const namedPerson = (person: string): PersonMatcher => matcher(other => other === person)

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
