import { AppError } from '../../core/errors.ts'
import {
  managementTokenHash,
  newManagementToken,
  type Scope,
} from '../../core/organisation/access.ts'
import type { Auditor } from '../../core/organisation/audit.ts'
import { newId } from '../../core/organisation/ids.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { dayMs } from '../../core/time/durations.ts'
import type { AccessStore, ManagementToken } from '../../storage/interfaces/access.ts'

/**
 * Creates a management token. Its text is returned here and never again.
 *
 * @param grantable the scopes of the caller: nobody can grant a scope that they lack
 * @param createdById the member who creates it, with whose access it ends
 * @throws AppError `forbidden`
 */
export async function createToken(
  store: AccessStore,
  orgRef: OrganisationRef,
  { name, scopes, expiresInDays }: { name: string; scopes: Scope[]; expiresInDays: number },
  grantable: readonly Scope[],
  audit: Auditor,
  createdById: string | null = null,
): Promise<ManagementToken & { token: string }> {
  const missing = scopes.find(scope => !grantable.includes(scope))
  if (missing !== undefined) {
    const message = `You can only grant scopes that you have, and you lack ${missing}`
    throw new AppError('forbidden', message, { fields: { scope: missing } })
  }
  const token = newManagementToken()
  const id = newId('token')
  const entry = audit('token.create', id, { after: { name, scopes, expiresInDays } })
  const created = {
    id,
    name,
    scopes,
    createdAt: entry.at,
    expiresAt: entry.at + expiresInDays * dayMs,
  }
  const sha256 = managementTokenHash(token)
  await store.createToken(orgRef, { ...created, sha256, createdById }, entry)
  return { ...created, lastUsedAt: null, revokedAt: null, token }
}

/** Revokes a token: it admits no request that starts after this. @throws AppError `not_found` */
export async function revokeToken(
  store: AccessStore,
  orgRef: OrganisationRef,
  id: string,
  audit: Auditor,
): Promise<void> {
  if (await store.revokeToken(orgRef, id, audit('token.revoke', id))) return
  throw new AppError('not_found', 'Token not found, or already revoked.')
}
