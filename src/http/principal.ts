import { AppError } from '../core/errors.ts'
import type { Scope } from '../core/organisation/access.ts'
import type { Actor } from '../core/organisation/audit.ts'
import type { Bucket } from '../core/organisation/limits.ts'
import type { KnownSession } from '../storage/interfaces/gate.ts'

/**
 * Who makes a management call: the operator, at the socket in the data directory; the holder of a token; or
 * a person who is signed in to the dashboard, where the operator signs in with a link.
 */
export type Principal =
  | { kind: 'operator'; name: string }
  | { kind: 'token'; id: string; name: string; scopes: readonly Scope[] }
  | { kind: 'session'; name: string; scopes: readonly Scope[]; session: KnownSession }

/**
 * What a management route requires of its caller: a scope, nothing in particular (`any`), or that it is the
 * operator.
 */
export type Needs = Scope | 'any' | 'operator'

/**
 * Who may call a route, and which bucket counts its requests: a page or back end with a snippet key, an
 * analyst with a session token, a manager of the organisation, or the dashboard by its cookie. What anyone
 * may read belongs to no organisation, so it is not counted; nor are calls of the operator.
 */
export type RouteAccess =
  | { caller: 'snippet key' | 'session token'; bucket: Bucket }
  | { caller: 'management'; bucket: 'manage'; needs: Needs }
  | { caller: 'dashboard session'; bucket: Bucket; readers: 'own pages' }
  | { caller: 'anyone'; bucket?: never }

/** @throws AppError `forbidden`, which names the scope */
export function requireScope(principal: Principal, needs: Needs): void {
  if (principal.kind === 'operator' || needs === 'any') return
  if (needs === 'operator') {
    if (principal.kind === 'session' && principal.session.role === 'operator') return
    throw new AppError('forbidden', "Only the operator may do this, on the server's machine")
  }
  if (principal.scopes.includes(needs)) return
  throw new AppError('forbidden', `This needs the scope ${needs}`, { fields: { scope: needs } })
}

/** Whether the caller may do what a scope names. */
export const may = (principal: Principal | null, scope: Scope): boolean =>
  principal?.kind === 'operator' || principal?.scopes.includes(scope) === true

/** The actor that is recorded for the changes of a call. */
export function actorOf({
  principal,
  requestId,
}: {
  principal: Principal | null
  requestId: string
}): Actor {
  if (principal === null) throw new Error('The gate has not been passed')
  const { kind, name } = principal
  if (kind === 'operator') return { via: 'command line', name, requestId }
  if (kind === 'session') return { via: 'dashboard', name, requestId }
  return { via: 'token', name: `${name} (${principal.id})`, requestId }
}
