/** A request that was answered with a refusal, or not at all (status 0). */
export class CairnError extends Error {
  override name = 'CairnError'
  constructor(
    message: string,
    readonly status: number,
    /** The API's error code; null if it gave none. */
    readonly code: string | null,
  ) {
    super(message)
  }
}

export interface Connection {
  url: string
  key: string
  fetch: Fetch
}

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** A connection that gives no answer for this long is dead, milliseconds. */
const answerMs = 10_000
/** The first pause after a failure, which doubles with each further failure, and the longest pause. */
const firstPauseMs = 500
const maxPauseMs = 60_000
/** The longest wait that is accepted, whatever a server, or a proxy in front of it, asks for. */
const maxAskedMs = 3_600_000

/** The outcome of one try: an answer, or how long to wait before the next try. */
export type Tried =
  | { answer: Response; waitMs: null }
  | { answer: Response | null; waitMs: number; why: string }

/** @param failures how many tries have failed before */
export async function tryOnce(
  { url, key, fetch }: Connection,
  path: string,
  body: unknown,
  failures: number,
): Promise<Tried> {
  const growing = Math.min(firstPauseMs * 2 ** failures, maxPauseMs) * (0.75 + Math.random() / 2)
  try {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerMs),
    })
    if (answer.status !== 429 && answer.status < 500) return { answer, waitMs: null }
    const requestedMs = Number(answer.headers.get('Retry-After')) * 1_000
    const waitMs = requestedMs > 0 ? Math.min(requestedMs, maxAskedMs) : growing
    return { answer, waitMs, why: `answered ${answer.status}` }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { answer: null, waitMs: growing, why }
  }
}

/** Makes an error of what a refusal says. */
export async function errorOf(answer: Response): Promise<CairnError> {
  const body = (await answer.json().catch(() => null)) as { error?: string; code?: string } | null
  const said = body?.error ?? answer.statusText
  const hint = answer.status === 401 ? ': is the key current, and the user proven?' : ''
  return new CairnError(`${answer.status} ${said}${hint}`, answer.status, body?.code ?? null)
}

export const sleep = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** Retries until there is an answer, as often as there is time for. */
export async function requested<Answer>(
  connection: Connection,
  path: string,
  body: unknown,
  patienceMs: number,
): Promise<Answer> {
  const until = Date.now() + patienceMs
  for (let failures = 0; ; failures++) {
    const tried = await tryOnce(connection, path, body, failures)
    if (tried.waitMs === null) {
      if (!tried.answer.ok) throw await errorOf(tried.answer)
      return (await tried.answer.json()) as Answer
    }
    if (Date.now() + tried.waitMs > until) {
      if (tried.answer) throw await errorOf(tried.answer)
      throw new CairnError(`no answer: ${tried.why}`, 0, null)
    }
    await sleep(tried.waitMs)
  }
}
