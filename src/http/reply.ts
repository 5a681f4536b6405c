import { defaultLimits, limitUncounted, windowMs } from '../core/buckets.ts'
import type { Call } from './call.ts'

/** What a route answers; headers that every response has are added on the way out. */
export interface Reply {
  status: number
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
  headers?: Record<string, string>
}

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

const exposedHeaders = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'ETag',
  'X-Request-Id',
].join(', ')

/** What every reply has, unless it says otherwise: nothing is kept, and nothing is guessed. */
const always = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  Vary: 'Origin',
}

/**
 * Headers that are the same each time. Copying them costs a third of naming them one by one, and
 * prepared bodies and refusals hand in the same record again and again.
 */
const fixedHeaders = new WeakMap<object, Headers>()

function fixedHeadersOf(ofReply: Record<string, string>): Headers {
  const known = fixedHeaders.get(ofReply)
  if (known) return known
  const headers = new Headers(Object.assign({ ...always }, ofReply))
  fixedHeaders.set(ofReply, headers)
  return headers
}

const nobody = { taken: null, organisation: null }

/** Sets the headers that every response has, and that differ from one to the next: limits, id, CORS. */
function setOwnHeaders(headers: Headers, call: Call, status: number): void {
  const { route } = call
  // A 401 says nothing about whose credential it was, not even when it was a good one elsewhere.
  const { taken, organisation } = status === 401 ? nobody : call
  const limits = organisation?.limits ?? defaultLimits
  const limit = route?.bucket ? limits[route.bucket] : limitUncounted
  const resetInMs = taken?.resetInMs ?? windowMs
  headers.set('X-RateLimit-Limit', `${limit}`)
  headers.set('X-RateLimit-Remaining', `${taken ? taken.remaining : limit}`)
  headers.set('X-RateLimit-Reset', `${Math.ceil((call.receivedAt + resetInMs) / 1000)}`)
  headers.set('X-Request-Id', call.requestId)
  const origin = call.request.headers.get('origin')
  if (origin !== null) {
    // Any origin is let in with credentials: a beacon always sends them, and Cairn uses no cookie.
    headers.set('Access-Control-Allow-Origin', origin)
    headers.set('Access-Control-Allow-Credentials', 'true')
    headers.set('Access-Control-Expose-Headers', exposedHeaders)
  }
}

const noHeaders = {}

/** The response as it leaves. */
export function response(call: Call, reply: Reply): Response {
  const { status, body = null, headers = noHeaders } = reply
  const leaving = new Response(body, { status, headers: fixedHeadersOf(headers) })
  setOwnHeaders(leaving.headers, call, status)
  return leaving
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
