/** What an answer says that is wrong with one place of what was sent. */
export interface Problem {
  path: string
  message: string
}

/** An answer that is a refusal, or none at all. */
export class Failure extends Error {
  constructor(
    /** The status; 0 where the server was not reached. */
    readonly status: number,
    /** The server's own sentence; empty where it said none. */
    message: string,
    readonly told: {
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

  /** The server is away or cannot do it now: all will be well by itself. */
  get isPassing(): boolean {
    return this.status === 0 || this.status >= 502
  }
}

const secondMs = 1_000

/** A refusal, as the server has put it. */
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

/** Fetches, and has one kind of error for all that can go wrong. @throws Failure */
export async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { credentials: 'same-origin', cache: 'no-store', ...init })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new Failure(0, '')
  }
}
