import { AppError } from '../core/errors.ts'
import type { Actor } from '../core/organisation/audit.ts'
import type { Scope } from '../core/organisation/management-token.ts'
import type { KnownSession } from './port.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Who manages: the operator, at the socket in the data directory; the holder of a token; or somebody who is
 * signed in to the dashboard, where the operator lets themselves in by a link.
 */
export type Principal =
  | { kind: 'operator'; name: string }
  | { kind: 'token'; id: string; name: string; scopes: readonly Scope[] }
  | { kind: 'session'; name: string; scopes: readonly Scope[]; session: KnownSession }

/** What a management route asks of who calls it: a scope, that they are anybody, or the operator. */
export type Needs = Scope | 'any' | 'operator'

/** @throws AppError `forbidden`, which names the scope */
export function requireScope(principal: Principal, needs: Needs): void {
  if (principal.kind === 'operator' || needs === 'any') return
  if (needs === 'operator') {
    if (principal.kind === 'session' && principal.session.role === 'operator') return
    throw new AppError('forbidden', 'This is for the operator, on the machine of the server')
  }
  if (principal.scopes.includes(needs)) return
  throw new AppError('forbidden', `This needs the scope ${needs}`, { fields: { scope: needs } })
}

/** Whether who calls may do what a scope names. */
export const may = (principal: Principal | null, scope: Scope): boolean =>
  principal?.kind === 'operator' || principal?.scopes.includes(scope) === true

/** Who is told to have made the changes of a call. */
export function actorOf({ principal, requestId }: RequestContext): Actor {
  if (principal === null) throw new Error('The gate has not been passed')
  const { kind, name } = principal
  if (kind === 'operator') return { via: 'command line', name, requestId }
  if (kind === 'session') return { via: 'dashboard', name, requestId }
  return { via: 'token', name: `${name} (${principal.id})`, requestId }
}
