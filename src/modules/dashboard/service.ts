import { decodeJwt } from 'jose'
import { unauthorized } from '../../core/errors.ts'
import type { Role } from '../../core/organisation/access.ts'
import type { Actor, AuditEntry } from '../../core/organisation/audit.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import {
  type DashboardSession,
  dashboardSecretHash,
  isIdentifier,
  linkMs,
  newDashboardSecret,
  sessionLongestMs,
} from '../../core/organisation/sessions.ts'
import { shown } from '../../core/text/wording.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { SessionTokens } from '../../http/session-tokens.ts'
import {
  type DashboardLink,
  type DashboardStore,
  type Identity,
  SignInFailure,
} from '../../storage/interfaces/dashboard.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'

/** A session that has just begun. */
export interface Begun {
  /** The secret in the cookie. */
  secret: string
  endsAt: number
  organisation: Organisation
}

type Who = Pick<DashboardSession, 'role' | 'name' | 'subject' | 'issuer' | 'sid'>

const subject = 'dashboard'
const nobody = { subject: null, issuer: null, sid: null }
/** Stands for the issuer if the operator named the person in a link. */
const named = 'link'
const maxNameLength = 100

/** Lets people into the dashboard by a link, a session token, or an identity provider. */
export class SignIns {
  constructor(
    private readonly store: DashboardStore,
    private readonly stores: Pick<GateStores, 'catalogue'>,
    private readonly sessionTokens: SessionTokens,
    private readonly clock: Clock,
  ) {}

  /** Makes a link. Its code is returned here and never again. */
  async createLink(
    organisation: Organisation,
    { role, name }: { role: Role; name: string },
    actor: Actor,
  ): Promise<DashboardLink & { code: string }> {
    const at = this.clock.now()
    const code = newDashboardSecret()
    const link = { role, name, expiresAt: at + linkMs }
    await this.store.createLink(organisation.ref, hashed(code, link), {
      ...{ at, actor, action: 'dashboard.link', subject, before: null, note: null },
      after: { ...link },
    })
    return { ...link, code }
  }

  /** Signs in the first person to redeem a link's code. @throws AppError `unauthorized` */
  async redeemCode(code: string, requestId: string): Promise<Begun> {
    const sha256 = dashboardSecretHash(code)
    const link = sha256 === null ? null : await this.store.link(sha256)
    if (!link || link.expiresAt <= this.clock.now()) throw unauthorized('unknown_link')
    const organisation = await this.organisationCalled(link.organisation)
    if (!organisation) throw unauthorized('unknown_organisation')
    const { role, name } = link
    const begun = this.begin(organisation, { ...nobody, role, name, issuer: named, subject: name })
    const isFirst = await this.store.redeemLink(
      sha256!,
      begun.session,
      this.auditOf(begun.session, 'link', requestId),
    )
    if (!isFirst) throw unauthorized('unknown_link')
    return begun
  }

  /** Signs in the holder of a session token, for as long as the token is valid. @throws AppError `unauthorized` */
  async redeemToken(token: string, requestId: string): Promise<Begun> {
    const organisation = await this.organisationCalled(
      await this.sessionTokens.organisationOf(token),
    )
    if (!organisation) throw unauthorized('unknown_organisation')
    const { exp = 0, iss, sub } = decodeJwt(token)
    const who = isIdentifier(sub) && isIdentifier(iss) ? { subject: sub, issuer: iss } : nobody
    const name = shown(isIdentifier(sub) ? sub : 'session token', maxNameLength)
    const begun = this.begin(organisation, { ...nobody, ...who, role: 'viewer', name }, exp * 1_000)
    await this.store.beginSession(
      organisation.ref,
      begun.session,
      this.auditOf(begun.session, 'session token', requestId),
    )
    return begun
  }

  /** Signs in a person that the identity provider has sent. @throws SignInFailure */
  async redeemIdentity(
    { organisation: name, ...identity }: Identity,
    requestId: string,
  ): Promise<Begun> {
    const organisation = await this.organisationCalled(name)
    if (!organisation) {
      throw new SignInFailure('unknown_organisation', `there is no organisation ${shown(name)}`)
    }
    const begun = this.begin(organisation, {
      ...identity,
      name: shown(identity.name, maxNameLength),
    })
    await this.store.beginSession(
      organisation.ref,
      begun.session,
      this.auditOf(begun.session, 'identity provider', requestId),
    )
    return begun
  }

  private async organisationCalled(name: string): Promise<Organisation | null> {
    return this.stores.catalogue().organisationByName(name)
  }

  private begin(organisation: Organisation, who: Who, latest = Number.POSITIVE_INFINITY) {
    const at = this.clock.now()
    const secret = newDashboardSecret()
    const endsAt = Math.floor(Math.min(at + sessionLongestMs, latest))
    const session = hashed(secret, { ...who, createdAt: at, lastSeenAt: at, endsAt })
    return { secret, endsAt, organisation, session }
  }

  private auditOf({ name, role }: Who, by: string, requestId: string): AuditEntry {
    return {
      at: this.clock.now(),
      actor: { via: 'dashboard', name, requestId },
      ...{ action: 'dashboard.sign_in', subject, before: null, after: { role, by }, note: null },
    }
  }
}

const hashed = <T>(secret: string, of: T): T & { sha256: string } => ({
  ...of,
  sha256: dashboardSecretHash(secret)!,
})
