import type { Static, StaticDecode, TObject, TSchema } from '@sinclair/typebox'
import { HasTransform, TransformEncode } from '@sinclair/typebox/value'
import { type Auditor, auditor } from '../core/organisation/audit.ts'
import { freshReply } from './encoded.ts'
import { actorOf, type Needs } from './principal.ts'
import { replyWithProgress } from './progress-reply.ts'
import type { RequestContext } from './request-context.ts'
import { json } from './responder.ts'
import { managing, type Route, route } from './route.ts'

interface Declared<
  R extends TSchema | undefined,
  B extends TSchema | undefined,
  Q extends TObject | undefined,
> {
  /** What the handler returns, and the response's body; 204 without it. */
  returns?: R
  /** 200 unless set, 201 for a POST. */
  status?: 200 | 201 | 202
  /** When this response is given, for the API's description; a usual sentence unless set. */
  response?: string
  description?: string
  body?: B
  query?: Q
  /** Codes of errors that do not follow from the other fields. */
  errors?: Route['errors']
  isConditional?: boolean
  isLong?: boolean
  bodyLimitBytes?: number
  /** The response is compressed and has an `ETag`: a caller that has it gets a 304. */
  isShared?: boolean
  /** The value of the response's `ETag`, which callers send back as `If-Match`. */
  etag?: (returned: R extends TSchema ? StaticDecode<R> : null) => string
}

type Verb = <
  R extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
  Q extends TObject | undefined = undefined,
>(
  path: string,
  operation: string,
  summary: string,
  declared: Declared<R, B, Q>,
  handle: (
    call: RequestContext<
      null,
      B extends TSchema ? Static<B> : null,
      Q extends TObject ? Static<Q> : Record<string, never>
    >,
  ) => Returned<R> | Promise<Returned<R>>,
) => Route

type Returned<R> = R extends TSchema ? StaticDecode<R> : unknown

/** So that what is edited next is never an old copy. */
const revalidated = { 'Cache-Control': 'private, no-cache' }

const defaultResponses = { 200: 'Success.', 201: 'Created.', 202: 'Accepted.', 204: 'Done.' }

const verb = (needs: Needs, method: Route['method']): Verb =>
  function declare(path, operation, summary, declared, handle) {
    const { returns, response, errors, etag, isShared, ...rest } = declared
    const status = returns ? (declared.status ?? (method === 'POST' ? 201 : 200)) : 204
    const description = response ?? defaultResponses[status]
    const shape = returns
      ? { description, schema: returns, hasETag: etag !== undefined, isShared: isShared === true }
      : { description }
    return route({
      ...managing(needs),
      ...rest,
      ...(errors && { errors }),
      ...{ method, path, operation, summary },
      responses: { [status]: shape } as unknown as Route['responses'],
      async handle(call: RequestContext) {
        const returned = await handle(call as Parameters<typeof handle>[0])
        if (!returns) return { status }
        const body = toJson(returns, returned)
        if (isShared) return freshReply(call, body as object)
        if (!etag) return json(status, body)
        const headers = { ETag: etag(returned as Parameters<typeof etag>[0]), ...revalidated }
        return json(status, body, headers)
      },
    } as Route)
  }

/** What the description of a route with reported progress says after its own sentences. */
const onProgress =
  'With `Accept: application/x-ndjson`, the response is lines `{"progress": …}` and a last line ' +
  '`{"result": …}` or `{"failure": {error, code}}`. The work goes on if the client disconnects.'

/** A route whose work may take minutes: the handler reports its progress; see `replyWithProgress`. */
const work =
  (needs: Needs, method: Route['method']) =>
  <R extends TSchema, Q extends TObject | undefined = undefined>(
    path: string,
    operation: string,
    summary: string,
    {
      returns,
      response = defaultResponses[200],
      description = '',
      ...rest
    }: Pick<Declared<R, undefined, Q>, 'response' | 'description' | 'query' | 'errors'> & {
      returns: R
    },
    handle: (
      call: RequestContext<null, null, Q extends TObject ? Static<Q> : Record<string, never>>,
      report: (progress: object) => void,
    ) => Promise<StaticDecode<R>>,
  ): Route =>
    route({
      ...managing(needs),
      ...rest,
      ...{ method, path, operation, summary, isLong: true },
      description: `${description} ${onProgress}`.trim(),
      responses: { 200: { description: response, schema: returns } },
      handle: (call: RequestContext) =>
        replyWithProgress(call, async report =>
          toJson(returns, await handle(call as Parameters<typeof handle>[0], report)),
        ),
    } as Route)

/**
 * Declares management routes of one scope: `get(path, operation, summary, {returns, …}, handler)` and its
 * kin. The handler returns what the schema `returns` describes, with times as epoch milliseconds; it throws
 * an AppError for everything else.
 */
export const management = (needs: Needs) => ({
  get: verb(needs, 'GET'),
  post: verb(needs, 'POST'),
  put: verb(needs, 'PUT'),
  patch: verb(needs, 'PATCH'),
  remove: verb(needs, 'DELETE'),
  postWork: work(needs, 'POST'),
  removeWork: work(needs, 'DELETE'),
})

/** Whether a schema has times to encode. Found out once for each, because the answer never changes. */
const hasTimes = new WeakMap<TSchema, boolean>()

function holdsTimes(schema: TSchema): boolean {
  const known = hasTimes.get(schema) ?? HasTransform(schema, [])
  hasTimes.set(schema, known)
  return known
}

/** A value as its schema is sent: each `Instant`, epoch milliseconds in code, becomes an RFC 3339 text. */
export const toJson = <S extends TSchema>(schema: S, value: StaticDecode<S>): Static<S> =>
  (holdsTimes(schema) ? TransformEncode(schema, [], value) : value) as Static<S>

/** Makes the audit entries of one call: `auditOf(call)('token.revoke', id, {before, after, note})`. */
export const auditOf = (call: RequestContext): Auditor => auditor(actorOf(call), call.receivedAt)
