import { readFileSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import type { SettingName } from '../config/settings.ts'
import { attempt } from '../core/attempt.ts'
import { shown } from '../core/text/wording.ts'
import type { Clock } from '../core/time/clock.ts'
import { version } from '../core/version.ts'
import type { OrganisationList, Settings } from '../modules/organisations/schema.ts'
import {
  acquireLock,
  holderOf,
  isHeld,
  LockHeld,
  type LockHolder,
  socketFile,
} from '../runtime/lock.ts'
import { requireOwnData, type StoragePlace } from '../runtime/place.ts'
import { databasePlace } from '../storage/log/postgres/inspection.ts'
import { type Asker, asking, codeOf, notCairn, notCairnCode, type Send } from './asking.ts'
import type { Command, Flags } from './command.ts'
import { makeData, requireData, requireNoServer, requireUsableData } from './data.ts'
import { fetchElsewhere, serverAddress, tokenIn } from './elsewhere.ts'
import { CommandFailure, UsageFailure } from './failure.ts'
import { addSettings, settingsOf } from './settings.ts'

/** The management API of a remote server, of a server on this machine, or in this process. */
export interface Manager extends Asker {
  /** Whether there is only one organisation, so that printed commands need not name it. */
  isOnlyOne: boolean
  /** Its slug. */
  organisation: string
  /** `org_…`. */
  id: string
  /** Sends a request to any path of the server, with the caller's credential. */
  send: Send
}

type Work<T> = (manager: Manager) => Promise<T>

/** The options of a command that name an organisation and a server. */
interface Target {
  org?: boolean
  url?: boolean
  /** Further settings that it needs. */
  settings?: readonly SettingName[]
}

/** Adds the options that name an organisation and a server. */
export function addTarget(command: Command, { org = true, url = org, settings = [] }: Target = {}) {
  command.optionsGroup('Server and organisation:')
  addSettings(command, ['data', ...settings])
  if (org) command.option('--org <org>', 'id or slug of the organisation, if there are several')
  if (url) {
    command.option('--url <url>', 'use a remote server, with a management token in CAIRN_TOKEN')
  }
  return command
}

const targetOf = (command: Command) => command.opts<Flags<'org' | 'url'>>()

/** Does a command's work with the organisation and on the server that its options name. */
export function managed<T>(command: Command, work: Work<T>): Promise<T> {
  const { org, url } = targetOf(command)
  return url === undefined ? managedAt(placeOf(command), org, work) : elsewhere(url, org, work)
}

/** The same on the data that is stored at a place. */
export const managedAt = <T>(place: StoragePlace, org: string | undefined, work: Work<T>) =>
  here(place, send => organisationHere(send, org).then(work))

/** Does work with the door to the data that is stored at a place. @param time see `doorInProcess` */
export const atDoor = <T>(
  place: StoragePlace,
  work: (send: Send) => Promise<T>,
  time?: Partial<Clock>,
): Promise<T> => here(place, work, time)

/** Like `managed` without `--url`, for work that is about no organisation or about several. */
export const operated = <T>(place: StoragePlace, work: (asker: Asker) => Promise<T>): Promise<T> =>
  here(place, send => work(asking(send, operator())))

/** Like `managed`, but asks without an organisation if there are several and none is named. */
export function managedOrOperated<T>(
  command: Command,
  work: (asker: Asker) => Promise<T>,
): Promise<T> {
  const { org, url } = targetOf(command)
  if (org !== undefined || url !== undefined) return managed(command, work)
  return here(placeOf(command), async send => {
    const asker = asking(send, operator())
    const { organisations, total } = await asker.ask<OrganisationList>('GET /organisations')
    const [only] = organisations
    return work(total === 1 && only ? managerOf(send, only, total) : asker)
  })
}

/**
 * Where a command's data is stored: in a data directory, or in the database that the settings name.
 *
 * @param isMade whether a directory that is missing is made
 * @throws CommandFailure, DatabaseLost if a directory has no data
 */
export function placeOf(command: Command, isMade = false): StoragePlace {
  const place = settingsOf(command, 'data', 'databaseUrl')
  if (place.databaseUrl === null && !isMade) requireData(place.data)
  else makeData(place)
  return place
}

/** The server on this machine that has the data stored at a place; null if none runs. */
export function serverOf({ data, databaseUrl }: StoragePlace): LockHolder | null {
  const holder = attempt(() => isHeld(data), false) ? holderOf(data) : null
  // A command has no port.
  if (holder === null || holder.port === 0) return null
  const isOther = databaseUrl !== null && holder.database !== databasePlace(databaseUrl)
  return isOther ? null : holder
}

/** @throws CommandFailure if no server runs on the data */
export function requireServer(place: StoragePlace): void {
  if (serverOf(place) !== null) return
  throw new CommandFailure(
    'no server is running on this data: start it with "cairn serve", or use --url',
  )
}

/** @throws CommandFailure if a server runs on the directory over another database, or over none */
function requireSameDatabase(place: StoragePlace): void {
  const { data, databaseUrl } = place
  const holder = attempt(() => isHeld(data), false) ? holderOf(data) : null
  if (databaseUrl === null || holder === null || holder.port === 0 || serverOf(place)) return
  throw new CommandFailure(
    `the server on ${data} uses another database than CAIRN_DATABASE_URL: choose another directory with --data`,
  )
}

async function here<T>(
  place: StoragePlace,
  work: (send: Send) => Promise<T>,
  time?: Partial<Clock>,
): Promise<T> {
  const { data, databaseUrl } = place
  requireSameDatabase(place)
  const lock = await lockOrServer(data)
  if (lock === null) return work(overSocket(data))
  try {
    if (databaseUrl === null) {
      requireOwnData(data)
      requireUsableData(data)
    }
    return await inProcess(place, work, time)
  } finally {
    lock.release()
  }
}

async function inProcess<T>(
  place: StoragePlace,
  work: (send: Send) => Promise<T>,
  time?: Partial<Clock>,
): Promise<T> {
  // Loaded here, so that no other command loads the server.
  const { doorInProcess } = await import('../runtime/in-process.ts')
  const door = await doorInProcess(place, time)
  try {
    return await work((path, init) => door.fetch(new Request(`http://cairn${path}`, init)))
  } catch (error) {
    throw door.fault ?? error
  } finally {
    await door.close()
  }
}

/** How long another command is waited for, and how often the lock is tried, milliseconds. */
const patienceMs = 30_000
const pauseMs = 20

/** The data directory's lock; null if a server has it, which then does the work. */
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
        // A server of an older release has no such socket.
        if (holderOf(dataDir)?.version !== version) requireNoServer(dataDir)
        // The server has the lock before it answers, while it prepares its database.
        const isGone = !isHeld(dataDir) || performance.now() > deadline
        if (isGone || !/FailedToOpenSocket|ENOENT|ECONNREFUSED/.test(codeOf(error))) {
          throw new CommandFailure(
            `no response from the running server at ${unix} (${codeOf(error)}): see its log`,
          )
        }
        await Bun.sleep(pauseMs)
      }
    }
  }
}

/** A manager for the operator, with the organisation that is meant. */
async function organisationHere(send: Send, org: string | undefined): Promise<Manager> {
  const query = org === undefined ? '' : `?named=${encodeURIComponent(org)}`
  const { organisations, total } = await asking(send, operator()).ask<OrganisationList>(
    `GET /organisations${query}`,
  )
  return managerOf(send, theOne(organisations, total, org), total)
}

/** @param total how many organisations there are */
function managerOf(send: Send, { slug, id }: { slug: string; id: string }, total: number): Manager {
  const credential = { ...operator(), 'cairn-organisation': id }
  return {
    ...asking(send, credential),
    isOnlyOne: total === 1,
    organisation: slug,
    id,
    send: withCredential(send, credential),
  }
}

const withCredential =
  (send: Send, credential: Readonly<Record<string, string>>): Send =>
  (path, init) =>
    send(path, { ...init, headers: { ...(init.headers as Record<string, string>), ...credential } })

/** Every organisation of the server, by slug, fetched page by page. */
export async function allOrganisations({ ask }: Asker): Promise<Settings[]> {
  const all: Settings[] = []
  for (let query: string | null = ''; query !== null; ) {
    const page: OrganisationList = await ask(`GET /organisations${query}`)
    all.push(...page.organisations)
    query = page.next && `?after=${page.next}`
  }
  return all
}

/** The credential of whoever runs the command. */
export const operator = () => ({ 'cairn-operator': operatorName() })

/**
 * The user who runs the command, as the audit log names them. A user who became root with sudo is named as
 * well.
 */
function operatorName(): string {
  const { username, uid } = userInfo()
  // Bun knows only the name in the environment, which services and containers do not set.
  const name = username === 'unknown' ? (accountName(uid) ?? `user ${uid}`) : username
  const { SUDO_USER } = process.env
  return SUDO_USER ? `${SUDO_USER} as ${name}` : name
}

/** The name of an account of this machine; undefined if it has none. */
function accountName(uid: number): string | undefined {
  const accounts = attempt(() => readFileSync('/etc/passwd', 'utf8'), '')
  return new RegExp(`^([^:\n]+):[^:\n]*:${uid}:`, 'm').exec(accounts)?.[1]
}

function theOne(
  found: readonly { slug: string; id: string }[],
  total: number,
  org: string | undefined,
): { slug: string; id: string } {
  const [only] = found
  if (org !== undefined) {
    if (only) return only
    throw new CommandFailure(`organisation "${shown(org, 100)}" not found: see "cairn org list"`)
  }
  if (!only) throw new CommandFailure('no organisations: create one with "cairn org create NAME"')
  if (total === 1) return only
  const some = found.slice(0, 5).map(({ slug }) => slug)
  const more = total > some.length ? `, … (${total} in all)` : ''
  throw new UsageFailure(`choose an organisation with --org: ${some.join(', ')}${more}`)
}

/** The error of the first request, or that its address has a path too many, such as that of the API. */
function withoutPath(error: unknown, root: string): unknown {
  const { origin, pathname } = new URL(root)
  if (pathname === '/' || !['not_found', notCairnCode].includes(codeOf(error))) return error
  return new CommandFailure(`no Cairn at ${root}: use --url ${origin}, without a path`)
}

/** A remote server. The token decides the organisation. */
async function elsewhere<T>(url: string, org: string | undefined, work: Work<T>): Promise<T> {
  const root = serverAddress(url)
  const token = tokenIn('CAIRN_TOKEN')
  const send: Send = (path, init) => fetchElsewhere(root, path, init)
  const credential = { authorization: `Bearer ${token}` }
  const asker = asking(send, credential)
  const { organisation } = await asker
    .ask<{ organisation?: { slug: string; id: string } }>('GET /me')
    .catch(error => {
      throw withoutPath(error, root)
    })
  if (!organisation) throw notCairn(200)
  if (org !== undefined && org !== organisation.slug && org !== organisation.id) {
    throw new CommandFailure(
      `CAIRN_TOKEN is for the organisation ${organisation.slug}, not for "${shown(org, 100)}"`,
    )
  }
  const { slug, id } = organisation
  return work({
    ...asker,
    isOnlyOne: true,
    organisation: slug,
    id,
    send: withCredential(send, credential),
  })
}
