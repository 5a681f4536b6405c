import { defaultLimits, limitUncounted, windowMs } from '../core/organisation/buckets.ts'
import type { Call } from './call.ts'
import { Stencil } from './stencil.ts'

/** What a route answers; headers that every response has are added on the way out. */
export interface Reply {
  status: number
  body?: string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array> | null
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

/** What every reply has, unless it says otherwise: nothing is kept, and nothing is guessed. */
const always = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  Vary: 'Origin',
}

/**
 * One stencil for each record of headers that a reply is made with: prepared bodies and refusals hand
 * in the same record again and again.
 */
const stencils = new WeakMap<object, Stencil>()

function stencilOf(ofReply: Readonly<Record<string, string>>): Stencil {
  const known = stencils.get(ofReply)
  if (known) return known
  const stencil = new Stencil({ ...always, ...ofReply })
  stencils.set(ofReply, stencil)
  return stencil
}

const nobody = { taken: null, organisation: null }

/** What a response shows of the limit that its request was counted by. */
function setLimits(stencil: Stencil, call: Call, status: number): void {
  // A 401 says nothing about whose credential it was, not even when it was a good one elsewhere.
  const { taken, organisation } = status === 401 ? nobody : call
  const limits = organisation?.limits ?? defaultLimits
  const limit = call.route?.bucket ? limits[call.route.bucket] : limitUncounted
  const resetInMs = taken?.resetInMs ?? windowMs
  stencil.limit = limit
  stencil.remaining = taken ? taken.remaining : limit
  stencil.reset = Math.ceil((call.receivedAt + resetInMs) / 1000)
}

const noHeaders = {}

/** The response as it leaves. */
export function response(
  call: Call,
  { status, body = null, headers = noHeaders }: Reply,
): Response {
  const stencil = stencilOf(headers)
  setLimits(stencil, call, status)
  // No page of another origin is let into the management API.
  stencil.origin = call.route?.caller === 'management' ? null : call.origin
  stencil.requestId = call.requestId
  return new Response(body, { status, headers: stencil.headers })
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
