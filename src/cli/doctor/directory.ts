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
import { accessProblem, error, type Findings, ok, type Subject, warning } from './findings.ts'

const { R_OK, W_OK, X_OK } = constants

/** Whether the data directory exists, can be written by this user, and can be read by nobody else. */
export function* checkDirectory({ data, databaseUrl, config }: Subject): Findings {
  if (data === null) return
  const found = attempt(() => statSync(data), null)
  if (found && !found.isDirectory()) {
    return yield error('directory', `${data} is not a directory.`, 'Choose another with --data.')
  }
  const problem = accessProblem(data, R_OK | W_OK | X_OK)
  if (problem === 'ENOENT') return yield* missing(data, databaseUrl !== null)
  if (!found || problem !== null) return yield unwritable(data, found, problem)
  yield ok('directory', `Data directory: ${data}`)
  const createsTokens = !config?.sessionSecret && !config?.sessionIssuer
  const problems = [...rightsProblems(data, found), ...(createsTokens ? keyProblems(data) : [])]
  yield* problems
  if (problems.length === 0) yield ok('rights', 'Other users cannot read its files')
}

function* missing(data: string, isNode: boolean): Findings {
  const what = `Data directory not found: ${data}.`
  const problem = accessProblem(nearestExisting(data), W_OK | X_OK)
  if (problem !== null) {
    const advice = 'Make it for this user, or choose another with --data.'
    yield error('directory', `${what} This user cannot make it (${problem}).`, advice)
  } else if (isNode) yield ok('directory', `${what} The server makes it.`)
  else yield warning('directory', what, 'Run "cairn org create NAME", or set --data or CAIRN_DATA.')
}

function unwritable(data: string, found: Stats | null, problem: string | null) {
  if (problem === 'EROFS') {
    const advice = 'Mount it for writing. A failing disk can also become read-only.'
    return error('directory', `${data} is on a read-only file system.`, advice)
  }
  const isOwn = found?.uid === process.getuid?.()
  const advice = isOwn
    ? `Run "chmod u+rwx ${shellWord(data)}".`
    : 'Run this as the user of the server, or choose another with --data.'
  return error('directory', `This user cannot read and write ${data} (${problem}).`, advice)
}

/** What Cairn stores in a data directory. Other files are not checked. */
const ownNames =
  /^(cairn\.db(-wal|-shm)?|(server|backup|rewrite)\.lock|erasures\.jsonl|session\.key|(server|last-backup|issuer-keys)\.json|snippet|backups|copy)$/

/** Rights that keep the server from its files, or give other users access to them. */
function* rightsProblems(data: string, { uid, mode }: Stats): Findings {
  const files = readdirSync(data)
    .filter(name => ownNames.test(name))
    .sort()
    .map(name => {
      // The key is only read.
      const access = name === 'session.key' ? R_OK : R_OK | W_OK
      const isClosed = accessProblem(join(data, name), access) !== null
      return { name, isClosed, ...attempt(() => statSync(join(data, name)), { uid, mode: 0 }) }
    })
  const namesOf = (some: typeof files) => some.map(({ name }) => name).join(', ')
  const foreign = files.filter(file => file.uid !== uid)
  if (foreign.length > 0) {
    // Files that another user's command left (often root's) stop the server.
    const what = `Not owned by user ${uid}, the owner of ${data}: ${namesOf(foreign)}`
    const advice = `Run "chown -R ${uid} ${shellWord(data)}", and always run cairn as that user.`
    yield (foreign.some(({ isClosed }) => isClosed) ? error : warning)('rights', what, advice)
  }
  const closed = files.filter(file => file.uid === uid && file.isClosed)
  if (closed.length > 0) {
    const paths = closed.map(({ name }) => shellWord(join(data, name))).join(' ')
    const what = `This user cannot access ${namesOf(closed)} in ${data}.`
    yield error('rights', what, `Run "chmod u+rwX ${paths}" as user ${uid}.`)
  }
  const ofMode = `in ${data} (mode ${(mode & 0o7777).toString(8)}).`
  const advice = `Run "chmod 700 ${shellWord(data)}".`
  const open = files.filter(file => file.mode & 0o077)
  if (mode & 0o022) {
    // Whatever the rights of a file in it are, another file can be put in its place.
    yield error('rights', `Other users can replace files, also the session key, ${ofMode}`, advice)
  } else if (mode & 0o077 && open.length > 0) {
    yield warning('rights', `Other users can read ${namesOf(open)} ${ofMode}`, advice)
  }
}

/** Checked only if it exists, because reading it would make it. */
function* keyProblems(data: string): Findings {
  if (!existsSync(join(data, 'session.key'))) return
  try {
    sessionKey(data)
  } catch (problem) {
    yield error('rights', explained(problem).lines.join(' '))
  }
}

/** Less free space than this runs out soon, bytes: 5 %, and 1 GB or a fifth of a small disk. */
const enoughFree = (totalBytes: number) =>
  Math.max(0.05 * totalBytes, Math.min(1e9, 0.2 * totalBytes))

/** NFS, SMB (two numbers), 9P and CIFS on Linux (statfs(2)). */
const remoteTypes = [26985, 20859, 4266872130, 16914839, 4283649346]

/** Whether the disk has free space, and SQLite works on it. */
export function* checkDisk({ data }: Subject): Findings {
  if (data !== null) yield* judgeDisk(data, statfsSync(nearestExisting(data)))
}

/** @param disk what the system reports about it (statfs(2)) */
export function* judgeDisk(
  data: string,
  { type, bsize, bavail, blocks }: Pick<StatsFs, 'type' | 'bsize' | 'bavail' | 'blocks'>,
): Findings {
  const [free, total] = [bavail * bsize, Math.max(1, blocks * bsize)]
  const what = `Free disk space: ${sizeOf(free)} (${((free / total) * 100).toFixed(1)}%)`
  const advice = 'Free some, or move the data directory to a larger disk.'
  if (free >= enoughFree(total)) yield ok('disk', what)
  else yield (free < minFree(total) ? error : warning)('disk', what, advice)
  if (process.platform === 'linux' && remoteTypes.includes(type >>> 0)) {
    const what = `${data} is on a network file system, where SQLite is not safe.`
    yield warning('disk', what, 'Move the data to a local disk.')
  }
}

/** The path itself, or the directory above it in which it would be made. */
function nearestExisting(path: string): string {
  let found = resolve(path)
  while (!existsSync(found)) found = dirname(found)
  return found
}
