import { decodeJwt } from 'jose'
import { unauthorized } from '../../core/errors.ts'
import type { Role } from '../../core/organisation/access.ts'
import type { AuditEntry, Auditor } from '../../core/organisation/audit.ts'
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
import type {
  DashboardLink,
  DashboardStore,
  NewSession,
} from '../../storage/interfaces/dashboard.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import { type Identity, SignInFailure } from './open-id.ts'

export interface SignInDeps {
  store: DashboardStore
  stores: Pick<GateStores, 'catalogue'>
  tokens: SessionTokens
  clock: Clock
}

/** A session that has just started. */
export interface NewSignIn {
  /** The secret in the cookie. */
  secret: string
  endsAt: number
  organisation: Organisation
  session: NewSession
}

type Person = Pick<DashboardSession, 'role' | 'name' | 'subject' | 'issuer' | 'sid'>

const subject = 'dashboard'
const unknownPerson = { subject: null, issuer: null, sid: null }
/** Stands for the issuer if the operator named the person in a link. */
const linkIssuer = 'link'
const maxNameLength = 100

/** Creates a link. Its code is returned here and never again. */
export async function createLink(
  store: DashboardStore,
  organisation: Organisation,
  { role, name }: { role: Role; name: string },
  audit: Auditor,
): Promise<DashboardLink & { code: string }> {
  const code = newDashboardSecret()
  const entry = audit('dashboard.link', subject)
  const link = { role, name, expiresAt: entry.at + linkMs }
  const sha256 = dashboardSecretHash(code)!
  await store.createLink(organisation.ref, { ...link, sha256 }, { ...entry, after: link })
  return { ...link, code }
}

/** Signs in the first person to redeem a link's code. @throws AppError `unauthorized` */
export async function redeemCode(
  deps: SignInDeps,
  code: string,
  requestId: string,
): Promise<NewSignIn> {
  const { store, clock } = deps
  const sha256 = dashboardSecretHash(code)
  const link = sha256 === null ? null : await store.link(sha256)
  if (!link || link.expiresAt <= clock.now()) throw unauthorized('unknown_link')
  const organisation = organisationNamed(deps, link.organisation)
  if (!organisation) throw unauthorized('unknown_organisation')
  const { role, name } = link
  const person = { role, name, issuer: linkIssuer, subject: name, sid: null }
  const signIn = newSignIn(organisation, person, clock.now())
  const entry = auditEntryOf(signIn, 'link', requestId)
  const isFirst = await store.redeemLink(sha256!, signIn.session, entry)
  if (!isFirst) throw unauthorized('unknown_link')
  return signIn
}

/** Signs in the holder of a session token, for as long as the token is valid. @throws AppError `unauthorized` */
export async function redeemToken(
  deps: SignInDeps,
  token: string,
  requestId: string,
): Promise<NewSignIn> {
  const organisation = organisationNamed(deps, await deps.tokens.organisationOf(token))
  if (!organisation) throw unauthorized('unknown_organisation')
  const { exp = 0, iss, sub } = decodeJwt(token)
  const name = shown(isIdentifier(sub) ? sub : 'session token', maxNameLength)
  const person: Person = { ...unknownPerson, role: 'viewer', name }
  if (isIdentifier(sub) && isIdentifier(iss)) {
    person.subject = sub
    person.issuer = iss
  }
  const signIn = newSignIn(organisation, person, deps.clock.now(), exp * 1_000)
  const entry = auditEntryOf(signIn, 'session token', requestId)
  await deps.store.beginSession(organisation.ref, signIn.session, entry)
  return signIn
}

/** Signs in a person whom the identity provider has sent. @throws SignInFailure */
export async function redeemIdentity(
  deps: SignInDeps,
  { organisation: named, ...identity }: Identity,
  requestId: string,
): Promise<NewSignIn> {
  const organisation = organisationNamed(deps, named)
  if (!organisation) {
    throw new SignInFailure('unknown_organisation', `organisation not found: ${shown(named)}`)
  }
  const person = { ...identity, name: shown(identity.name, maxNameLength) }
  const signIn = newSignIn(organisation, person, deps.clock.now())
  const entry = auditEntryOf(signIn, 'identity provider', requestId)
  await deps.store.beginSession(organisation.ref, signIn.session, entry)
  return signIn
}

const organisationNamed = ({ stores }: SignInDeps, name: string) =>
  stores.catalogue().organisationByName(name)

function newSignIn(
  organisation: Organisation,
  person: Person,
  now: number,
  latestEnd = Number.POSITIVE_INFINITY,
): NewSignIn {
  const secret = newDashboardSecret()
  const endsAt = Math.floor(Math.min(now + sessionLongestMs, latestEnd))
  const sha256 = dashboardSecretHash(secret)!
  const session = { ...person, sha256, createdAt: now, lastSeenAt: now, endsAt }
  return { secret, endsAt, organisation, session }
}

function auditEntryOf({ session }: NewSignIn, by: string, requestId: string): AuditEntry {
  const { name, role, createdAt } = session
  return {
    at: createdAt,
    actor: { via: 'dashboard', name, requestId },
    action: 'dashboard.sign_in',
    subject,
    before: null,
    after: { role, by },
    note: null,
  }
}
