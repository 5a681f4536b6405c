import { request, sendBeacon } from './natives.ts'
import type { Settings } from './parts.ts'
import { warn } from './warn.ts'

/** The API's buckets, each of which is refused on its own. */
export type Bucket = 'events' | 'flows' | 'fingerprint' | 'health' | 'heartbeat'

/** How long a bucket is left alone when its key or origin is refused, milliseconds. */
const refusedMs = 5 * 60_000
/** The first pause after a failure, which doubles with each further failure, and the longest pause. */
const firstPauseMs = 5_000
const maxPauseMs = 5 * 60_000
/** The longest wait that is accepted, whatever a server, or a proxy in front of it, asks for. */
const maxAskedMs = 3_600_000
/** A connection that gives no answer for this long is dead. */
const answerMs = 30_000

interface Pause {
  /** By the page's monotonic clock, which nobody can set. */
  until: number
  failures: number
  /** The caller is at fault, as far as the server says (401, 403). */
  isRefused: boolean
}

export interface RequestOptions {
  method?: 'GET' | 'POST'
  body?: unknown
  headers?: Record<string, string>
  /** It names a user, who may be one that cannot be proven. Then a 401 is an answer, and causes no pause. */
  namesUser?: boolean
}

/** Advice on what the page's owner can fix. */
const keyAdvice = 'refused (401): the key is not current ("cairn key show")'
const userAdvice = 'refused (401): the user hash is missing or wrong ("cairn org identity show")'
const originAdvice = 'refused (403): the key may not be used on this origin ("cairn org settings")'

/** Buckets whose requests may be refused because of the user that they name. */
const namingUsers: readonly Bucket[] = ['events', 'health']

/** Pages that were refused together must not come back together. */
const spread = (ms: number) => ms * (1 + Math.random() / 4)

/**
 * Cairn answers in JSON. Other answers come from something in between, such as a sign-in page. That may
 * well find a body too large, so a 413 counts too.
 */
const isCairns = ({ status, headers }: Response) =>
  status === 304 || status === 413 || headers.get('Content-Type')?.startsWith('application/json')

/**
 * Asks the API. A bucket that is refused for a while (429, 503, a failed connection) is not asked again
 * before that time is over: as long as `Retry-After` says, or twice as long each time.
 */
export function createTransport({ baseUrl, key }: Settings, page: Window) {
  const pauses = new Map<Bucket, Pause>()
  /** Whether the key was good when this page last learned it. A 401 is the same for a bad key and a bad user. */
  let isKeyGood = false
  let isUserRefused = false

  const now = () => page.performance.now()
  const pauseMs = (bucket: Bucket) => Math.max(0, (pauses.get(bucket)?.until ?? 0) - now())

  const isRejection = (response: Response | null) =>
    response?.status === 401 || response?.status === 403

  /** @returns milliseconds to wait, or 0 if the response is an answer */
  const refusedFor = (response: Response | null, failures: number): number => {
    const growing = Math.min(firstPauseMs * 2 ** failures, maxPauseMs)
    if (response === null) return growing
    const { status, headers } = response
    if (isRejection(response)) return refusedMs
    if (status !== 429 && status < 500) return isCairns(response) ? 0 : growing
    const requestedMs = Number(headers.get('Retry-After')) * 1_000
    return requestedMs > 0 ? Math.min(requestedMs, maxAskedMs) : growing
  }

  /** Warns about the key or the user, once it is known which it is: flows are also requested without the user. */
  function judge({ status }: Response, namesUser: boolean): void {
    if (status === 403) warn(originAdvice)
    else if (status !== 401) isKeyGood = true
    else if (namesUser) isUserRefused = true
    else {
      isKeyGood = false
      warn(keyAdvice)
    }
    if (isKeyGood && isUserRefused) warn(userAdvice)
  }

  /** Fetches, and takes note of a refusal; null if it was refused. */
  async function tried(
    bucket: Bucket,
    path: string,
    init: RequestInit,
    namesUser = false,
  ): Promise<Response | null> {
    if (pauseMs(bucket) > 0) return null
    const signal = AbortSignal.timeout(answerMs)
    // Cairn uses no cookies. Some pages send everybody their whole address, with its query, as the referrer.
    const common = { credentials: 'omit', referrerPolicy: 'no-referrer', signal } as const
    const responding = request(`${baseUrl}/api/v1${path}`, { ...common, ...init })
    const response = (await responding.catch(() => null)) ?? null
    transport.onResponse?.(bucket, init, response)
    if (response && isCairns(response)) judge(response, namesUser || namingUsers.includes(bucket))
    if (namesUser && response?.status === 401) return response
    const failures = pauses.get(bucket)?.failures ?? 0
    const waitMs = refusedFor(response, failures)
    if (waitMs === 0) {
      pauses.delete(bucket)
      return response
    }
    pauses.set(bucket, {
      until: now() + spread(waitMs),
      failures: failures + 1,
      isRefused: isRejection(response),
    })
    return null
  }

  const transport = {
    /** Called with every response, or null for none, while somebody inspects the page. */
    onResponse: null as
      | null
      | ((bucket: Bucket, requestInit: RequestInit, answer: Response | null) => void),
    /** Milliseconds until the bucket may be asked again. */
    pauseMs,
    /** Whether it is left alone because the server refuses this caller. */
    isRefused: (bucket: Bucket) => pauses.get(bucket)?.isRefused ?? false,
    /** Ends all pauses, because a connection that has come back is worth a try. */
    forgive: () => pauses.clear(),
    /** @returns null if there was no answer, or the bucket is refused for now */
    ask: (
      bucket: Bucket,
      path: string,
      { method = 'GET', body, headers, namesUser }: RequestOptions = {},
    ) =>
      tried(
        bucket,
        path,
        {
          method,
          headers: {
            Authorization: `Bearer ${key}`,
            ...(body !== undefined && { 'Content-Type': 'application/json' }),
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        },
        namesUser,
      ),
    /**
     * Posts a small body in one request, which goes on if the page is left meanwhile. It is sent as text, which
     * needs no preflight, and so with the key in the query.
     */
    tell: (bucket: Bucket, path: string, body: unknown) =>
      tried(bucket, `${path}?key=${key}`, {
        method: 'POST',
        keepalive: true,
        body: JSON.stringify(body),
      }),
    /**
     * Hands a request to the browser, which sends it even if the page is gone by then.
     *
     * @returns whether the browser has taken it
     */
    beacon(path: string, body: string): boolean {
      try {
        const url = `${baseUrl}/api/v1${path}?key=${key}`
        // Any other type would need a preflight, for which a page that closes has no time.
        return sendBeacon(url, new Blob([body], { type: 'text/plain' }))
      } catch {
        return false
      }
    },
  }
  return transport
}

export type Transport = ReturnType<typeof createTransport>
