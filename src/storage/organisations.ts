import type { Database } from 'bun:sqlite'
import { and, asc, eq, gt, isNull, max, or } from 'drizzle-orm'
import { type Bucket, largestLimit, limitsWith } from '../core/buckets.ts'
import { newId, newSnippetKey } from '../core/ids.ts'
import { longestRetentionDays } from '../core/retention.ts'
import { announce, ChangeRefused, inTransaction, type Tables, tables } from './catalogue-change.ts'
import { organisations, snippetKeys } from './schema.ts'
import { mostOrganisations } from './shared.ts'

/** An organisation as the operator sees it. */
export interface OrganisationRecord {
  row: number
  id: string
  slug: string
  name: string
  limits: Record<Bucket, number>
  /** The limits that differ from the default because the operator set them. */
  overrides: Partial<Record<Bucket, number>>
  /** Empty where the snippet may run anywhere. */
  origins: string[]
  /** For how many days raw events are accepted and kept; null where the server's setting holds. */
  retentionDays: number | null
  /** Whether browsers that ask not to be tracked are heeded. */
  honoursDoNotTrack: boolean
  createdAt: number
}

/** A snippet key; `retiredAt` is null for the current one, else the moment it stops working. */
export interface SnippetKey {
  key: string
  createdAt: number
  retiredAt: number | null
}

const longestSlug = 63
const longestName = 200
const slugPattern = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/

/** The slug that a name suggests: ASCII letters and digits with `-` between; may be empty. */
export function slugFrom(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, longestSlug)
    .replace(/^-+|-+$/g, '')
}

const recordOf = (row: typeof organisations.$inferSelect): OrganisationRecord => ({
  row: row.id,
  id: row.publicId,
  slug: row.slug,
  name: row.name,
  limits: limitsWith(row.limits),
  overrides: row.limits,
  origins: row.origins,
  retentionDays: row.retentionDays,
  honoursDoNotTrack: row.honoursDoNotTrack,
  createdAt: row.createdAt,
})

function checkedName(given: string): string {
  const name = given.trim()
  if (name === '') throw new ChangeRefused('an organisation needs a name')
  if (name.length > longestName || !name.isWellFormed() || /\p{Cc}/u.test(name)) {
    throw new ChangeRefused(
      `a name is at most ${longestName} characters of text without line breaks`,
    )
  }
  return name
}

function checkedSlug(given: string | undefined, name: string): string {
  const slug = given ?? slugFrom(name)
  if (given === undefined && slug === '') {
    throw new ChangeRefused('the name has no letter a-z or digit to make a slug of: choose --slug')
  }
  if (slug.length > longestSlug || !slugPattern.test(slug)) {
    throw new ChangeRefused(
      `"${slug.slice(0, longestSlug)}" is no slug: use a-z, 0-9 and "-" between them, at most ${longestSlug} characters`,
    )
  }
  return slug
}

/** Makes an organisation with its first snippet key. @throws ChangeRefused where it cannot be */
export function createOrganisation(
  database: Database,
  { name: givenName, slug: givenSlug }: { name: string; slug?: string },
  now: number,
): { organisation: OrganisationRecord; snippetKey: string } {
  const name = checkedName(givenName)
  const slug = checkedSlug(givenSlug, name)
  return inTransaction(database, tx => {
    if (tx.select().from(organisations).where(eq(organisations.slug, slug)).get()) {
      const advice = givenSlug === undefined ? 'choose another with --slug' : 'choose another'
      throw new ChangeRefused(`the slug "${slug}" is taken: ${advice}`)
    }
    const newest =
      tx
        .select({ row: max(organisations.id) })
        .from(organisations)
        .get()?.row ?? 0
    if (newest >= mostOrganisations) {
      throw new ChangeRefused(
        `there are ${newest} organisations, and one Cairn has room for ${mostOrganisations}: start another one with a data directory of its own`,
      )
    }
    const row = tx
      .insert(organisations)
      .values({ publicId: newId('org'), slug, name, createdAt: now })
      .returning()
      .get()
    const snippetKey = newSnippetKey()
    tx.insert(snippetKeys).values({ key: snippetKey, orgId: row.id, createdAt: now }).run()
    announce(tx, row.id)
    return { organisation: recordOf(row), snippetKey }
  })
}

/** Whether there is any organisation; without one, every credential is unknown. */
export const hasOrganisation = (database: Database): boolean =>
  tables(database).select({ row: organisations.id }).from(organisations).limit(1).get() !==
  undefined

/** All organisations, by slug. */
export function listOrganisations(database: Database): OrganisationRecord[] {
  const rows = tables(database).select().from(organisations).orderBy(asc(organisations.slug)).all()
  return rows.map(recordOf)
}

/** By id or slug; null where there is none. */
export function findOrganisation(database: Database, idOrSlug: string): OrganisationRecord | null {
  const isIt = or(eq(organisations.publicId, idOrSlug), eq(organisations.slug, idOrSlug))
  const row = tables(database).select().from(organisations).where(isIt).get()
  return row ? recordOf(row) : null
}

/** Sets limits by bucket, requests per window; null takes an override back. */
export function setLimits(
  database: Database,
  orgRow: number,
  changes: Partial<Record<Bucket, number | null>>,
): OrganisationRecord {
  for (const [bucket, limit] of Object.entries(changes)) {
    if (limit === null || (Number.isInteger(limit) && limit >= 1 && limit <= largestLimit)) continue
    throw new ChangeRefused(
      `the limit of ${bucket} must be a whole number from 1 to ${largestLimit}`,
    )
  }
  return inTransaction(database, tx => {
    const limits = { ...organisationAt(tx, orgRow).limits }
    for (const [bucket, limit] of Object.entries(changes) as [Bucket, number | null][]) {
      if (limit === null) delete limits[bucket]
      else limits[bucket] = limit
    }
    return changed(tx, orgRow, { limits })
  })
}

/** Sets for how many days raw events are accepted and kept; null for as long as the server is told. */
export function setRetention(
  database: Database,
  orgRow: number,
  retentionDays: number | null,
): OrganisationRecord {
  const isRight =
    retentionDays === null ||
    (Number.isInteger(retentionDays) && retentionDays >= 1 && retentionDays <= longestRetentionDays)
  if (!isRight) {
    throw new ChangeRefused(
      `events are kept for a whole number of days, from 1 to ${longestRetentionDays}`,
    )
  }
  return inTransaction(database, tx => {
    organisationAt(tx, orgRow)
    return changed(tx, orgRow, { retentionDays })
  })
}

/** Sets whether browsers that ask not to be tracked are heeded. */
export function setDoNotTrack(
  database: Database,
  orgRow: number,
  honoursDoNotTrack: boolean,
): OrganisationRecord {
  return inTransaction(database, tx => {
    organisationAt(tx, orgRow)
    return changed(tx, orgRow, { honoursDoNotTrack })
  })
}

/**
 * One origin as browsers send it (RFC 6454, section 6.2): scheme, host and a port that is not the
 * scheme's own, in lower case. Extension schemes count too.
 */
export function checkedOrigin(given: string): string {
  const parts = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@\s]+)(.*)$/i.exec(given.trim())
  const refuse = (advice: string): never => {
    throw new ChangeRefused(`"${given.slice(0, 100)}" is no origin: ${advice}`)
  }
  if (!parts) return refuse('write scheme://host, such as https://app.example.com')
  const [, scheme = '', authority = '', rest = ''] = parts
  const bare = `${scheme}://${authority}`.toLowerCase()
  if (rest !== '') return refuse(`an origin has no path: write ${bare}`)
  if (/^https?$/i.test(scheme)) {
    if (!URL.canParse(bare) || authority.includes('*')) {
      return refuse('write the host in full, such as https://app.example.com')
    }
    return new URL(bare).origin
  }
  if (!/^[a-z0-9._-]+(?::\d{1,5})?$/i.test(authority)) {
    return refuse('write scheme://host, such as chrome-extension://abcdefghijklmnop')
  }
  return bare
}

/** Sets the origins that the snippet may run on; none at all means everywhere. */
export function setOrigins(
  database: Database,
  orgRow: number,
  given: readonly string[],
): OrganisationRecord {
  const origins = [...new Set(given.map(checkedOrigin))].sort()
  return inTransaction(database, tx => {
    organisationAt(tx, orgRow)
    return changed(tx, orgRow, { origins })
  })
}

/** The current key first, then those that still work for their grace time. */
export function keysOf(database: Database, orgRow: number, now: number): SnippetKey[] {
  const works = or(isNull(snippetKeys.retiredAt), gt(snippetKeys.retiredAt, now))
  return tables(database)
    .select({
      key: snippetKeys.key,
      createdAt: snippetKeys.createdAt,
      retiredAt: snippetKeys.retiredAt,
    })
    .from(snippetKeys)
    .where(and(eq(snippetKeys.orgId, orgRow), works))
    .all()
    .sort((a, b) => (b.retiredAt ?? Infinity) - (a.retiredAt ?? Infinity))
}

/**
 * Makes a new current key. The one before works for the grace time; without one, no other key of
 * the organisation works any more, those of earlier rotations included.
 */
export function rotateKey(
  database: Database,
  orgRow: number,
  { now, graceMs }: { now: number; graceMs: number },
): { snippetKey: string; previousUntil: number } {
  return inTransaction(database, tx => {
    organisationAt(tx, orgRow)
    const retiredAt = now + graceMs
    const isLater = or(isNull(snippetKeys.retiredAt), gt(snippetKeys.retiredAt, retiredAt))
    tx.update(snippetKeys)
      .set({ retiredAt })
      .where(and(eq(snippetKeys.orgId, orgRow), isLater))
      .run()
    const snippetKey = newSnippetKey()
    tx.insert(snippetKeys).values({ key: snippetKey, orgId: orgRow, createdAt: now }).run()
    announce(tx, orgRow)
    return { snippetKey, previousUntil: retiredAt }
  })
}

function organisationAt(tx: Tables, orgRow: number) {
  const row = tx.select().from(organisations).where(eq(organisations.id, orgRow)).get()
  if (!row) throw new ChangeRefused('the organisation is gone')
  return row
}

function changed(
  tx: Tables,
  orgRow: number,
  change: Partial<typeof organisations.$inferInsert>,
): OrganisationRecord {
  tx.update(organisations).set(change).where(eq(organisations.id, orgRow)).run()
  announce(tx, orgRow)
  return recordOf(organisationAt(tx, orgRow))
}
