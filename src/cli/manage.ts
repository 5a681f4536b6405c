import { hostname, userInfo } from 'node:os'
import type { Command } from 'commander'
import { Option } from 'commander'
import { shown } from '../core/text/wording.ts'
import { version } from '../core/version.ts'
import { linesType } from '../http/long-work.ts'
import type { OrganisationList, Settings } from '../modules/organisations/model.ts'
import { acquireLock, holderOf, isHeld, LockHeld, socketFile } from '../server/lock.ts'
import { requireData, requireNoServer, requireUsableData } from './data.ts'
import { fetchElsewhere, serverAddress, tokenOfEnvironment } from './elsewhere.ts'
import { CommandFailure, UsageFailure } from './failure.ts'
import { tell } from './output.ts'
import { settingsOf } from './settings.ts'

/** Asks the management API, wherever it is: on a server elsewhere, here, or in this very process. */
export interface Manager {
  /**
   * @param what a method and a path below `/api/v1/manage`, such as `GET /flows`
   * @throws CommandFailure with what the API has against it
   */
  ask<T>(what: string, options?: AskOptions): Promise<T>
  /** As `ask`, for an answer of any size: its text, as it comes. */
  download(what: string): Promise<AsyncIterable<string>>
  /** Whether there is only one organisation to mean, so that commands to copy need not name it. */
  isOnlyOne: boolean
  /** Its slug. */
  organisation: string
  /** `org_…`. */
  id: string
}

export interface AskOptions {
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** Told how far long work is, in the API's words. */
  onProgress?(progress: never): void
}

/** What every command takes that asks the management API. */
export interface ManagerOptions {
  org?: string
  url?: string
}

type Send = (path: string, init: RequestInit) => Promise<Response>

/** Adds the options by which a command is told whom to ask. */
export const addManaged = (command: Command): Command =>
  addUrl(command.option('--org <org>', 'id or slug; may be left out where there is only one'))

/** The same for a command that takes the organisation as its argument. */
export const addUrl = (command: Command): Command =>
  command.addOption(
    new Option('--url <url>', 'ask a server elsewhere, by the management token in CAIRN_TOKEN'),
  )

/** Which organisation a command means, and how it is told. */
export interface Named {
  org: string | undefined
  /** For the error where it is not told. */
  how: string
}

const byOption = (command: Command): Named => ({
  org: command.opts<ManagerOptions>().org,
  how: 'with --org',
})

/** Does a command's work with somebody to ask, and lets them go after it. */
export async function managed<T>(
  command: Command,
  work: (manager: Manager) => Promise<T>,
  named = byOption(command),
): Promise<T> {
  const { url } = command.opts<ManagerOptions>()
  return url === undefined ? managedHere(command, work, named) : elsewhere(url, named.org, work)
}

/** The same on this machine alone. */
export async function managedHere<T>(
  command: Command,
  work: (manager: Manager) => Promise<T>,
  named = byOption(command),
): Promise<T> {
  const { data } = settingsOf(command, 'data')
  requireData(data)
  return here(data, send => organisationHere(send, named).then(work))
}

/** As `managed`, for a command of `cairn org`, which takes the organisation as its first argument. */
export const managedOrg = <T>(
  command: Command,
  org: string | undefined,
  work: (manager: Manager) => Promise<T>,
): Promise<T> =>
  managed(command, work, { org, how: `as the first argument, "cairn org ${command.name()} ORG"` })

/** As `managed`, with every organisation where none is named. */
export async function managedEach<T>(
  command: Command,
  work: (managers: readonly Manager[]) => Promise<T>,
): Promise<T> {
  const { org, url } = command.opts<ManagerOptions>()
  if (org !== undefined || url !== undefined) return managed(command, one => work([one]))
  const { data } = settingsOf(command, 'data')
  requireData(data)
  return here(data, async send => {
    const all = await allOrganisations(asking(send, operator()).ask)
    if (all.length > 1) return work(all.map(one => managerOf(send, one, all.length)))
    return work([await organisationHere(send, byOption(command))])
  })
}

/** As `managedHere`, for what is about no organisation or about several. */
export const operated = <T>(
  dataDir: string,
  work: (ask: Manager['ask']) => Promise<T>,
): Promise<T> => here(dataDir, send => work(asking(send, operator()).ask))

async function here<T>(dataDir: string, work: (send: Send) => Promise<T>): Promise<T> {
  const lock = await lockOrServer(dataDir)
  if (lock === null) return work(overSocket(dataDir))
  try {
    requireUsableData(dataDir)
    // Loaded here, so that no other command holds the server.
    const { doorInProcess } = await import('../server/in-process.ts')
    const door = doorInProcess(dataDir)
    try {
      return await work((path, init) => door.fetch(new Request(`http://cairn${path}`, init)))
    } catch (error) {
      throw door.fault ?? error
    } finally {
      await door.close()
    }
  } finally {
    lock.release()
  }
}

/** How long another command is waited for, and how often it is looked, milliseconds. */
const patienceMs = 30_000
const pauseMs = 20

/** The data directory's lock; null where a server has it, which is asked instead. */
async function lockOrServer(dataDir: string) {
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      return acquireLock(dataDir, {
        pid: process.pid,
        host: hostname(),
        startedAt: new Date().toISOString(),
        port: 0,
        managementHost: '',
        managementPort: 0,
        version,
      })
    } catch (error) {
      if (!(error instanceof LockHeld)) throw error
      // A command has no port, and is soon done.
      if ((holderOf(dataDir)?.port ?? 0) > 0) return null
      if (performance.now() > deadline) throw error
      await Bun.sleep(pauseMs)
    }
  }
}

function overSocket(dataDir: string): Send {
  const unix = socketFile(dataDir)
  return async (path, init) => {
    const deadline = performance.now() + patienceMs
    for (;;) {
      try {
        return await fetch(`http://cairn${path}`, { ...init, unix } as RequestInit)
      } catch (error) {
        // One of an older release has no such socket.
        if (holderOf(dataDir)?.version !== version) requireNoServer(dataDir)
        // It has the lock before it answers, while it prepares its database.
        const isGone = !isHeld(dataDir) || performance.now() > deadline
        if (isGone || !/FailedToOpenSocket|ENOENT|ECONNREFUSED/.test(codeOf(error))) {
          throw new CommandFailure(
            `the running server does not answer at ${unix} (${codeOf(error)}): see its log`,
          )
        }
        await Bun.sleep(pauseMs)
      }
    }
  }
}

const codeOf = (error: unknown) => String((error as { code?: string }).code ?? error)

/** The operator, with the organisation that is meant. */
async function organisationHere(send: Send, named: Named): Promise<Manager> {
  const query = named.org === undefined ? '' : `?named=${encodeURIComponent(named.org)}`
  const { organisations, total } = await asking(send, operator()).ask<OrganisationList>(
    `GET /organisations${query}`,
  )
  return managerOf(send, theOne(organisations, total, named), total)
}

/** @param total how many organisations there are */
function managerOf(send: Send, { slug, id }: { slug: string; id: string }, total: number): Manager {
  const asked = asking(send, { ...operator(), 'cairn-organisation': id })
  return { ...asked, isOnlyOne: total === 1, organisation: slug, id }
}

/** Every organisation of the server, by slug, asked for page by page. */
export async function allOrganisations(ask: Manager['ask']): Promise<Settings[]> {
  const all: Settings[] = []
  for (let query: string | null = ''; query !== null; ) {
    const page: OrganisationList = await ask(`GET /organisations${query}`)
    all.push(...page.organisations)
    query = page.next && `?after=${page.next}`
  }
  return all
}

const operator = () => ({ 'cairn-operator': operatorName() })

/** Who runs the command, as the audit log tells it; who became root by sudo is named as well. */
function operatorName(): string {
  const { username, uid } = userInfo()
  // Bun knows no other name than the environment's.
  const name = username === 'unknown' ? `user ${uid}` : username
  const { SUDO_USER } = process.env
  return SUDO_USER ? `${SUDO_USER} as ${name}` : name
}

function theOne(
  found: readonly { slug: string; id: string }[],
  total: number,
  { org, how }: Named,
): { slug: string; id: string } {
  const [only] = found
  if (org !== undefined) {
    if (only) return only
    throw new CommandFailure(
      `there is no organisation "${shown(org, 100)}": see "cairn org list" for ids and slugs`,
    )
  }
  if (!only) throw new CommandFailure('there is no organisation: make one, "cairn org create NAME"')
  if (total === 1) return only
  const some = found.slice(0, 5).map(({ slug }) => slug)
  const more = total > some.length ? `, … (${total} in all)` : ''
  throw new UsageFailure(`say which organisation ${how}: ${some.join(', ')}${more}`)
}

/** A server elsewhere; its token says which organisation is meant. */
async function elsewhere<T>(
  url: string,
  org: string | undefined,
  work: (manager: Manager) => Promise<T>,
): Promise<T> {
  const root = serverAddress(url)
  const token = tokenOfEnvironment()
  const send: Send = (path, init) => fetchElsewhere(root, path, init)
  const asked = asking(send, { authorization: `Bearer ${token}` })
  const { organisation } = await asked.ask<{ organisation?: { slug: string; id: string } }>(
    'GET /me',
  )
  if (!organisation) throw notCairn(200)
  if (org !== undefined && org !== organisation.slug && org !== organisation.id) {
    throw new CommandFailure(
      `CAIRN_TOKEN is for the organisation ${organisation.slug}, not for "${shown(org, 100)}"`,
    )
  }
  const { slug, id } = organisation
  return work({ ...asked, isOnlyOne: true, organisation: slug, id })
}

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

const notCairn = (status: number) =>
  new CommandFailure(`the server answered ${status}, and not as Cairn does: is --url right?`)

function asking(
  send: Send,
  credential: Readonly<Record<string, string>>,
): Pick<Manager, 'ask' | 'download'> {
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
      const response = await send(`/api/v1/manage${path}`, init)
      if (response.ok) return response
      const seconds = tries < mostTries ? waitAskedBy(response) : null
      if (seconds === null) throw await failureOf(response)
      if (seconds > 1) tell(`the server asks to wait ${seconds} s`)
      await Bun.sleep(seconds * 1_000)
    }
  }
  return {
    async ask<T>(what: string, options: AskOptions = {}) {
      const response = await answerTo(what, options)
      if (options.onProgress) return (await resultIn(response, options.onProgress)) as T
      return (response.status === 204 ? null : await jsonOf(response)) as T
    },
    download: async what => textOf(await answerTo(what, {})),
  }
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
  flow_not_found: ': push it first, or see "cairn flows list"',
  nothing_to_repair: ' (--selector)',
  slug_taken: ' with --slug',
  too_many_flows: ': "cairn flows archive KEY"',
  two_secrets_work: ' (--now)',
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
