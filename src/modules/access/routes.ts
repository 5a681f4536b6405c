import { scopes } from '../../core/organisation/management-token.ts'
import { type Clock, isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { actorOf } from '../../http/principal.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { AccessStore, ManagementToken } from '../../storage/interfaces/access.ts'
import { AuditLog, AuditQuery, CreatedToken, Me, NewToken, TokenList } from './schema.ts'
import { Access } from './service.ts'

const auditLines = 100

const scopesOf = ({ principal }: RequestContext) =>
  principal === null || principal.kind === 'operator' ? scopes : principal.scopes

const told = ({ createdAt, expiresAt, lastUsedAt, revokedAt, ...token }: ManagementToken) => ({
  ...token,
  createdAt: isoTime(createdAt),
  expiresAt: isoTime(expiresAt),
  lastUsedAt: isoTimeOrNull(lastUsedAt),
  revokedAt: isoTimeOrNull(revokedAt),
})

const anyone = managing('any')
const owns = managing('settings:write')

/** Routes that manage who may access an organisation, and that read its audit log. */
export function accessRoutes({
  access: store,
  clock,
}: {
  access: AccessStore
  clock: Clock
}): Route[] {
  const access = new Access(store, clock)
  return [
    route({
      ...anyone,
      method: 'GET',
      path: '/manage/me',
      operation: 'getMe',
      summary: 'Who the credential is, and what it may do',
      answers: { 200: { description: 'Who.', schema: Me } },
      handle(call) {
        const { id, slug, name, traits } = call.org
        const principal = call.principal!
        return json(200, {
          organisation: { id, slug, name },
          kind: principal.kind,
          name: principal.name,
          scopes: scopesOf(call),
          traits: [...traits],
        })
      },
    }),
    route({
      ...owns,
      method: 'GET',
      path: '/manage/tokens',
      operation: 'listTokens',
      summary: 'Management tokens, without their texts',
      answers: {
        200: { description: 'All that were ever made, newest first.', schema: TokenList },
      },
      async handle(call) {
        return json(200, { tokens: (await store.tokens(call.org.ref)).map(told) })
      },
    }),
    route({
      ...owns,
      method: 'POST',
      path: '/manage/tokens',
      operation: 'createToken',
      summary: 'Make a management token',
      body: NewToken,
      answers: { 201: { description: 'The token, returned once.', schema: CreatedToken } },
      async handle(call) {
        const made = await access.createToken(
          call.org.ref,
          call.body,
          actorOf(call),
          scopesOf(call),
        )
        return json(201, { ...told(made), token: made.token })
      },
    }),
    route({
      ...owns,
      method: 'DELETE',
      path: '/manage/tokens/:token_id',
      operation: 'revokeToken',
      refuses: ['not_found'],
      summary: 'Take a management token back, at once',
      answers: { 204: { description: 'Token revoked.' } },
      async handle(call) {
        await access.revokeToken(call.org.ref, call.params.token_id ?? '', actorOf(call))
        return { status: 204 }
      },
    }),
    route({
      ...owns,
      method: 'GET',
      path: '/manage/audit',
      operation: 'readAudit',
      summary: 'Who changed what, newest first',
      query: AuditQuery,
      answers: { 200: { description: `At most ${auditLines} lines.`, schema: AuditLog } },
      async handle(call) {
        const { before, subject } = call.query
        const lines = await store.audit(call.org.ref, {
          most: auditLines,
          ...(before !== undefined && { before: Number(before) }),
          ...(subject !== undefined && { subject }),
        })
        return json(200, {
          lines: lines.map(({ line, actor: { via, name, requestId }, at, ...rest }) => ({
            line,
            at: isoTime(at),
            via,
            actor: name,
            requestId,
            ...rest,
          })),
          next: lines.length === auditLines ? lines.at(-1)!.line : null,
        } satisfies AuditLog)
      },
    }),
  ]
}
