import type { Database } from 'bun:sqlite'
import { and, asc, eq, gt, isNull, lte, max, or } from 'drizzle-orm'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import { limitsWith } from '../../../core/organisation/limits.ts'
import type { LinkProblem } from '../../interfaces/environments.ts'
import type {
  IdentitySecret,
  IssuedKey,
  NewOrganisation,
  NewStaging,
  OrganisationChange,
  OrganisationQuery,
  OrganisationRead,
  Replacement,
  Settings,
} from '../../interfaces/organisations.ts'
import { maxOrganisations } from '../../shared/live-state.ts'
import { announce, countOf, inTransaction, type Tables, tables } from '../catalogue/change.ts'
import { identitySecrets, organisations, snippetKeys } from '../database/schema.ts'
import { revisionOf } from '../flows/reader.ts'
import { writeAudit } from './audit-log.ts'
import { insertLink, linkProblem } from './staging-links.ts'

const settingsOf = ({ id: _, publicId, ...row }: typeof organisations.$inferSelect): Settings => ({
  ...row,
  id: publicId,
  limits: limitsWith(row.overrides),
})

/** Whether there is any organisation; without one, every credential is unknown. */
export const hasOrganisation = (database: Database): boolean =>
  countOf(tables(database), organisations) > 0

/** See `OrganisationStore.list`. */
export function pageOfOrganisations(
  database: Database,
  { after, named }: OrganisationQuery,
  most: number,
): { organisations: Settings[]; total: number } {
  const tx = tables(database)
  const { publicId, slug } = organisations
  const rows = tx
    .select()
    .from(organisations)
    .where(
      and(
        after === undefined ? undefined : gt(slug, after),
        named === undefined ? undefined : or(eq(publicId, named), eq(slug, named)),
      ),
    )
    .orderBy(asc(slug))
    .limit(most)
    .all()
  return { organisations: rows.map(settingsOf), total: countOf(tx, organisations) }
}

/** Stands for an organisation that does not exist yet. */
const noRow = 0

const rowNamed = (tx: Tables, id: string): number | undefined =>
  tx
    .select({ row: organisations.id })
    .from(organisations)
    .where(eq(organisations.publicId, id))
    .get()?.row

/** See `OrganisationStore.add`. */
export function addOrganisation(
  database: Database,
  { id, slug, name, snippetKey, createdAt }: NewOrganisation,
  audit: AuditEntry,
  staging?: NewStaging,
): 'added' | 'slug taken' | 'full' | LinkProblem {
  return inTransaction(database, tx => {
    if (tx.select().from(organisations).where(eq(organisations.slug, slug)).get()) {
      return 'slug taken'
    }
    const newest =
      tx
        .select({ row: max(organisations.id) })
        .from(organisations)
        .get()?.row ?? 0
    if (newest >= maxOrganisations) return 'full'
    const production = staging && rowNamed(tx, staging.production)
    const problem = production && linkProblem(tx, { production, staging: noRow })
    if (problem) return problem
    const { row } = tx
      .insert(organisations)
      .values({ publicId: id, slug, name, createdAt })
      .returning({ row: organisations.id })
      .get()
    tx.insert(snippetKeys).values({ key: snippetKey, orgId: row, createdAt }).run()
    writeAudit(database, row, [audit])
    if (staging && production) {
      insertLink(database, { production, staging: row }, createdAt, staging.audit)
    }
    announce(database, row)
    return 'added'
  })
}

/** See `OrganisationStore.read`. */
export function readOrganisation(
  database: Database,
  orgRow: number,
  now: number,
): OrganisationRead {
  // In one snapshot, because what is read must belong to the revision.
  return database.transaction(() => {
    const tx = tables(database)
    const row = tx.select().from(organisations).where(eq(organisations.id, orgRow)).get()
    if (!row) throw new Error('The organisation is gone')
    return {
      revision: revisionOf(database, orgRow),
      organisation: settingsOf(row),
      keys: keysOf(database, orgRow, now),
      secrets: secretsOf(database, orgRow, now),
    }
  })()
}

/** Which keys, or which secrets, of an organisation still work after a moment. */
const workingAfter = (
  { orgId, retiredAt }: typeof snippetKeys | typeof identitySecrets,
  orgRow: number,
  at: number,
) => and(eq(orgId, orgRow), or(isNull(retiredAt), gt(retiredAt, at)))

/** The current one first. */
const inOrder = <T extends { worksUntil: number | null }>(all: T[]): T[] =>
  all.sort((a, b) => (b.worksUntil ?? Infinity) - (a.worksUntil ?? Infinity))

/** The current key first, then those that still work for their grace time. */
export function keysOf(database: Database, orgRow: number, now: number): IssuedKey[] {
  const { key, createdAt, retiredAt: worksUntil } = snippetKeys
  const works = workingAfter(snippetKeys, orgRow, now)
  return inOrder(
    tables(database).select({ key, createdAt, worksUntil }).from(snippetKeys).where(works).all(),
  )
}

function secretsOf(database: Database, orgRow: number, now: number): IdentitySecret[] {
  const { secret, createdAt, retiredAt: worksUntil } = identitySecrets
  const works = workingAfter(identitySecrets, orgRow, now)
  return inOrder(
    tables(database)
      .select({ secret, createdAt, worksUntil })
      .from(identitySecrets)
      .where(works)
      .all(),
  )
}

/** See `OrganisationStore.change`. */
export function changeOrganisation(
  database: Database,
  orgRow: number,
  { revision, settings, snippetKey, identitySecret, audit }: OrganisationChange,
): boolean {
  return inTransaction(database, tx => {
    if (revisionOf(database, orgRow) !== revision) return false
    if (settings && Object.keys(settings).length > 0) {
      tx.update(organisations).set(settings).where(eq(organisations.id, orgRow)).run()
    }
    if (snippetKey) replaceKey(tx, orgRow, snippetKey)
    if (identitySecret) replaceSecret(tx, orgRow, identitySecret)
    writeAudit(database, orgRow, audit)
    announce(database, orgRow)
    return true
  })
}

function replaceKey(tx: Tables, orgRow: number, { text, createdAt, othersEndAt }: Replacement) {
  tx.update(snippetKeys)
    .set({ retiredAt: othersEndAt })
    .where(workingAfter(snippetKeys, orgRow, othersEndAt))
    .run()
  tx.insert(snippetKeys).values({ key: text, orgId: orgRow, createdAt }).run()
}

function replaceSecret(tx: Tables, orgRow: number, { text, createdAt, othersEndAt }: Replacement) {
  const { orgId, retiredAt } = identitySecrets
  tx.update(identitySecrets)
    .set({ retiredAt: othersEndAt })
    .where(workingAfter(identitySecrets, orgRow, othersEndAt))
    .run()
  // A secret that no longer works has no use, and could only be stolen.
  tx.delete(identitySecrets)
    .where(and(eq(orgId, orgRow), lte(retiredAt, createdAt)))
    .run()
  tx.insert(identitySecrets).values({ orgId: orgRow, secret: text, createdAt }).run()
}
