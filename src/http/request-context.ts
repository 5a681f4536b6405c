import { AppError } from '../core/errors.ts'
import type { Organisation } from '../core/organisation/catalogue.ts'
import { randomText } from '../core/organisation/ids.ts'
import type { Taken } from '../core/organisation/limiter.ts'
import type { Principal } from './principal.ts'
import type { Route } from './route.ts'

/**
 * The longest target that is read, in characters of the URL that it makes. Three times as much as the
 * longest that we ask for: a page's address of 2,048 characters, each percent-encoded.
 */
const longestTarget = 8 * 1024

/** A target longer than that is refused, whatever it names. */
export const targetTooLong = () =>
  new AppError('uri_too_long', `The request's target is longer than ${longestTarget} characters`)

/**
 * Path and query. Not by `URL`: it throws where the Host header is nonsense or missing, and nothing
 * here depends on the host.
 */
const targetOf = ({ url }: Request) => url.replace(/^[a-z]+:\/\/[^/]*/i, '')

/** Whether a request has a target that is not to be read. */
export const hasLongTarget = (request: Request): boolean =>
  // Of a shorter URL the target is shorter too.
  request.url.length > longestTarget && targetOf(request).length > longestTarget

/** A request's path, without its query. */
export function pathOf(request: Request): string {
  const target = targetOf(request)
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}

/** A request's query as it was sent, without its `?`. */
export function queryOf({ url }: Request): string {
  const end = url.indexOf('?')
  return end < 0 ? '' : url.slice(end + 1)
}

/**
 * Gives a request a URL that is whole. Where the Host header is nonsense Bun leaves the host out, and
 * Elysia, which looks for the path behind one, would take a part of the path for it; or it leaves
 * the dots in the path. A host of our own changes nothing: nobody looks at it.
 */
export function mendUrl(request: Request): void {
  const { url } = request
  // Of two dots, as of one, the first may be percent-encoded; few addresses get as far as that.
  if (!url.startsWith('/') && !url.includes('/.') && !url.includes('/%2')) return
  Object.defineProperty(request, 'url', { value: new URL(`http://host${targetOf(request)}`).href })
}

const requestIdLength = 16

/** Request ids to come, one behind the other: a text drawn for each would cost twice as much. */
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
const nobodyTold = () => {}

/** One request, and what the gate has found out about it so far. */
export class RequestContext<Subject = unknown, Body = unknown, Query = unknown> {
  readonly requestId = newRequestId()
  /** The page's origin; null where the request is not a page's. */
  readonly origin: string | null
  /** Whose credential it is; null until one was verified. */
  organisation: Organisation | null = null
  /** What the limiter said; null where nothing was counted. */
  taken: Taken | null = null
  /** Who manages; null outside the management API. */
  principal: Principal | null = null
  /** What the path names, by the name of its place; as it was sent, decoded. */
  params: Readonly<Record<string, string>> = nothing
  subject = null as Subject
  body = null as Body
  /** The body as it was sent. */
  bodyText = ''
  query = nothing as Query
  /** Told when an answer that had begun could not be sent to its end; of long routes alone. */
  onBroken: (error: unknown) => void = nobodyTold

  constructor(
    readonly request: Request,
    /** The declared route; null where the path names none. */
    readonly route: Route | null,
    /** Wall clock at receipt, epoch milliseconds. */
    readonly receivedAt: number,
    /** Monotonic milliseconds at receipt. */
    readonly startedAt: number,
  ) {
    this.origin = request.headers.get('origin')
  }

  /** The organisation, in routes: the gate lets nobody in without one. */
  get org(): Organisation {
    if (!this.organisation) throw new Error('The gate has not been passed')
    return this.organisation
  }
}
