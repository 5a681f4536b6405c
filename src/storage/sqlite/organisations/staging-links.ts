import type { Database } from 'bun:sqlite'
import { and, asc, eq } from 'drizzle-orm'
import {
  type AuditOfBoth,
  type Environments,
  type LinkProblem,
  maxStaging,
  type Pair,
} from '../../interfaces/environments.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { countOf, inTransaction, type Tables, tables } from '../catalogue/change.ts'
import { organisations, stagingLinks } from '../database/schema.ts'
import { writeAudit } from './audit-log.ts'

const linked = {
  id: organisations.publicId,
  slug: organisations.slug,
  name: organisations.name,
  linkedAt: stagingLinks.linkedAt,
}

/** See `EnvironmentStore.links`. */
export function readLinks(database: Database, orgRow: number): Environments {
  const tx = tables(database)
  const production = tx
    .select(linked)
    .from(stagingLinks)
    .innerJoin(organisations, eq(organisations.id, stagingLinks.orgId))
    .where(eq(stagingLinks.stagingOrgId, orgRow))
    .get()
  const staging = tx
    .select(linked)
    .from(stagingLinks)
    .innerJoin(organisations, eq(organisations.id, stagingLinks.stagingOrgId))
    .where(eq(stagingLinks.orgId, orgRow))
    .orderBy(asc(organisations.slug))
    .all()
  return { production: production ?? null, staging }
}

/**
 * Why two organisations cannot be linked. Each can try flows for at most one other, and none for an
 * organisation that itself tries flows for another.
 */
export function linkProblem(tx: Tables, { production, staging }: InRows<Pair>): LinkProblem | null {
  if (production === staging) return 'itself'
  const productionOf = (row: number) =>
    tx
      .select({ row: stagingLinks.orgId })
      .from(stagingLinks)
      .where(eq(stagingLinks.stagingOrgId, row))
      .get()
  const stagingCountOf = (row: number) => countOf(tx, stagingLinks, eq(stagingLinks.orgId, row))
  if (productionOf(staging)) return 'linked'
  if (productionOf(production)) return 'is staging'
  if (stagingCountOf(staging) > 0) return 'has staging'
  return stagingCountOf(production) >= maxStaging ? 'too many' : null
}

function writeBoth(database: Database, pair: InRows<Pair>, audit: AuditOfBoth): void {
  writeAudit(database, pair.production, [audit.production])
  writeAudit(database, pair.staging, [audit.staging])
}

/** Links two organisations without a `linkProblem`, within a transaction. */
export function insertLink(
  database: Database,
  pair: InRows<Pair>,
  linkedAt: number,
  audit: AuditOfBoth,
): void {
  const { production: orgId, staging: stagingOrgId } = pair
  tables(database).insert(stagingLinks).values({ orgId, stagingOrgId, linkedAt }).run()
  writeBoth(database, pair, audit)
}

/** See `EnvironmentStore.link`. */
export function linkStaging(
  database: Database,
  pair: InRows<Pair>,
  at: number,
  audit: AuditOfBoth,
): LinkProblem | null {
  return inTransaction(database, tx => {
    const problem = linkProblem(tx, pair)
    if (problem === null) insertLink(database, pair, at, audit)
    return problem
  })
}

/** See `EnvironmentStore.unlink`. */
export function unlinkStaging(database: Database, pair: InRows<Pair>, audit: AuditOfBoth): boolean {
  return inTransaction(database, tx => {
    const isIt = and(
      eq(stagingLinks.orgId, pair.production),
      eq(stagingLinks.stagingOrgId, pair.staging),
    )
    const gone = tx.delete(stagingLinks).where(isIt).returning({ at: stagingLinks.linkedAt }).all()
    if (gone.length === 0) return false
    writeBoth(database, pair, audit)
    return true
  })
}
