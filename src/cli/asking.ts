import type { Static, TSchema } from '@sinclair/typebox'
import { linesType } from '../http/progress-reply.ts'
import { behindHeader } from '../http/responder.ts'
import { CommandFailure } from './failure.ts'
import { tell } from './output.ts'

/** What is answered: a type, or that of a schema. */
type Told<T> = T extends TSchema ? Static<T> : T

/** Sends a request, wherever it goes. */
export type Send = (path: string, init: RequestInit) => Promise<Response>

export interface AskOptions {
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** Told how far long work is, in the API's words. */
  onProgress?(progress: never): void
}

/** Asks Cairn's API, and says in the words of the command line what it has against a request. */
export interface Asker {
  /**
   * @param what a method and a path, such as `GET /flows`
   * @throws CommandFailure with what the API has against it
   */
  ask<T>(what: string, options?: AskOptions): Promise<Told<T>>
  /** As `ask`, for an answer of any size: its text, as it comes. */
  download(what: string): Promise<AsyncIterable<string>>
}

/** What an error is called by system and runtime. */
export const codeOf = (error: unknown) => String((error as { code?: string }).code ?? error)

interface Refusal {
  error: string
  code?: string
  details?: { path: string; message: string }[]
  retryAfter?: number
}

/** Statuses after which it may go well in a moment. */
const passing = [429, 503]
const mostTries = 5
/** How long is waited at most where a server says how long, seconds: the window of a limit, and some. */
const longestWait = 90

/** How long a server asks to wait before the next try, seconds; null where that is not worth it. */
function waitAskedBy({ status, headers }: Response): number | null {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return passing.includes(status) && seconds >= 0 && seconds <= longestWait ? seconds : null
}

export const notCairn = (status: number) =>
  new CommandFailure(`the server answered ${status}, and not as Cairn does: is --url right?`)

/**
 * @param root what paths stand below
 * @param onWait told where the server asks to wait for longer
 */
export function asking(
  send: Send,
  credential: Readonly<Record<string, string>>,
  root = '/api/v1/manage',
  onWait = (seconds: number) => tell(`the server asks to wait ${seconds} s`),
): Asker {
  /** @throws CommandFailure where the answer is a refusal */
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
      const seconds = tries < mostTries ? waitAskedBy(response) : null
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
    download: async what => textOf(await answerTo(what, {})),
  }
}

/** Once for each list of names: a command may ask several times. */
const toldOfNodes = new Set<string>()

function tellOfNodesBehind({ headers }: Response): void {
  const names = headers.get(behindHeader)
  if (names === null || toldOfNodes.has(names)) return
  toldOfNodes.add(names)
  tell(`done, but these nodes may answer by what was before for up to 45 s: ${names}`)
}

/** @throws CommandFailure where the answer breaks off */
async function* textOf({ body }: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  try {
    for await (const chunk of body ?? []) yield decoder.decode(chunk, { stream: true })
  } catch (error) {
    throw new CommandFailure(`the answer broke off (${codeOf(error)}): see the server's log`)
  }
}

/** What long work comes to; see `answerLongWork`. */
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
  throw new CommandFailure('the server went away midway: see its log, and run this again')
}

/** @throws CommandFailure where it is none */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    throw notCairn(response.status)
  }
}

/** What a command line can do about it, by code. */
const advices: Readonly<Record<string, string>> = {
  dead_letter_not_found: ': nothing was done; "cairn dead-letters list" shows all',
  delivery_not_found: ': "cairn alerts deliveries WEBHOOK" shows all',
  flow_not_found: ': push it first, or see "cairn flows list"',
  nothing_to_repair: ' (--selector)',
  slug_taken: ' with --slug',
  too_many_flows: ': "cairn flows archive KEY"',
  two_secrets_work: ' (--now)',
  too_many_previews: ': "cairn flows preview --end ID"',
  too_many_webhooks: ': "cairn alerts webhook remove ID"',
  webhook_not_found: ': "cairn alerts webhook list" shows all',
  validation_failed: ': nothing was changed, mend this first',
}

/** What the API has against a request, in the words of the command line. */
async function failureOf(response: Response): Promise<CommandFailure> {
  const { status } = response
  const refusal = (await jsonOf(response)) as Refusal | null
  if (typeof refusal?.error !== 'string') throw notCairn(status)
  if (status === 401) {
    return new CommandFailure(
      'the server does not take the token in CAIRN_TOKEN: it is wrong, expired or revoked; make another, "cairn token create"',
    )
  }
  return refused(refusal, status >= 500 ? response : null, passing.includes(status))
}

/**
 * @param faulty an answer about a fault of the server's, of which its log says more
 * @param isPassing whether it may go well later
 */
function refused(
  { error, code, details = [] }: Refusal,
  faulty: Response | null,
  isPassing = false,
): CommandFailure {
  const id = faulty?.headers.get('x-request-id')
  const more = id ? ` (request ${id} in the log)` : ''
  const advice = advices[code ?? ''] ?? (isPassing ? ': try again later' : '')
  const lines = details.map(({ path, message }) => `${path} ${message}`.trim())
  const options = code === undefined ? {} : { code }
  // As the command line begins its sentences; what is written in capitals stays.
  const said = error.replace(/^[A-Z](?![A-Z])/, first => first.toLowerCase())
  return new CommandFailure([`${said}${more}${advice}`, ...lines].join('\n'), options)
}
