import type { Database } from 'bun:sqlite'
import { and, eq, gt, isNull, lte, or } from 'drizzle-orm'
import { isoTime } from '../core/clock.ts'
import { newIdentitySecret } from '../core/ids.ts'
import type { IdentityMode } from '../core/verified-identity.ts'
import { announce, ChangeRefused, inTransaction, type Tables, tables } from './catalogue-change.ts'
import { identitySecrets, organisations } from './schema.ts'

/** A secret for hashes of user ids; `retiredAt` is null for the current one, else when it stops working. */
export interface IdentitySecret {
  secret: string
  createdAt: number
  retiredAt: number | null
}

/** How an organisation verifies identities: its mode, and the secrets that work, the current one first. */
export interface IdentityRecord {
  mode: IdentityMode
  secrets: IdentitySecret[]
}

export function identityOf(database: Database, orgRow: number, now: number): IdentityRecord {
  return identityIn(tables(database), orgRow, now)
}

function identityIn(tx: Tables, orgRow: number, now: number): IdentityRecord {
  const organisation = tx
    .select({ mode: organisations.identityMode })
    .from(organisations)
    .where(eq(organisations.id, orgRow))
    .get()
  if (!organisation) throw new ChangeRefused('the organisation is gone')
  const works = or(isNull(identitySecrets.retiredAt), gt(identitySecrets.retiredAt, now))
  const secrets = tx
    .select({
      secret: identitySecrets.secret,
      createdAt: identitySecrets.createdAt,
      retiredAt: identitySecrets.retiredAt,
    })
    .from(identitySecrets)
    .where(and(eq(identitySecrets.orgId, orgRow), works))
    .all()
    .sort((a, b) => (b.retiredAt ?? Infinity) - (a.retiredAt ?? Infinity))
  return { mode: organisation.mode, secrets }
}

function addSecret(tx: Tables, orgRow: number, now: number): void {
  tx.insert(identitySecrets)
    .values({ orgId: orgRow, secret: newIdentitySecret(), createdAt: now })
    .run()
}

/** Sets whether hashes are looked at; whoever first looks gets a secret. `off` keeps what there is. */
export function setIdentityMode(
  database: Database,
  orgRow: number,
  mode: IdentityMode,
  now: number,
): IdentityRecord {
  return inTransaction(database, tx => {
    const { secrets } = identityIn(tx, orgRow, now)
    if (mode !== 'off' && secrets.length === 0) addSecret(tx, orgRow, now)
    tx.update(organisations).set({ identityMode: mode }).where(eq(organisations.id, orgRow)).run()
    announce(tx, orgRow)
    return identityIn(tx, orgRow, now)
  })
}

/**
 * Makes a new current secret. The one before works for the grace time; without one, none of before
 * works any more. There are never more than two.
 *
 * @throws ChangeRefused while the one before the current still works, unless all are ended
 */
export function rotateIdentitySecret(
  database: Database,
  orgRow: number,
  { now, graceMs }: { now: number; graceMs: number },
): IdentityRecord {
  return inTransaction(database, tx => {
    const [, before] = identityIn(tx, orgRow, now).secrets
    if (before && graceMs > 0) {
      throw new ChangeRefused(
        `two secrets work already, the one before until ${isoTime(before.retiredAt ?? now)}: rotate after that, or with --now, which ends both at once`,
      )
    }
    const ofOrganisation = eq(identitySecrets.orgId, orgRow)
    const retiredAt = now + graceMs
    const isLater = or(isNull(identitySecrets.retiredAt), gt(identitySecrets.retiredAt, retiredAt))
    tx.update(identitySecrets).set({ retiredAt }).where(and(ofOrganisation, isLater)).run()
    // A secret that works no more is good for nothing but to be stolen.
    tx.delete(identitySecrets)
      .where(and(ofOrganisation, lte(identitySecrets.retiredAt, now)))
      .run()
    addSecret(tx, orgRow, now)
    announce(tx, orgRow)
    return identityIn(tx, orgRow, now)
  })
}
