import type { Static, TSchema } from '@sinclair/typebox'
import { linesType } from '../http/progress-reply.ts'
import { behindHeader } from '../http/responder.ts'
import { CommandFailure } from './failure.ts'
import { tell } from './output.ts'

/** The type of a response, given directly or as a schema. */
type ResponseOf<T> = T extends TSchema ? Static<T> : T

/** Sends a request, wherever it goes. */
export type Send = (path: string, init: RequestInit) => Promise<Response>

export interface AskOptions {
  body?: unknown
  /** A file, in place of a JSON body. */
  bytes?: Uint8Array<ArrayBuffer>
  headers?: Readonly<Record<string, string>>
  /** Called with the progress of long work, as the API reports it. */
  onProgress?(progress: never): void
}

/** Sends requests to Cairn's API, and turns error responses into messages of the command line. */
export interface Asker {
  /**
   * @param what a method and a path, such as `GET /flows`
   * @throws CommandFailure for an error response
   */
  ask<T>(what: string, options?: AskOptions): Promise<ResponseOf<T>>
  /** Like `ask`, for an answer of any size and kind: its text as it arrives. */
  download(what: string, options?: AskOptions): Promise<AsyncIterable<string>>
}

/** The code that system and runtime give an error. */
export const codeOf = (error: unknown) => String((error as { code?: string }).code ?? error)

interface Rejection {
  error: string
  code?: string
  details?: { path: string; message: string }[]
  retryAfter?: number
}

/** Statuses after which a retry may succeed in a moment. */
const passing = [429, 503]
const maxTries = 5
/** Seconds: the window of a limit, and a bit more. */
const maxDelay = 90

/** Seconds until a retry; null if there should be none. */
function retryDelayOf({ status, headers }: Response): number | null {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return passing.includes(status) && seconds >= 0 && seconds <= maxDelay ? seconds : null
}

export const notCairnCode = 'not_cairn'

export const notCairn = (status: number) =>
  new CommandFailure(`the response (${status}) is not Cairn's: check --url`, {
    code: notCairnCode,
  })

/**
 * @param root the path below which all others are
 * @param onWait called before a wait of over a second
 */
export function asking(
  send: Send,
  credential: Readonly<Record<string, string>>,
  root = '/api/v1/manage',
  onWait = (seconds: number) => tell(`Rate limited. Retrying in ${seconds} s.`),
): Asker {
  /** @throws CommandFailure if the answer is a refusal */
  const answerTo = async (what: string, { body, bytes, headers, onProgress }: AskOptions) => {
    const [method = '', path = ''] = what.split(' ')
    const init = {
      method,
      headers: {
        ...credential,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(onProgress && { accept: linesType }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(bytes && { body: bytes }),
    }
    for (let tries = 1; ; tries++) {
      const response = await send(root + path, init)
      if (response.ok) {
        printNodesBehind(response)
        return response
      }
      const seconds = tries < maxTries ? retryDelayOf(response) : null
      if (seconds === null) throw await failureOf(response)
      if (seconds > 1) onWait(seconds)
      await Bun.sleep(seconds * 1_000)
    }
  }
  return {
    async ask<T>(what: string, options: AskOptions = {}) {
      const response = await answerTo(what, options)
      if (options.onProgress) return (await resultIn(response, options.onProgress)) as ResponseOf<T>
      return (response.status === 204 ? null : await jsonOf(response)) as ResponseOf<T>
    },
    download: async (what, options = {}) => textOf(await answerTo(what, options)),
  }
}

/** Lists of names that were printed, because a command may send several requests. */
const printedNodes = new Set<string>()

function printNodesBehind({ headers }: Response): void {
  const names = headers.get(behindHeader)
  if (names === null || printedNodes.has(names)) return
  printedNodes.add(names)
  tell(`Saved. These servers may use the old version for up to 45 seconds: ${names}`)
}

/** @throws CommandFailure if the answer breaks off */
async function* textOf({ body }: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  try {
    for await (const chunk of body ?? []) yield decoder.decode(chunk, { stream: true })
  } catch (error) {
    throw new CommandFailure(`the connection broke (${codeOf(error)}): see the server's log`)
  }
}

/** The result of long work; see `replyWithProgress`. */
async function resultIn(response: Response, onProgress: (progress: never) => void) {
  let rest = ''
  for await (const text of textOf(response)) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      const { progress, result, failure } = JSON.parse(line)
      if (progress !== undefined) onProgress(progress as never)
      else if (failure === undefined) return result as unknown
      else throw rejected(failure, failure.code === 'internal' ? response : null)
    }
  }
  throw new CommandFailure("the response ended early: see the server's log, and run this again")
}

/** @throws CommandFailure if it is not JSON */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    throw notCairn(response.status)
  }
}

/** What to do on the command line, by code of the error. */
const advices: Readonly<Record<string, string>> = {
  dead_letter_not_found: ': nothing was done; "cairn dead-letters list" shows all',
  delivery_not_found: ': "cairn alerts webhook deliveries ID" shows all',
  flow_not_found: ': push it first, or see "cairn flows list"',
  nothing_to_repair: ' (--selector)',
  overloaded: ': try again later; if it stays so, "cairn doctor" on the server says why',
  slug_taken: ' with --slug',
  too_many_flows: ': "cairn flows archive KEY"',
  two_secrets_work: ' (--now)',
  too_many_previews: ': end one with "cairn api DELETE /previews/ID"',
  too_many_webhooks: ': "cairn alerts webhook remove ID"',
  webhook_not_found: ': "cairn alerts webhook list" shows all',
  validation_failed: ': nothing was changed, fix this first',
}

async function failureOf(response: Response): Promise<CommandFailure> {
  const { status } = response
  const rejection = (await jsonOf(response)) as Rejection | null
  if (typeof rejection?.error !== 'string') throw notCairn(status)
  if (status === 401) {
    return new CommandFailure(
      'the server rejected the token in CAIRN_TOKEN: it is wrong, expired or revoked; create another with "cairn token create"',
    )
  }
  return rejected(rejection, status >= 500 ? response : null, passing.includes(status))
}

/**
 * @param faulty the response if the server failed, with the id for its log
 * @param isPassing whether a later try may succeed
 */
function rejected(
  { error, code, details = [] }: Rejection,
  faulty: Response | null,
  isPassing = false,
): CommandFailure {
  const id = faulty?.headers.get('x-request-id')
  const more = id ? ` (request ${id} in the log)` : ''
  const advice = advices[code ?? ''] ?? (isPassing ? ': try again later' : '')
  const lines = details.map(({ path, message }) => `${path} ${message}`.trim())
  const options = code === undefined ? {} : { code }
  // Messages of the command line begin in lower case, except for words in capitals.
  const message = error.replace(/^[A-Z](?![A-Z])/, first => first.toLowerCase())
  return new CommandFailure([`${message}${more}${advice}`, ...lines].join('\n'), options)
}
