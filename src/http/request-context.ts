import { AppError } from '../core/errors.ts'
import type { Organisation } from '../core/organisation/catalogue.ts'
import { randomText } from '../core/organisation/ids.ts'
import type { Taken } from '../core/organisation/limits.ts'
import type { Principal, RouteAccess } from './principal.ts'

/**
 * The longest target that is read, in characters of the URL that it makes. The longest one needed has a page's
 * address of 2,048 characters, each percent-encoded, which is 6 KiB.
 */
const maxTargetLength = 8 * 1024

/** A target longer than that is rejected, whatever it names. */
export const targetTooLong = () =>
  new AppError('uri_too_long', `The request's target is longer than ${maxTargetLength} characters`)

/**
 * Path and query. Not parsed with `URL`, which throws if the Host header is nonsense or missing. Nothing here
 * depends on the host.
 */
const targetOf = ({ url }: Request) => url.replace(/^[a-z]+:\/\/[^/]*/i, '')

/** Whether a request's target is too long to be read. */
export const hasLongTarget = (request: Request): boolean =>
  // The target is shorter than the URL, so a short URL needs no closer look.
  request.url.length > maxTargetLength && targetOf(request).length > maxTargetLength

/** A request's path, without its query. */
export function pathOf(request: Request): string {
  const target = targetOf(request)
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}

/** Whether the response will be shown in a browser. */
export const asksForPage = ({ method, headers }: Request): boolean =>
  (method === 'GET' || method === 'HEAD') && (headers.get('accept') ?? '').includes('text/html')

/** A request's query as it was sent, without its `?`. */
export function queryOf({ url }: Request): string {
  const end = url.indexOf('?')
  return end < 0 ? '' : url.slice(end + 1)
}

/**
 * Gives a request a complete URL. If the Host header is nonsense, Bun leaves the host out, and Elysia, which
 * looks for the path after the host, would take part of the path for it; or Bun leaves the dots in the path.
 * A made-up host changes nothing, because nobody looks at it.
 */
export function completeUrl(request: Request): void {
  const { url } = request
  // The first of one or two dots may be percent-encoded. Few addresses get past this check.
  if (!url.startsWith('/') && !url.includes('/.') && !url.includes('/%2')) return
  Object.defineProperty(request, 'url', { value: new URL(`http://host${targetOf(request)}`).href })
}

const requestIdLength = 16

/** The next request ids, one after the other. Drawing random text for each id would cost twice as much. */
let requestIds = ''
let requestIdAt = 0

/** A new request id: short enough for a log line, random enough to be found again. */
function newRequestId(): string {
  if (requestIdAt === requestIds.length) {
    requestIds = randomText(64 * requestIdLength)
    requestIdAt = 0
  }
  requestIdAt += requestIdLength
  return requestIds.slice(requestIdAt - requestIdLength, requestIdAt)
}

const nothing = {}
const noBytes: Uint8Array = new Uint8Array()
const ignore = () => {}

/** One request, and what the gate has found out about it so far. */
export class RequestContext<Subject = unknown, Body = unknown, Query = unknown> {
  readonly requestId = newRequestId()
  /** The page's origin; null if no page sent the request. */
  readonly origin: string | null
  /** The organisation of the credential; null until one was verified. */
  organisation: Organisation | null = null
  /** The decision of the limiter; null if nothing was counted. */
  taken: Taken | null = null
  /** Who makes the management call; null outside the management API. */
  principal: Principal | null = null
  /** The path's parameters by name, decoded and otherwise as they were sent. */
  params: Readonly<Record<string, string>> = nothing
  subject = null as Subject
  body = null as Body
  /** The body as it was sent. */
  bodyText = ''
  /** The same for a route that takes a file. */
  bytes = noBytes
  query = nothing as Query
  /** Called if a response could not be sent to its end after it had begun; only for long routes. */
  onBroken: (error: unknown) => void = ignore

  constructor(
    readonly request: Request,
    /** The declared route, by its pattern; null if the path names none. */
    readonly route: (RouteAccess & { path: string; readers?: 'own pages' | 'no page' }) | null,
    /** Wall clock at receipt, epoch milliseconds. */
    readonly receivedAt: number,
    /** Monotonic milliseconds at receipt. */
    readonly startedAt: number,
  ) {
    this.origin = request.headers.get('origin')
  }

  /** The organisation, in routes: the gate requires one. */
  get org(): Organisation {
    if (!this.organisation) throw new Error('The gate has not been passed')
    return this.organisation
  }
}
