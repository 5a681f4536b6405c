import { type PersonIds, personOf } from '../../../core/event/event.ts'

/** Whether a name (`personOf`) belongs to somebody of whom only a hash is known. */
export type PersonMatcher = (person: string) => boolean

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
const maxAnswers = 32_768

/**
 * Matches anybody whose hash is one of these, by key.
 *
 * @param answers caches which names matched: the same people come again and again, and hashing a name costs more
 *   than everything else that is done for an event. Organisations share it, but only for the same hashes.
 */
export function hashedPeople(
  orgId: string,
  hashesByKey: ReadonlyMap<string, ReadonlySet<string>>,
  answers = new Map<string, boolean>(),
): PersonMatcher {
  const isListed = (person: string) =>
    hashesByKey.entries().some(([key, hashes]) => hashes.has(hashOfPerson(key, orgId, person)))
  return person => {
    const name = `${orgId} ${person}`
    const known = answers.get(name)
    if (known !== undefined) return known
    if (answers.size >= maxAnswers) answers.clear()
    const answer = isListed(person)
    answers.set(name, answer)
    return answer
  }
}

/** Matches one person. */
export const hashedPerson = (key: string, orgId: string, hash: string): PersonMatcher =>
  hashedPeople(orgId, new Map([[key, new Set([hash])]]))

/** Whether something is a person's own. */
export const isOf = (isThem: PersonMatcher, { userId, anonymousId }: PersonIds) =>
  (userId !== null || anonymousId !== null) && isThem(personOf(userId, anonymousId))

/** Whether something is another user's, but was sent from a browser that had the person's anonymous id. */
export const isBeside = (isThem: PersonMatcher, { userId, anonymousId }: PersonIds) =>
  userId !== null && anonymousId !== null && isThem(`a${anonymousId}`)
