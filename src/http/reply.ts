import { defaultLimits, limitUncounted, windowMs } from '../core/buckets.ts'
import type { Call } from './call.ts'

/** What a route answers; headers that every response has are added on the way out. */
export interface Reply {
  status: number
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
  headers?: Record<string, string>
}

export const jsonType = 'application/json; charset=utf-8'

/** A JSON answer. */
export function json(status: number, value: unknown, headers?: Record<string, string>): Reply {
  return {
    status,
    body: JSON.stringify(value),
    headers: { 'content-type': jsonType, ...headers },
  }
}

const exposedHeaders = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'ETag',
  'X-Request-Id',
].join(', ')

const nobody = { taken: null, organisation: null }

/** The headers of every response: request id, limits, CORS, and no caching unless the reply says so. */
function commonHeaders(call: Call, status: number): Record<string, string> {
  const { route } = call
  // A 401 says nothing about whose credential it was, not even when it was a good one elsewhere.
  const { taken, organisation } = status === 401 ? nobody : call
  const limits = organisation?.limits ?? defaultLimits
  const limit = route?.bucket ? limits[route.bucket] : limitUncounted
  const resetInMs = taken?.resetInMs ?? windowMs
  const headers: Record<string, string> = {
    'X-RateLimit-Limit': `${limit}`,
    'X-RateLimit-Remaining': `${taken ? taken.remaining : limit}`,
    'X-RateLimit-Reset': `${Math.ceil((call.receivedAt + resetInMs) / 1000)}`,
    'X-Request-Id': call.requestId,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    Vary: 'Origin',
  }
  const origin = call.request.headers.get('origin')
  if (origin !== null) {
    // Any origin is let in with credentials: a beacon always sends them, and Cairn uses no cookie.
    headers['Access-Control-Allow-Origin'] = origin
    headers['Access-Control-Allow-Credentials'] = 'true'
    headers['Access-Control-Expose-Headers'] = exposedHeaders
  }
  return headers
}

/** The response as it leaves. */
export function response(call: Call, reply: Reply): Response {
  return new Response(reply.body ?? null, {
    status: reply.status,
    headers: Object.assign(commonHeaders(call, reply.status), reply.headers),
  })
}

/** The answer to a preflight (Fetch standard, CORS protocol). */
export const preflight: Reply = {
  status: 204,
  headers: {
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, OPTIONS',
    'Access-Control-Allow-Headers': 'authorization, content-type, if-none-match',
    'Access-Control-Max-Age': '7200',
  },
}
