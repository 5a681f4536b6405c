import { Type } from '@sinclair/typebox'
import {
  AppError,
  type ErrorCode,
  mostProblems,
  statuses,
  type UnauthorizedCause,
  unauthorizedCauseOf,
} from '../core/errors.ts'
import { defaultLimits, limitUncounted, windowMs } from '../core/organisation/buckets.ts'
import type { Clock } from '../core/time/clock.ts'
import type { RequestContext } from './request-context.ts'

/** What is told of every answer, for the log and the metrics. */
export interface RequestSummary {
  requestId: string
  method: string
  /** The route's pattern, never the path: a path may hold ids. Null where there is no route. */
  route: string | null
  organisation: string | null
  status: number
  durationMs: number
  /** Why it was refused. */
  code?: ErrorCode | undefined
  /** Why it was a 401, which the caller is not told. */
  cause?: UnauthorizedCause | undefined
  /** The whole reason of a 500 or 503. */
  error?: unknown
}

const exposed = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'ETag',
  'X-Request-Id',
].join(', ')

/**
 * The headers of a reply that is given again and again. A response copies the headers that it is
 * made with, which costs a third of naming them one by one; so they are kept, and of those that
 * differ from one response to the next only what has changed is set before the next is made.
 */
class HeaderTemplate {
  readonly headers: Headers
  private lastLimit = -1
  private lastRemaining = -1
  private lastReset = -1
  private lastOrigin: string | null = null

  /** @param fixed those that are the same each time */
  constructor(fixed: Readonly<Record<string, string>>) {
    this.headers = new Headers(fixed)
  }

  set limit(requests: number) {
    if (requests === this.lastLimit) return
    this.lastLimit = requests
    this.headers.set('X-RateLimit-Limit', `${requests}`)
  }

  set remaining(requests: number) {
    if (requests === this.lastRemaining) return
    this.lastRemaining = requests
    this.headers.set('X-RateLimit-Remaining', `${requests}`)
  }

  /** Unix seconds. */
  set reset(seconds: number) {
    if (seconds === this.lastReset) return
    this.lastReset = seconds
    this.headers.set('X-RateLimit-Reset', `${seconds}`)
  }

  set requestId(id: string) {
    this.headers.set('X-Request-Id', id)
  }

  /**
   * Who may read the answer (Fetch standard, CORS protocol). Any origin is let in with credentials:
   * a beacon always sends them, and no cookie opens anything by itself.
   */
  set origin(origin: string | null) {
    if (origin === this.lastOrigin) return
    const { headers } = this
    if (origin === null) {
      headers.delete('Access-Control-Allow-Origin')
      headers.delete('Access-Control-Allow-Credentials')
      headers.delete('Access-Control-Expose-Headers')
    } else {
      headers.set('Access-Control-Allow-Origin', origin)
      headers.set('Access-Control-Allow-Credentials', 'true')
      headers.set('Access-Control-Expose-Headers', exposed)
    }
    this.lastOrigin = origin
  }
}

/** What a route answers; headers that every response has are added on the way out. */
export interface Reply {
  status: number
  body?: string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array> | null
  headers?: Record<string, string>
  /** Each as a `Set-Cookie` says it. */
  cookies?: readonly string[]
}

/** Names the nodes that may still answer by what was before a change. */
export const behindHeader = 'Cairn-Nodes-Behind' as const

export const jsonType = 'application/json; charset=utf-8'

const jsonHeaders = { 'Content-Type': jsonType }

/** A JSON answer. */
export function json(status: number, value: unknown, headers?: Record<string, string>): Reply {
  return {
    status,
    body: JSON.stringify(value),
    headers: headers ? { ...jsonHeaders, ...headers } : jsonHeaders,
  }
}

/** What every reply has, unless it says otherwise: nothing is kept, and nothing is guessed. */
const always = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  Vary: 'Origin',
}

/**
 * One template for each record of headers that a reply is made with: prepared bodies and refusals hand
 * in the same record again and again.
 */
const templates = new WeakMap<object, HeaderTemplate>()

function templateOf(ofReply: Readonly<Record<string, string>>): HeaderTemplate {
  const known = templates.get(ofReply)
  if (known) return known
  const template = new HeaderTemplate({ ...always, ...ofReply })
  templates.set(ofReply, template)
  return template
}

const nobody = { taken: null, organisation: null }

/** What a response shows of the limit that its request was counted by. */
function setLimits(template: HeaderTemplate, call: RequestContext, status: number): void {
  // A 401 says nothing about whose credential it was, not even when it was a good one elsewhere.
  const { taken, organisation } = status === 401 ? nobody : call
  const limits = organisation?.limits ?? defaultLimits
  const limit = call.route?.bucket ? limits[call.route.bucket] : limitUncounted
  const resetInMs = taken?.resetInMs ?? windowMs
  template.limit = limit
  template.remaining = taken ? taken.remaining : limit
  template.reset = Math.ceil((call.receivedAt + resetInMs) / 1000)
}

const noHeaders = {}

/** No page of another origin reads what the management API answers, nor what is for our own pages. */
const isForNoOtherOrigin = ({ route }: RequestContext): boolean =>
  route !== null && (route.caller === 'management' || route.readers !== undefined)

/** The response as it leaves. */
function response(
  call: RequestContext,
  { status, body = null, headers = noHeaders, cookies }: Reply,
): Response {
  const template = templateOf(headers)
  setLimits(template, call, status)
  template.origin = isForNoOtherOrigin(call) ? null : call.origin
  template.requestId = call.requestId
  const made = new Response(body, { status, headers: template.headers })
  if (cookies) for (const cookie of cookies) made.headers.append('Set-Cookie', cookie)
  return made
}

/** No answer at all: the connection is cut before anything of one has left. */
const cutOff = (): Reply => ({
  status: statuses.in_doubt,
  body: new ReadableStream({ pull: controller => controller.error() }),
})

/** The answer to a preflight (Fetch standard, CORS protocol). */
export const preflight: Reply = {
  status: 204,
  headers: {
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, OPTIONS',
    'Access-Control-Allow-Headers': 'authorization, content-type, if-none-match',
    'Access-Control-Max-Age': '7200',
  },
}

/** Is told of every answer: what counts them, or logs them. */
export interface AnswerObserver {
  answered(summary: RequestSummary): void
  /** An answer that had begun, and was told as such, broke off: a download whose reading failed. */
  brokeOff?(summary: RequestSummary): void
}

export interface ResponderDeps {
  clock: Clock
  observers: readonly AnswerObserver[]
}

/** The one way out: every answer, good or bad, is told of and gets the headers that all have. */
export class Responder {
  constructor(private readonly deps: ResponderDeps) {}

  answer(call: RequestContext, reply: Reply): Response {
    this.tell(this.account(call, reply.status))
    return response(call, reply)
  }

  /** Whatever was thrown, as an answer. */
  refuse(call: RequestContext, error: unknown): Response {
    const refusal = refusalOf(error)
    if (refusal.code === 'in_doubt') return this.refuseWith(call, refusal, cutOff())
    return this.refuseWith(call, refusal, failure(refusal))
  }

  /** A refusal whose reply says more than the refusal itself does. */
  refuseWith(call: RequestContext, refusal: AppError, reply: Reply): Response {
    const account = this.account(call, reply.status)
    account.code = refusal.code
    account.cause = unauthorizedCauseOf(refusal)
    if (reply.status >= 500) account.error = refusal.cause ?? refusal
    this.tell(account)
    return response(call, reply)
  }

  /** An answer that had begun could not be sent to its end. */
  breakOff(call: RequestContext, error: unknown): void {
    const account = this.account(call, 500)
    account.error = error
    for (const observer of this.deps.observers) observer.brokeOff?.(account)
  }

  private tell(account: RequestSummary): void {
    for (const observer of this.deps.observers) observer.answered(account)
  }

  private account(call: RequestContext, status: number): RequestSummary {
    return {
      requestId: call.requestId,
      method: call.request.method,
      route: call.route === null ? null : call.route.path,
      organisation: call.organisation === null ? null : call.organisation.id,
      status,
      durationMs: this.deps.clock.monotonic() - call.startedAt,
      code: undefined,
      cause: undefined,
      error: undefined,
    }
  }
}

const Wrong = Type.Object(
  {
    path: Type.String({ description: 'A JSON pointer; empty for the whole.' }),
    message: Type.String({ description: 'What it must be, in one sentence.' }),
  },
  { title: 'Problem', description: 'One wrong place in what was sent; never the value itself.' },
)

/** The body of a 422. */
export const ValidationError = Type.Object(
  {
    error: Type.String({ description: 'One sentence for people.' }),
    code: Type.Literal('validation_failed'),
    details: Type.Array(Wrong, { minItems: 1, maxItems: mostProblems }),
  },
  { title: 'ValidationError' },
)

/** Whatever was thrown, as the refusal that the caller is told. */
export function refusalOf(error: unknown): AppError {
  if (error instanceof AppError) return error
  return new AppError('internal', 'Something went wrong on the server', { cause: error })
}

/** A refusal as an answer. The bodies of 401 and 429 are fixed to the letter. */
export function failure(error: AppError): Reply {
  const status = statuses[error.code]
  if (error.code === 'unauthorized') {
    return json(status, { error: 'Unauthorized' }, { 'WWW-Authenticate': 'Bearer realm="cairn"' })
  }
  const retryAfter = error.retryAfterSeconds
  const headers: Record<string, string> =
    retryAfter === undefined ? {} : { 'Retry-After': `${retryAfter}` }
  if (error.code === 'rate_limited') {
    return json(status, { error: 'Rate limit exceeded', retryAfter }, headers)
  }
  const details = error.details && { details: error.details.slice(0, mostProblems) }
  return json(
    status,
    { error: error.message, code: error.code, ...details, ...error.fields },
    headers,
  )
}
