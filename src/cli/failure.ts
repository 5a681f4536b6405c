import { ConfigError } from '../config/read-config.ts'
import { tell } from './output.ts'

export const exitStatus = { ok: 0, failure: 1, usage: 2 } as const

/** A command that failed: the message has the problem and what to do. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly status: number
  /** The code of the API's error response, if there was one. */
  readonly code: string | undefined

  constructor(message: string, options: ErrorOptions & { status?: number; code?: string } = {}) {
    super(message, options)
    this.code = options.code
    this.status = options.status ?? exitStatus.failure
  }
}

/** A command that was used wrongly. */
export class UsageFailure extends Error {
  override readonly name = 'UsageFailure'
}

/** Errors whose message was written for the operator. They are recognised by name: see `explained`. */
const forOperators = [
  'CommandFailure',
  'UsageFailure',
  'ConfigError',
  'LockHeld',
  'DataDirectoryUnusable',
  'PortTaken',
  'LimitsUnusable',
  'SessionKeyUnusable',
  'SchemaMismatch',
  'DatabaseLost',
  'DatabaseUnusable',
  'BackupRejected',
  'RestoreRejected',
  'WrongStorage',
  'NotOfThisLog',
  'ErasuresUnreadable',
]

/** Common errors of files and of SQLite, for an operator. */
const advice: [RegExp, string][] = [
  [/^SQLITE_BUSY/, 'the database is busy, because another process is writing: try again'],
  [
    /^(SQLITE_READONLY|SQLITE_CANTOPEN|EACCES|EPERM)/,
    'cannot write the data directory or a file in it: give this user access ("cairn doctor" names the file), or choose another with --data',
  ],
  [
    /^EROFS/,
    'read-only file system: mount those of the data directory and of temporary files for writing',
  ],
  // The last: no room for the shared memory beside the write-ahead log.
  [
    /^(SQLITE_FULL|ENOSPC|EDQUOT|SQLITE_IOERR_SHMSIZE)/,
    'the disk is full: free some space and try again',
  ],
  [
    /^(SQLITE_NOTADB|SQLITE_CORRUPT)/,
    'cairn.db is damaged or not a database: keep a copy of the data directory, and restore a backup; "cairn doctor --full" shows more',
  ],
  [
    /^(SQLITE_IOERR|EIO$)/,
    'the disk failed while reading or writing: check the disk and its free space',
  ],
  [/^EADDRINUSE/, 'the port is taken: choose another with --port or --management-port'],
]

/**
 * An error as lines for the terminal, and the exit status. Names are compared, not classes, so that a command
 * need not load the server's modules just for a message.
 */
export function explained(error: unknown): { lines: string[]; status: number } {
  const { name = '', message = String(error) } = error as Partial<Error>
  const status = statusOf(error)
  if (forOperators.includes(name)) return { lines: message.split('\n'), status }
  const [first = 'unknown error'] = message.split('\n')
  const { code, cause } = codeOf(error, first)
  const known = advice.find(([pattern]) => pattern.test(code))
  if (known) return { lines: [`${known[1]} (${code}: ${cause})`], status }
  return { lines: [`${first} (set CAIRN_DEBUG=1 to see where)`], status }
}

/** A server's thread reports its errors as text, such as `SQLiteError SQLITE_CORRUPT: …`. */
function codeOf(error: unknown, message: string): { code: string; cause: string } {
  const { code } = error as { code?: unknown }
  if (code) return { code: String(code), cause: message }
  const found = /^(?:\w*Error )?((?:SQLITE_|E)[A-Z_]+): (.*)$/.exec(message)
  return { code: found?.[1] ?? '', cause: found?.[2] ?? message }
}

function statusOf(error: unknown): number {
  if (error instanceof CommandFailure) return error.status
  const isUsage = error instanceof UsageFailure || error instanceof ConfigError
  return isUsage ? exitStatus.usage : exitStatus.failure
}

export function complain(error: unknown): number {
  const { lines, status } = explained(error)
  const [first, ...more] = lines
  tell(`cairn: ${first}`, ...more.map(line => `  ${line}`))
  if (process.env.CAIRN_DEBUG) tell(Bun.inspect(error))
  return status
}

export function warn(message: string): void {
  tell(`cairn: warning: ${message}`)
}
