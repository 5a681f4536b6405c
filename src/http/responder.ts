import { Type } from '@sinclair/typebox'
import {
  AppError,
  type ErrorCode,
  errorEntry,
  maxProblems,
  type UnauthorizedCause,
  unauthorizedCauseOf,
} from '../core/errors.ts'
import { defaultLimits, limitUncounted, windowMs } from '../core/organisation/limits.ts'
import type { Clock } from '../core/time/clock.ts'
import type { RequestContext } from './request-context.ts'

/** What the log and the metrics report about every response. */
export interface RequestSummary {
  requestId: string
  method: string
  /** The route's pattern, never the path, because a path may hold ids. Null if there is no route. */
  route: string | null
  organisation: string | null
  status: number
  durationMs: number
  /** Why it was rejected. */
  code?: ErrorCode | undefined
  /** Why it was a 401, which the caller does not learn. */
  cause?: UnauthorizedCause | undefined
  /** The full reason of a 500 or 503. */
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
 * The headers of a reply that is given again and again. A response copies the headers that it is made with,
 * which costs a third of setting them one by one. So they are kept, and of the headers that differ between
 * responses, only those that have changed are set before the next response is made.
 */
class HeaderTemplate {
  readonly headers: Headers
  private lastLimit = -1
  private lastRemaining = -1
  private lastReset = -1
  private lastOrigin: string | null = null

  /** @param fixed headers that are the same each time */
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
   * Who may read the response (Fetch standard, CORS protocol). Any origin is allowed, with credentials, because
   * a beacon always sends them and no cookie opens anything by itself.
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

/** What a route returns; headers that every response has are added on the way out. */
export interface Reply {
  status: number
  body?: string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array> | null
  headers?: Record<string, string>
  /** Each is the value of a `Set-Cookie` header. */
  cookies?: readonly string[]
}

/** Names the nodes that may still return the state before a change. */
export const behindHeader = 'Cairn-Nodes-Behind' as const

export const jsonType = 'application/json; charset=utf-8'

const jsonHeaders = { 'Content-Type': jsonType }

/** A JSON response. */
export function json(status: number, value: unknown, headers?: Record<string, string>): Reply {
  return {
    status,
    body: JSON.stringify(value),
    headers: headers ? { ...jsonHeaders, ...headers } : jsonHeaders,
  }
}

/** The headers of every reply unless it sets others: nothing is cached, and no type is guessed. */
const always = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  Vary: 'Origin',
}

/** One template per record of headers: prepared bodies and errors pass the same record again and again. */
const templates = new WeakMap<object, HeaderTemplate>()

function templateOf(ofReply: Readonly<Record<string, string>>): HeaderTemplate {
  const known = templates.get(ofReply)
  if (known) return known
  const template = new HeaderTemplate({ ...always, ...ofReply })
  templates.set(ofReply, template)
  return template
}

const nobody = { taken: null, organisation: null }

/** Sets the headers about the limit that the request was counted against. */
function setLimits(template: HeaderTemplate, call: RequestContext, status: number): void {
  // A 401 does not reveal whose credential it was, even if that credential is good elsewhere.
  const { taken, organisation } = status === 401 ? nobody : call
  const limits = organisation?.limits ?? defaultLimits
  const limit = call.route?.bucket ? limits[call.route.bucket] : limitUncounted
  const resetInMs = taken?.resetInMs ?? windowMs
  template.limit = limit
  template.remaining = taken ? taken.remaining : limit
  template.reset = Math.ceil((call.receivedAt + resetInMs) / 1000)
}

const noHeaders = {}

/** Pages of other origins may read neither the management API's responses nor those for Cairn's own pages. */
const isForNoOtherOrigin = ({ route }: RequestContext): boolean =>
  route !== null && (route.caller === 'management' || route.readers !== undefined)

/** Makes the response that is sent. */
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

/** No response at all: the connection is cut before any part of one is sent. */
const cutOff = (): Reply => ({
  status: errorEntry('in_doubt').status,
  body: new ReadableStream({ pull: controller => controller.error() }),
})

/** The response to a preflight (Fetch standard, CORS protocol). */
export const preflight: Reply = {
  status: 204,
  headers: {
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, OPTIONS',
    'Access-Control-Allow-Headers': 'authorization, content-type, if-none-match',
    'Access-Control-Max-Age': '7200',
  },
}

/** Called for every response, to count or log it. */
export interface ResponseObserver {
  responded(summary: RequestSummary): void
  /** A response that had begun, and was reported, broke off: a download that could not be read to its end. */
  brokeOff?(summary: RequestSummary): void
}

export interface ResponderDeps {
  clock: Clock
  observers: readonly ResponseObserver[]
}

/** Every response, good or bad, is reported to the observers and gets the headers that all have. */
export class Responder {
  constructor(private readonly deps: ResponderDeps) {}

  respond(call: RequestContext, reply: Reply): Response {
    this.notify(this.summaryOf(call, reply.status))
    return response(call, reply)
  }

  /** Turns whatever was thrown into a response. */
  reject(call: RequestContext, error: unknown): Response {
    const rejection = errorOf(error)
    if (rejection.code === 'in_doubt') return this.rejectWith(call, rejection, cutOff())
    return this.rejectWith(call, rejection, errorResponse(rejection))
  }

  /** An error whose response has more than the error itself. */
  rejectWith(call: RequestContext, rejection: AppError, reply: Reply): Response {
    const account = this.summaryOf(call, reply.status)
    account.code = rejection.code
    account.cause = unauthorizedCauseOf(rejection)
    if (reply.status >= 500) account.error = rejection.cause ?? rejection
    this.notify(account)
    return response(call, reply)
  }

  /** Reports that a response could not be sent to its end after it had begun. */
  breakOff(call: RequestContext, error: unknown): void {
    const account = this.summaryOf(call, 500)
    account.error = error
    for (const observer of this.deps.observers) observer.brokeOff?.(account)
  }

  private notify(account: RequestSummary): void {
    for (const observer of this.deps.observers) observer.responded(account)
  }

  private summaryOf(call: RequestContext, status: number): RequestSummary {
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

const ProblemBody = Type.Object(
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
    details: Type.Array(ProblemBody, { minItems: 1, maxItems: maxProblems }),
  },
  { title: 'ValidationError' },
)

/** Turns whatever was thrown into the error that the caller gets. */
export function errorOf(error: unknown): AppError {
  if (error instanceof AppError) return error
  return new AppError('internal', 'Something went wrong on the server', { cause: error })
}

/** An error as a response. The bodies of 401 and 429 are fixed to the letter. */
export function errorResponse(error: AppError): Reply {
  const { status, sentence, header } = errorEntry(error.code)
  const retryAfter = error.retryAfterSeconds
  const headers: Record<string, string> = {}
  if (retryAfter !== undefined) headers['Retry-After'] = `${retryAfter}`
  if (header === 'WWW-Authenticate') headers[header] = 'Bearer realm="cairn"'
  if (sentence !== undefined) return json(status, { error: sentence, retryAfter }, headers)
  const details = error.details && { details: error.details.slice(0, maxProblems) }
  return json(
    status,
    { error: error.message, code: error.code, ...details, ...error.fields },
    headers,
  )
}
