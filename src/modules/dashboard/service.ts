import { decodeJwt } from 'jose'
import { AppError, unauthorized } from '../../core/errors.ts'
import type { Role } from '../../core/organisation/access.ts'
import type { AuditEntry, Auditor } from '../../core/organisation/audit.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { newId } from '../../core/organisation/ids.ts'
import {
  dashboardSecretHash,
  isIdentifier,
  linkMs,
  newDashboardSecret,
  type SignInMethod,
  sessionTimes,
} from '../../core/organisation/sessions.ts'
import { shown } from '../../core/text/wording.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Principal } from '../../http/principal.ts'
import type { SessionTokens } from '../../http/session-tokens.ts'
import type { DashboardStore, NewSession } from '../../storage/interfaces/dashboard.ts'
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
}

const subject = 'dashboard'
/** Stand for the issuer if the operator creates a link, or if a token does not say whose it is. */
const linkIssuer = 'link'
const tokenIssuer = 'token'
const ownIssuers = [linkIssuer, tokenIssuer, 'invitation']
const maxNameLength = 100

/**
 * Creates the operator's link. Its code is returned here and never again. Links of one name are for the same
 * member; without a name, those of one operator and role.
 */
export async function createLink(
  store: DashboardStore,
  organisation: Organisation,
  { role, name }: { role: Role; name?: string | undefined },
  principal: Principal,
  audit: Auditor,
) {
  const code = newDashboardSecret()
  const entry = audit('dashboard.link', subject)
  const link = {
    ...{ sha256: dashboardSecretHash(code)!, id: newId('invitation') },
    ...({ method: 'link', issuer: linkIssuer, role } as const),
    subject: name ?? `${role} ${principal.name}`,
    name: name ?? shown(nameOfLink(principal), maxNameLength),
    isNamed: name !== undefined,
    createdBy: principal.name,
    createdById: principal.kind === 'session' ? principal.session.memberId : null,
    createdAt: entry.at,
    expiresAt: entry.at + linkMs,
  }
  const { expiresAt } = link
  const after = { role, name: link.name, expiresAt }
  await store.createLink(organisation.ref, link, { ...entry, after })
  return { ...after, code }
}

/** What members and audit log call somebody who came by a link and has given no name. */
const nameOfLink = ({ kind, name }: Principal) =>
  kind === 'operator'
    ? `Sign-in link (made on the server by ${name})`
    : `Sign-in link (made by ${name})`

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
  const { secret, session } = newSession(link.method, clock.now())
  const by = link.method === 'link' ? 'link' : 'invitation'
  const isFirst = await store.redeemLink(sha256!, session, signInEntry(session, by, requestId))
  if (!isFirst) throw unauthorized('unknown_link')
  return { secret, endsAt: session.endsAt, organisation }
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
  const isKnown = isIdentifier(sub) && isIdentifier(iss) && !ownIssuers.includes(iss)
  const who = {
    ...(isKnown ? { issuer: iss, subject: sub } : { issuer: tokenIssuer, subject: '' }),
    name: shown(isIdentifier(sub) ? sub : 'session token', maxNameLength),
    ...({ isNamed: true, method: 'token', role: null } as const),
  }
  const { secret, session } = newSession('token', deps.clock.now())
  session.endsAt = Math.floor(Math.min(session.endsAt, exp * 1_000))
  session.isReadOnly = true
  const entry = signInEntry(session, 'session token', requestId)
  await deps.store.beginSession(organisation.ref, who, session, entry)
  return { secret, endsAt: session.endsAt, organisation }
}

/** Signs in a person whom the identity provider has sent. @throws SignInFailure */
export async function redeemIdentity(
  deps: SignInDeps,
  { organisation: named, sid, ...identity }: Identity,
  requestId: string,
): Promise<NewSignIn> {
  const organisation = organisationNamed(deps, named)
  if (!organisation) {
    throw new SignInFailure('unknown_organisation', `organisation not found: ${shown(named)}`)
  }
  const name = shown(identity.name, maxNameLength)
  const who = { ...identity, name, isNamed: true, method: 'provider' } as const
  const { secret, session } = newSession('provider', deps.clock.now())
  session.sid = sid
  const entry = signInEntry(session, 'identity provider', requestId)
  await deps.store.beginSession(organisation.ref, who, session, entry)
  return { secret, endsAt: session.endsAt, organisation }
}

/**
 * Names a member who came by a link without a name.
 *
 * @throws AppError `validation_failed` if another member has the name, or the member has one
 */
export async function nameMember(
  store: DashboardStore,
  organisation: Organisation,
  memberId: string,
  name: string,
  audit: Auditor,
): Promise<void> {
  const outcome = await store.nameMember(
    organisation.ref,
    memberId,
    name,
    audit('member.name', name),
  )
  if (outcome === 'named') return
  const message = outcome === 'taken' ? 'Another member has this name.' : 'You have a name already.'
  throw new AppError('validation_failed', message, { details: [{ path: '/name', message }] })
}

const organisationNamed = ({ stores }: SignInDeps, name: string) =>
  stores.catalogue().organisationByName(name)

function newSession(method: SignInMethod, now: number): { secret: string; session: NewSession } {
  const secret = newDashboardSecret()
  const { idleMs, maxMs } = sessionTimes[method]
  const sha256 = dashboardSecretHash(secret)!
  const times = { createdAt: now, lastSeenAt: now, idleMs, endsAt: now + maxMs }
  return { secret, session: { sha256, isReadOnly: false, sid: null, ...times } }
}

/** Storage adds who it is, and with what role. */
const signInEntry = ({ createdAt }: NewSession, by: string, requestId: string): AuditEntry => ({
  at: createdAt,
  actor: { via: 'dashboard', name: '', requestId },
  action: 'dashboard.sign_in',
  subject,
  before: null,
  after: { by },
  note: null,
})
