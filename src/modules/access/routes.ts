import { scopes } from '../../core/organisation/access.ts'
import { auditOf, management } from '../../http/management.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Route } from '../../http/route.ts'
import type { AccessStore } from '../../storage/interfaces/access.ts'
import { AuditLog, AuditQuery, CreatedToken, Me, NewToken, TokenList } from './schema.ts'
import { createToken, revokeToken } from './service.ts'

const auditLines = 100

const scopesOf = ({ principal }: RequestContext) =>
  principal === null || principal.kind === 'operator' ? scopes : principal.scopes

const anyone = management('any')
const owner = management('settings:write')

/** Routes that manage who may access an organisation, and that read its audit log. */
export const accessRoutes = ({ access: store }: { access: AccessStore }): Route[] => [
  anyone.get('/manage/me', 'getMe', 'Get the caller and its scopes', { returns: Me }, call => {
    const { id, slug, name, traits } = call.org
    const { kind, name: caller } = call.principal!
    const organisation = { id, slug, name }
    return { organisation, kind, name: caller, scopes: [...scopesOf(call)], traits: [...traits] }
  }),
  owner.get(
    '/manage/tokens',
    'listTokens',
    'List management tokens, newest first',
    { returns: TokenList },
    async ({ org }) => ({ tokens: await store.tokens(org.ref) }),
  ),
  owner.post(
    '/manage/tokens',
    'createToken',
    'Create a management token',
    { body: NewToken, returns: CreatedToken, response: 'The token. It is returned only once.' },
    call => {
      const { principal } = call
      const createdById = principal?.kind === 'session' ? principal.session.memberId : null
      const grantable = scopesOf(call)
      return createToken(store, call.org.ref, call.body, grantable, auditOf(call), createdById)
    },
  ),
  owner.remove(
    '/manage/tokens/:token_id',
    'revokeToken',
    'Revoke a management token at once',
    { errors: ['not_found'], response: 'Token revoked.' },
    call => revokeToken(store, call.org.ref, call.params.token_id ?? '', auditOf(call)),
  ),
  owner.get(
    '/manage/audit',
    'readAudit',
    'List changes, newest first',
    { query: AuditQuery, returns: AuditLog, response: `At most ${auditLines} lines.` },
    async ({ org, query: { before, subject } }) => {
      const lines = await store.audit(org.ref, {
        most: auditLines,
        ...(before !== undefined && { before: Number(before) }),
        ...(subject !== undefined && { subject }),
      })
      return {
        lines: lines.map(({ actor: { via, name, requestId }, ...line }) => ({
          ...line,
          via,
          actor: name,
          requestId,
        })),
        next: lines.length === auditLines ? lines.at(-1)!.line : null,
      }
    },
  ),
]
