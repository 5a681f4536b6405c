import { AppError, invalid } from '../../core/errors.ts'
import type { Actor, AuditEntry } from '../../core/organisation/audit.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { isManagementToken, managementTokenHash } from '../../core/organisation/management-token.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { EnvironmentStore, LinkedOrganisation } from '../../storage/interfaces/environments.ts'
import type { GateStores, KnownTokens } from '../../storage/interfaces/gate.ts'
import { cannotLink } from './faults.ts'

type Named = Pick<Organisation, 'ref' | 'id' | 'slug'>

/** Links organisations that try flows for others. The operator may do so, or somebody who owns both. */
export class Linking {
  constructor(
    private readonly store: EnvironmentStore,
    private readonly stores: Pick<GateStores, 'catalogue'>,
    private readonly tokens: Pick<KnownTokens, 'find'>,
    private readonly clock: Clock,
  ) {}

  /** The organisation of a token that may change its settings. @throws AppError `validation_failed` */
  async ownedBy(token: string): Promise<Organisation> {
    const known = isManagementToken(token)
      ? await this.tokens.find(managementTokenHash(token))
      : null
    const works =
      known !== null &&
      known.revokedAt === null &&
      known.expiresAt > this.clock.now() &&
      known.scopes.includes('settings:write')
    const owned = works ? this.stores.catalogue().organisationByName(known.organisation) : null
    if (owned) return owned
    const message = 'Must be a management token that works, with the scope settings:write'
    throw invalid({ path: '/token', message })
  }

  /** @throws AppError `organisation_not_found` */
  async named(idOrSlug: string): Promise<Organisation> {
    const found = this.stores.catalogue().organisationByName(idOrSlug)
    if (!found) throw notLinked()
    return found
  }

  /** @throws AppError `cannot_link` */
  async link(production: Named, staging: Named, actor: Actor): Promise<void> {
    const at = this.clock.now()
    const pair = { production: production.ref, staging: staging.ref }
    const audit = this.audit('organisation.link', { production, staging }, actor, at)
    const problem = await this.store.link(pair, at, audit)
    if (problem) throw cannotLink(problem)
  }

  /** Ends the link between two organisations, whichever of them asks. @throws AppError `organisation_not_found` */
  async unlink(own: Organisation, idOrSlug: string, actor: Actor): Promise<void> {
    const { production, staging } = await this.store.links(own.ref)
    const other = [...(production ? [production] : []), ...staging].find(isCalled(idOrSlug))
    if (!other) throw notLinked()
    const both =
      other === production ? { production, staging: own } : { production: own, staging: other }
    const pair = { production: both.production.ref, staging: both.staging.ref }
    const audit = this.audit('organisation.unlink', both, actor, this.clock.now())
    if (!(await this.store.unlink(pair, audit))) throw notLinked()
  }

  /** An organisation that tries flows for this one. @throws AppError `organisation_not_found` */
  async stagingOf({ ref }: Organisation, idOrSlug: string): Promise<LinkedOrganisation> {
    const { staging } = await this.store.links(ref)
    const found = staging.find(isCalled(idOrSlug))
    if (!found) throw notLinked()
    return found
  }

  private audit(
    action: string,
    { production, staging }: { production: Named; staging: Named },
    actor: Actor,
    at: number,
  ) {
    const isLink = action === 'organisation.link'
    const entry = ({ id }: Named, what: Record<string, string>): AuditEntry => ({
      ...{ at, actor, action, subject: id, note: null },
      before: isLink ? null : what,
      after: isLink ? what : null,
    })
    return {
      production: entry(production, { staging: staging.slug }),
      staging: entry(staging, { production: production.slug }),
    }
  }
}

const isCalled = (idOrSlug: string) => (one: { id: string; slug: string }) =>
  one.id === idOrSlug || one.slug === idOrSlug

/** The same error if the organisation does not exist and if it is not linked, so that nobody learns of others. */
const notLinked = () =>
  new AppError('organisation_not_found', 'No organisation of that name is linked to this one')
