import type { Static, TSchema } from '@sinclair/typebox'
import { linesType } from '../http/progress-reply.ts'
import { behindHeader } from '../http/responder.ts'
import { CommandFailure } from './failure.ts'
import { tell } from './output.ts'

/** The type of an answer: given directly, or as a schema. */
type Told<T> = T extends TSchema ? Static<T> : T

/** Sends a request, wherever it goes. */
export type Send = (path: string, init: RequestInit) => Promise<Response>

export interface AskOptions {
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** Told the progress of long work, in the API's words. */
  onProgress?(progress: never): void
}

/** Asks Cairn's API, and puts its refusals into the words of the command line. */
export interface Asker {
  /**
   * @param what a method and a path, such as `GET /flows`
   * @throws CommandFailure with the API's reason for refusing it
   */
  ask<T>(what: string, options?: AskOptions): Promise<Told<T>>
  /** Like `ask`, for an answer of any size and kind: its text as it arrives. */
  download(what: string, options?: AskOptions): Promise<AsyncIterable<string>>
}

/** The code that system and runtime give an error. */
export const codeOf = (error: unknown) => String((error as { code?: string }).code ?? error)

interface rejection {
  error: string
  code?: string
  details?: { path: string; message: string }[]
  retryAfter?: number
}

/** Statuses after which a retry may succeed in a moment. */
const passing = [429, 503]
const maxTries = 5
/** The longest wait that a server may ask for, seconds: the window of a limit, and a bit more. */
const maxWaitLength = 90

/** How long a server asks to wait before the next try, seconds; null if that is not worth it. */
function waitAskedBy({ status, headers }: Response): number | null {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return passing.includes(status) && seconds >= 0 && seconds <= maxWaitLength ? seconds : null
}

export const notCairnCode = 'not_cairn'

export const notCairn = (status: number) =>
  new CommandFailure(`the server answered ${status}, and not as Cairn does: is --url right?`, {
    code: notCairnCode,
  })

/**
 * @param root the path below which all others are
 * @param onWait told when the server asks for a longer wait
 */
export function asking(
  send: Send,
  credential: Readonly<Record<string, string>>,
  root = '/api/v1/manage',
  onWait = (seconds: number) => tell(`the server asked to wait: going on in ${seconds} s`),
): Asker {
  /** @throws CommandFailure if the answer is a refusal */
  const answerTo = async (what: string, { body, headers, onProgress }: AskOptions) => {
    const [method = '', path = ''] = what.split(' ')
    const init = {
      method,
      headers: {
        ...credential,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(onProgress && { accept: linesType }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }
    for (let tries = 1; ; tries++) {
      const response = await send(root + path, init)
      if (response.ok) {
        tellOfNodesBehind(response)
        return response
      }
      const seconds = tries < maxTries ? waitAskedBy(response) : null
      if (seconds === null) throw await failureOf(response)
      if (seconds > 1) onWait(seconds)
      await Bun.sleep(seconds * 1_000)
    }
  }
  return {
    async ask<T>(what: string, options: AskOptions = {}) {
      const response = await answerTo(what, options)
      if (options.onProgress) return (await resultIn(response, options.onProgress)) as Told<T>
      return (response.status === 204 ? null : await jsonOf(response)) as Told<T>
    },
    download: async (what, options = {}) => textOf(await answerTo(what, options)),
  }
}

/** Lists of names that were already reported, because a command may ask several times. */
const toldOfNodes = new Set<string>()

function tellOfNodesBehind({ headers }: Response): void {
  const names = headers.get(behindHeader)
  if (names === null || toldOfNodes.has(names)) return
  toldOfNodes.add(names)
  tell(`done, but these nodes may answer by what was before for up to 45 s: ${names}`)
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
      else throw refused(failure, failure.code === 'internal' ? response : null)
    }
  }
  throw new CommandFailure(
    "the answer ended before the result: see the server's log, and run this again",
  )
}

/** @throws CommandFailure if it is not JSON */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    throw notCairn(response.status)
  }
}

/** What can be done about a refusal on the command line, by code. */
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

/** The API's refusal of a request, in the words of the command line. */
async function failureOf(response: Response): Promise<CommandFailure> {
  const { status } = response
  const refusal = (await jsonOf(response)) as rejection | null
  if (typeof refusal?.error !== 'string') throw notCairn(status)
  if (status === 401) {
    return new CommandFailure(
      'the server does not take the token in CAIRN_TOKEN: it is wrong, expired or revoked; make another with "cairn token create"',
    )
  }
  return refused(refusal, status >= 500 ? response : null, passing.includes(status))
}

/**
 * @param faulty an answer about a fault of the server, about which its log says more
 * @param isPassing whether a later try may succeed
 */
function refused(
  { error, code, details = [] }: rejection,
  faulty: Response | null,
  isPassing = false,
): CommandFailure {
  const id = faulty?.headers.get('x-request-id')
  const more = id ? ` (request ${id} in the log)` : ''
  const advice = advices[code ?? ''] ?? (isPassing ? ': try again later' : '')
  const lines = details.map(({ path, message }) => `${path} ${message}`.trim())
  const options = code === undefined ? {} : { code }
  // In lower case, as the command line begins its sentences; a word in capitals stays.
  const said = error.replace(/^[A-Z](?![A-Z])/, first => first.toLowerCase())
  return new CommandFailure([`${said}${more}${advice}`, ...lines].join('\n'), options)
}
