import {
  constants,
  existsSync,
  readdirSync,
  type Stats,
  type StatsFs,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { attempt } from '../../core/attempt.ts'
import { shellWord } from '../../core/text/wording.ts'
import { minFree } from '../../runtime/readiness.ts'
import { sessionKey } from '../../runtime/session-key.ts'
import { explained } from '../failure.ts'
import { sizeOf } from '../output.ts'
import { accessProblem, error, type Finding, ok, type Subject, warning } from './finding.ts'

const { R_OK, W_OK, X_OK } = constants
const octal = (mode: number) => (mode & 0o7777).toString(8)

/** Whether the data directory exists, can be written by this user, and can be read by nobody else. */
export function checkDirectory({ data, databaseUrl, config }: Subject): Finding[] {
  if (data === null) return []
  const found = attempt(() => statSync(data), null)
  if (found && !found.isDirectory()) {
    return [error('directory', `${data} is not a directory`, 'choose another with --data')]
  }
  const problem = accessProblem(data, R_OK | W_OK | X_OK)
  if (problem === 'ENOENT') return [missing(data, databaseUrl !== null)]
  if (!found || problem !== null) return [unwritable(data, found, problem)]
  const makesTokens = !config?.sessionSecret && !config?.sessionIssuer
  const problems = [...checkFiles(data, found), ...(makesTokens ? checkSessionKey(data) : [])]
  if (problems.length === 0) {
    problems.push(ok('rights', 'its files are protected from other users'))
  }
  return [ok('directory', `${data} can be written by this user`), ...problems]
}

function missing(data: string, isNode: boolean): Finding {
  const what = `there is no data directory ${data} yet`
  const problem = accessProblem(nearestExisting(data), W_OK | X_OK)
  if (problem !== null) {
    const advice = 'make it for this user, or choose another with --data'
    return error('directory', `${what}, and this user cannot make it (${problem})`, advice)
  }
  if (isNode) return ok('directory', `${what}: the first start of a node makes it`)
  const begin = 'begin with "cairn org create NAME", or name another with --data or CAIRN_DATA'
  return warning('directory', what, begin)
}

function unwritable(data: string, found: Stats | null, problem: string | null): Finding {
  if (problem === 'EROFS') {
    const advice = 'mount it for writing (a failing disk can also turn read-only)'
    return error('directory', `${data} is on a file system that is mounted read-only`, advice)
  }
  const what = `${data} cannot be read and written by this user (${problem})`
  const isOwn = found?.uid === process.getuid?.()
  const advice = isOwn
    ? `run "chmod u+rwx ${shellWord(data)}"`
    : 'run as the user that the server runs as, or choose another with --data'
  return error('directory', what, advice)
}

/** What Cairn keeps in a data directory; other files are nobody's business. */
const ownNames =
  /^(cairn\.db(-wal|-shm)?|(server|backup|rewrite)\.lock|erasures\.jsonl|session\.key|(server|last-backup|issuer-keys)\.json|snippet|backups|copy)$/
/** The key is only read. */
const accessTo = (name: string) => (name === 'session.key' ? R_OK : R_OK | W_OK)

/** Rights that keep the server from its files, or let other users of the machine at them. */
function checkFiles(data: string, { uid, mode }: Stats): Finding[] {
  const files = readdirSync(data)
    .sort()
    .filter(name => ownNames.test(name))
    .map(name => ({ name, ...attempt(() => statSync(join(data, name)), { uid, mode: 0 }) }))
  const namesOf = (some: typeof files) => some.map(({ name }) => name).join(', ')
  const isClosed = ({ name }: { name: string }) =>
    accessProblem(join(data, name), accessTo(name)) !== null
  const findings: Finding[] = []
  const foreign = files.filter(file => file.uid !== uid)
  if (foreign.length > 0) {
    // Files that another user's command left (often root's) stop the server.
    const what = `not owned by user ${uid}, who owns ${data}: ${namesOf(foreign)}`
    const advice = `run "chown -R ${uid} ${shellWord(data)}", and always run cairn as that user`
    findings.push((foreign.some(isClosed) ? error : warning)('rights', what, advice))
  }
  const closed = files.filter(file => file.uid === uid && isClosed(file))
  if (closed.length > 0) {
    const paths = closed.map(({ name }) => shellWord(join(data, name))).join(' ')
    const what = `this user lacks rights to ${namesOf(closed)} in ${data}`
    findings.push(error('rights', what, `run "chmod u+rwX ${paths}" as user ${uid}`))
  }
  const advice = `run "chmod 700 ${shellWord(data)}"`
  const open = files.filter(file => file.mode & 0o077)
  if (mode & 0o022) {
    // Whatever the rights of a file in it are, another file can be put in its place.
    const what = `other users of this machine can replace files in ${data}, the session key too (mode ${octal(mode)})`
    findings.push(error('rights', what, advice))
  } else if (mode & 0o077 && open.length > 0) {
    const what = `other users of this machine can read ${namesOf(open)} in ${data} (mode ${octal(mode)})`
    findings.push(warning('rights', what, advice))
  }
  return findings
}

/** Checked only if it exists, because reading it would make it. */
function checkSessionKey(data: string): Finding[] {
  if (!existsSync(join(data, 'session.key'))) return []
  try {
    sessionKey(data)
    return []
  } catch (problem) {
    return [error('rights', explained(problem).lines.join(' '))]
  }
}

/** Less room than this is soon too little, bytes: 5 %, and 1 GB or a fifth of a small disk. */
const enoughFree = (totalBytes: number) =>
  Math.max(0.05 * totalBytes, Math.min(1e9, 0.2 * totalBytes))

/** File systems of other machines, by the number that Linux gives them (statfs(2)). */
const remote: Record<number, string> = {
  26985: 'NFS',
  20859: 'SMB',
  16914839: '9P',
  4266872130: 'SMB',
  4283649346: 'CIFS',
}

/** Whether the disk has room, and is one that SQLite can trust. */
export function checkDisk({ data }: Subject): Finding[] {
  return data === null ? [] : judgeDisk(data, statfsSync(nearestExisting(data)))
}

/** The same for what the system says about a file system (statfs(2)). */
export function judgeDisk(
  data: string,
  { type, bsize, bavail, blocks }: Pick<StatsFs, 'type' | 'bsize' | 'bavail' | 'blocks'>,
): Finding[] {
  const [free, total] = [bavail * bsize, Math.max(1, blocks * bsize)]
  const left = `${sizeOf(free)} (${((free / total) * 100).toFixed(1)} %) are free where ${data} is`
  const advice = 'make room, or move the data directory to a larger disk'
  const findings: Finding[] = []
  if (free < minFree(total)) findings.push(error('disk', left, advice))
  else if (free < enoughFree(total)) findings.push(warning('disk', left, advice))
  else findings.push(ok('disk', left))
  const kind = process.platform === 'linux' ? remote[type >>> 0] : undefined
  if (kind) {
    const what = `${data} is on a file system of another machine (${kind}), where SQLite's locks and write-ahead log are not safe`
    findings.push(warning('disk', what, 'keep the data on a local disk'))
  }
  return findings
}

/** The path itself, or the directory above it in which it would be made. */
function nearestExisting(path: string): string {
  let found = resolve(path)
  while (!existsSync(found)) found = dirname(found)
  return found
}
