import { whilePending } from './pending.ts'

/** What the server says is wrong at one place of what was sent. */
export interface Problem {
  path: string
  message: string
}

/** A refusal by the server, or no answer at all. */
export class Failure extends Error {
  constructor(
    /** The status; 0 if the server was not reached. */
    readonly status: number,
    /** The server's own sentence; empty if it sent none. */
    message: string,
    readonly response: {
      code?: string
      requestId?: string
      /** When to try again, epoch milliseconds. */
      retryAt?: number
      details?: readonly Problem[]
      /** The whole body, for refusals that say more. */
      body?: Readonly<Record<string, unknown>>
    } = {},
  ) {
    super(message)
  }

  /** Whether the server is away or cannot answer now. Such a failure passes by itself. */
  get isPassing(): boolean {
    return this.status === 0 || this.status >= 502
  }
}

const secondMs = 1_000

/** A refusal in the words of the server. */
export async function failureOf(response: Response): Promise<Failure> {
  const { status, headers } = response
  const body: Record<string, unknown> = await response.json().catch(() => ({}))
  const retryAfter = Number(headers.get('retry-after'))
  const { error, code, details } = body as { error?: string; code?: string; details?: Problem[] }
  return new Failure(status, error ?? '', {
    body,
    ...(code && { code }),
    ...(details && { details }),
    ...(retryAfter > 0 && { retryAt: Date.now() + retryAfter * secondMs }),
    ...(headers.has('x-request-id') && { requestId: headers.get('x-request-id')! }),
  })
}

/** Fetches, with one kind of error for everything that can go wrong. @throws Failure */
export async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await whilePending(
      fetch(url, { credentials: 'same-origin', cache: 'no-store', ...init }),
    )
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new Failure(0, '')
  }
}
