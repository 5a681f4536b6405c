import { AppError } from '../../core/errors.ts'
import type { Actor } from '../../core/organisation/audit.ts'
import { newId } from '../../core/organisation/ids.ts'
import {
  managementTokenHash,
  newManagementToken,
  type Scope,
} from '../../core/organisation/management-token.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { Clock } from '../../core/time/clock.ts'
import { dayMs } from '../../core/time/durations.ts'
import type { AccessStore, ManagementToken } from '../../storage/interfaces/access.ts'

/** What a new token should be. */
export interface TokenAsked {
  name: string
  scopes: readonly Scope[]
  /** Counted from now; 1 to 365. */
  expiresInDays: number
}

/** Creates, lists and revokes management tokens. */
export class Access {
  constructor(
    private readonly store: AccessStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes a token. Its text is returned here and never again.
   *
   * @param mayGive the scopes of the caller: nobody may give a scope that they lack
   * @throws AppError `forbidden`
   */
  async createToken(
    orgRef: OrganisationRef,
    { name, scopes, expiresInDays }: TokenAsked,
    actor: Actor,
    mayGive: readonly Scope[],
  ): Promise<ManagementToken & { token: string }> {
    const beyond = scopes.find(scope => !mayGive.includes(scope))
    if (beyond !== undefined) {
      throw new AppError('forbidden', `Only who has the scope ${beyond} can give it`, {
        fields: { scope: beyond },
      })
    }
    const token = newManagementToken()
    const at = this.clock.now()
    const expiresAt = at + expiresInDays * dayMs
    const made = { id: newId('token'), name, scopes, createdAt: at, expiresAt }
    await this.store.createToken(
      orgRef,
      { ...made, sha256: managementTokenHash(token) },
      {
        at,
        actor,
        action: 'token.create',
        subject: made.id,
        before: null,
        after: { name, scopes, expiresAt },
        note: null,
      },
    )
    return { ...made, lastUsedAt: null, revokedAt: null, token }
  }

  /** Revokes a token: it admits no request that starts after this. @throws AppError `not_found` */
  async revokeToken(orgRef: OrganisationRef, id: string, actor: Actor): Promise<void> {
    const at = this.clock.now()
    const audit = { at, actor, action: 'token.revoke', subject: id, before: null, after: null }
    if (await this.store.revokeToken(orgRef, id, { ...audit, note: null })) return
    throw new AppError('not_found', 'There is no such token, or it was revoked')
  }
}
