import { accessSync, constants, existsSync, readdirSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../core/attempt.ts'
import { shellWord } from '../../core/text/wording.ts'
import { sessionKey } from '../../runtime/session-key.ts'
import { explained } from '../failure.ts'
import { nearestExisting } from './disk-check.ts'
import { error, type Finding, isAllowed, ok, type Subject, warning } from './finding.ts'

/** Whether the data directory exists, can be written by this user, and can be read by nobody else. */
export function checkDirectory({ data, databaseUrl, config }: Subject): Finding[] {
  if (data === null) return []
  let found: Stats | undefined
  try {
    found = statSync(data, { throwIfNoEntry: false })
  } catch (fault) {
    const { code } = fault as { code?: string }
    const advice = 'run this as the user that the server runs as, or choose another with --data'
    return [error('directory', `${data} cannot be reached by this user (${code})`, advice)]
  }
  if (!found) return [notThere(data, databaseUrl !== null)]
  if (!found.isDirectory()) {
    return [error('directory', `${data} is not a directory`, 'choose another with --data')]
  }
  const fault = whyUnwritable(data, found)
  if (fault) return [fault]
  const makesTokens = !config?.sessionSecret && !config?.sessionIssuer
  const used = usedIn(data)
  const faults = [
    ...checkOwners(data, used, found),
    ...checkUsable(data, used, found),
    ...checkOthers(data, used, found),
    ...(makesTokens ? checkSessionKey(data) : []),
  ]
  const findings = [ok('directory', `${data} can be written by this user`), ...faults]
  if (faults.length === 0) findings.push(ok('rights', 'its files are protected from other users'))
  return findings
}

function notThere(data: string, isNode: boolean): Finding {
  const what = `there is no data directory ${data} yet`
  try {
    accessSync(nearestExisting(data), constants.W_OK | constants.X_OK)
  } catch (fault) {
    const { code } = fault as { code?: string }
    const advice = 'make it for this user, or choose another with --data'
    return error('directory', `${what}, and this user cannot make it (${code})`, advice)
  }
  if (isNode) return ok('directory', `${what}: the first start of a node makes it`)
  const begin = 'begin with "cairn org create NAME", or name another with --data or CAIRN_DATA'
  return warning('directory', what, begin)
}

function whyUnwritable(data: string, { uid, mode }: Stats): Finding | null {
  try {
    accessSync(data, constants.R_OK | constants.W_OK | constants.X_OK)
    return null
  } catch (fault) {
    const { code } = fault as { code?: string }
    if (code === 'EROFS') {
      const what = `${data} is on a file system that is mounted read-only`
      return error(
        'directory',
        what,
        'mount it for writing (a failing disk can also turn read-only)',
      )
    }
    const denied = `${data} cannot be read and written by this user (${code})`
    if (uid === process.getuid?.()) {
      const what = `${denied}: its mode is ${octal(mode)}`
      return error('directory', what, `run "chmod u+rwx ${shellWord(data)}"`)
    }
    const what = `${denied}: it belongs to user ${uid}, this is user ${process.getuid?.()}`
    return error('directory', what, 'run as that user, or give this one access')
  }
}

const { R_OK, W_OK, X_OK } = constants

/** What Cairn uses in a data directory, and the access that it needs; it replaces the last ones as a whole. */
const uses: readonly [RegExp, number][] = [
  [
    /^(cairn\.db(-wal|-shm)?|(server|backup|rewrite)\.lock(-journal)?|erasures\.jsonl)$/,
    R_OK | W_OK,
  ],
  [/^(snippet|backups|copy)$/, R_OK | W_OK | X_OK],
  [/^(session\.key|(server|last-backup|issuer-keys)\.json|(snippet|backups)\/.+)$/, R_OK],
]

/** A file or a directory that Cairn uses. */
interface Used extends Pick<Stats, 'uid' | 'mode'> {
  name: string
  path: string
  /** Whether this user has the access that Cairn needs. */
  isUsable: boolean
}

/** Those that exist, by name. */
function usedIn(data: string): Used[] {
  const inner = ['snippet', 'backups'].flatMap(folder =>
    attempt(() => readdirSync(join(data, folder)), []).map(name => `${folder}/${name}`),
  )
  return [...readdirSync(data), ...inner].sort().flatMap(name => {
    const access = uses.find(([pattern]) => pattern.test(name))?.[1]
    const path = join(data, name)
    const found = attempt(() => statSync(path), null)
    if (access === undefined || found === null) return []
    return [{ name, path, uid: found.uid, mode: found.mode, isUsable: isAllowed(path, access) }]
  })
}

const namesOf = (used: readonly Used[]) => used.map(({ name }) => name).join(', ')

/** Files that another user's command left (often root's) stop the server. */
function checkOwners(data: string, used: readonly Used[], { uid }: Stats): Finding[] {
  const foreign = used.filter(file => file.uid !== uid)
  if (foreign.length === 0) return []
  const what = `not owned by user ${uid}, who owns ${data}: ${namesOf(foreign)}`
  const advice = `run "chown -R ${uid} ${data}", and always run cairn as that user`
  return [(foreign.every(({ isUsable }) => isUsable) ? warning : error)('rights', what, advice)]
}

/** Files that their owner, or a backup, has made read-only: the server cannot start on them. */
function checkUsable(data: string, used: readonly Used[], { uid }: Stats): Finding[] {
  // Files of other users are reported by `checkOwners`.
  const faulty = used.filter(file => file.uid === uid && !file.isUsable)
  if (faulty.length === 0) return []
  const paths = faulty.map(({ path }) => shellWord(path)).join(' ')
  const advice =
    uid === process.getuid?.() ? `run "chmod u+rwX ${paths}"` : `run cairn as user ${uid}`
  return [error('rights', `this user lacks rights to ${namesOf(faulty)} in ${data}`, advice)]
}

const forOthers = 0o077
const writableToOthers = 0o022
const octal = (mode: number) => (mode & 0o7777).toString(8)

function checkOthers(data: string, used: readonly Used[], { mode }: Stats): Finding[] {
  // Users who cannot enter the directory cannot reach the files either.
  if ((mode & forOthers) === 0) return []
  const advice = `run "chmod 700 ${shellWord(data)}"`
  if (mode & writableToOthers) {
    // Whatever the rights of a file in it are, another file can be put in its place.
    const what = `other users of this machine can replace files in ${data}, the session key too (mode ${octal(mode)})`
    return [error('rights', what, advice)]
  }
  const open = used.filter(file => file.mode & forOthers)
  if (open.length === 0) return []
  const what = `other users of this machine can read ${namesOf(open)} in ${data} (mode ${octal(mode)})`
  return [warning('rights', what, advice)]
}

/** Looked at only if it exists, because reading it would make it. */
function checkSessionKey(data: string): Finding[] {
  if (!existsSync(join(data, 'session.key'))) return []
  try {
    sessionKey(data)
    return []
  } catch (fault) {
    return [error('rights', explained(fault).lines.join(' '), null)]
  }
}
