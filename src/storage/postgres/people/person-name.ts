import { tablesByPerson } from '../../sqlite/erasure/erase-facts.ts'
import type { ErasureRow } from '../../sqlite/erasure/erasure-table.ts'
import { hashedPerson, type PersonMatcher } from '../../sqlite/erasure/person-matcher.ts'
import { letterIn, namesIn } from '../../sqlite/ledger/dead-letters.ts'
import type { Queries } from '../database/connection.ts'
import { pages } from '../database/pages.ts'

/** Where people are named, and how: everything that an erasure goes through. */
const named: readonly (readonly [table: string, person: string])[] = [
  ['events', "'u' || user_id"],
  ['events', "'a' || anonymous_id"],
  ['runs', 'person'],
  ['runs', "'u' || least_user_id"],
  ['runs', "'a' || least_anonymous_id"],
  ...tablesByPerson.map(([table]) => [table, 'person'] as const),
  ['run_owners', 'person'],
  ['caused_events', 'person'],
  ['person_changes', 'person'],
  ['step_reports', 'person'],
  ['step_health', 'person'],
]

/** The block size of HMAC-SHA-256, in bytes (RFC 2104). */
const blockBytes = 64

/** The padded key of an HMAC, with which each of its two hashes begins. */
function padded(key: string, byte: number): string {
  const block = Buffer.alloc(blockBytes)
  Buffer.from(key, 'base64').copy(block)
  return Buffer.from(block.map(value => value ^ byte)).toString('hex')
}

const lettersPerPage = 500

/**
 * Whose hash it is (`hashOfPerson`), searched for by PostgreSQL itself; null if nothing is stored of them. Needed
 * only if whoever asked for an erasure is gone: then only the person's own rows tell the name.
 */
export async function nameOfErased(
  queries: Queries,
  { orgRow, orgId, key, person: hash }: ErasureRow,
): Promise<string | null> {
  const inner = `${padded(key, 0x36)}${Buffer.from(`${orgId}\0`).toString('hex')}`
  for (const [table, person] of named) {
    const found = await queries.get<{ person: string }>(
      `select person from (
        select distinct ${person} as person from ${table} where org_id = $1
      ) as named
      where person is not null and substr(sha256(
        decode($2, 'hex') || sha256(decode($3, 'hex') || convert_to(person, 'UTF8'))
      ), 1, 16) = decode($4, 'hex')
      limit 1`,
      ...[orgRow, padded(key, 0x5c), inner, hash],
    )
    if (found) return found.person
  }
  return nameInLetters(queries, orgRow, hashedPerson(key, orgId, hash))
}

async function nameInLetters(
  queries: Queries,
  orgRow: number,
  person: PersonMatcher,
): Promise<string | null> {
  const next = ({ seq }: { seq: number }) =>
    queries.all<{ seq: number; event: string }>(
      `select seq, event from dead_letters where org_id = $1 and seq > $2
      order by seq limit ${lettersPerPage}`,
      ...[orgRow, seq],
    )
  for await (const page of pages(next, { seq: 0 }, lettersPerPage)) {
    for (const { event } of page) {
      const { userId, anonymousId } = namesIn(letterIn(event))
      if (userId !== null && person.isUser(userId)) return `u${userId}`
      if (anonymousId !== null && person.isAnonymous(anonymousId)) return `a${anonymousId}`
    }
  }
  return null
}
