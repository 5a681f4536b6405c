import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { shellWord } from '../core/text/wording.ts'
import { keepServersOut } from '../runtime/lock.ts'
import { followsLog } from '../runtime/place.ts'
import { shareSessionKey } from '../runtime/session-key.ts'
import { shareSnippet } from '../runtime/snippet-versions.ts'
import { LogInUse } from '../storage/log/log.ts'
import { inspectDatabase } from '../storage/log/postgres/inspection.ts'
import { PostgresLog } from '../storage/log/postgres/postgres-log.ts'
import { openForWriting } from '../storage/sqlite/database/database.ts'
import {
  isLeaving,
  type Moved,
  type MoveProgress,
  moveIntoLog,
  moveOutOfLog,
} from '../storage/sqlite/replica/move.ts'
import { shareFile } from '../storage/sqlite/replica/shared-files.ts'
import { storeSnapshot, writeSnapshot } from '../storage/sqlite/replica/snapshots.ts'
import type { Command, Flags } from './command.ts'
import { makeDirectory, requireData, requireUsableData } from './data.ts'
import { CommandFailure, UsageFailure } from './failure.ts'
import { counted, print, printJson } from './output.ts'
import { progressLine } from './progress.ts'
import { addSettings, settingsOf } from './settings.ts'

type Options = Flags<never, 'back' | 'databaseLost' | 'json'>

export function addMove(cairn: Command): void {
  addSettings(cairn.command('move'), ['data'])
    .description(
      'move the data directory of a stopped server into the database that CAIRN_DATABASE_URL names',
    )
    .option('--back', 'move the data out of the database into a data directory')
    .option('--database-lost', 'move the directory of a server whose PostgreSQL database is lost')
    .option('--json', 'print {from, to, seconds, rows} as JSON, with rows by table')
    .notes(`The database must be empty, and no server may be running. Then start the first
server on this directory with CAIRN_DATABASE_URL set, and others on empty
directories. IDs, results, session.key and snippet versions do not change.

If it is interrupted, run the same command again.

With --back, one server continues on the directory without the database. The
database is kept, but no server starts on it again.

With --database-lost, name a new, empty database and the most recent directory
of all servers. Data that is in no directory is lost. Start the other servers on
empty directories.`)
    .examples(
      'CAIRN_DATABASE_URL_FILE=/etc/cairn/database cairn move --data /var/lib/cairn',
      'CAIRN_DATABASE_URL_FILE=/etc/cairn/database cairn move --back --data /var/lib/cairn',
      'CAIRN_DATABASE_URL_FILE=/etc/cairn/new cairn move --database-lost --data /var/lib/cairn',
    )
    .action(async (options: Options, command: Command) => {
      const { data, databaseUrl: url } = settingsOf(command, 'data', 'databaseUrl')
      if (url === null) {
        throw new UsageFailure(
          'set CAIRN_DATABASE_URL to the database, such as postgres://user:password@db.example.com/cairn, or CAIRN_DATABASE_URL_FILE to a file with that',
        )
      }
      if (options.back && options.databaseLost) {
        throw new UsageFailure('use --back or --database-lost, not both')
      }
      const isResumed = (log: string) => options.back === true && isLeaving(data, log)
      const { place, log, aheadMs } = await inspectDatabase(url, Date.now, isResumed)
      const startedAt = performance.now()
      const rows = options.back
        ? await moveBack(data, url, log?.movedTo != null)
        : await moveThere(data, url, { place, aheadMs, isOldLost: options.databaseLost })
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10
      const names = [resolve(data), place]
      const [from, to] = options.back ? names.toReversed() : names
      if (options.json) return printJson({ from, to, seconds, rows: Object.fromEntries(rows) })
      print(
        `Moved ${from} into ${to} in ${seconds} s${countsOf(rows)}.`,
        ...(options.back ? nextAlone(data, place) : nextShared(data)),
      )
    })
}

/** @param isOldLost whether the database that the directory follows is lost */
async function moveThere(
  dataDir: string,
  url: string,
  {
    place,
    aheadMs,
    isOldLost,
  }: { place: string; aheadMs: number; isOldLost?: boolean | undefined },
): Promise<Moved> {
  requireData(dataDir)
  const lock = keepServersOut(dataDir)
  try {
    requireUsableData(dataDir)
    const log = await PostgresLog.open(url)
    const database = openForWriting(dataDir)
    try {
      // What a server alone has in files, nodes take from the database.
      const share = async (name: string, text: string) => shareFile(database, name, text)
      await shareSessionKey(dataDir, share)
      await shareSnippet(share)
      // Log time never goes back, so it begins by the database's clock.
      const now = Date.now() + aheadMs
      const rows = await shown(onProgress => moveIntoLog(database, log, now, onProgress, isOldLost))
      await storeSnapshot(log, await writeSnapshot(dataDir), now)
      return rows
    } catch (error) {
      if (!(error instanceof LogInUse)) throw error
      throw new CommandFailure(
        followsLog(dataDir)
          ? `${dataDir} was moved into the database at ${place} already: start a node on it, "cairn serve"`
          : `the database at ${place} already holds data of Cairn: name an empty one`,
      )
    } finally {
      database.close()
      await log.close()
    }
  } finally {
    lock.release()
  }
}

/** @param hasEnded whether the directory is up to date, and the log ended, because of an earlier attempt */
async function moveBack(dataDir: string, url: string, hasEnded: boolean): Promise<Moved> {
  makeDirectory(dataDir)
  const lock = keepServersOut(dataDir)
  try {
    const { doorInProcess } = await import('../runtime/in-process.ts')
    const log = await PostgresLog.open(url)
    try {
      const running = await log.running()
      if (running.length > 0) {
        throw new CommandFailure(
          `servers are running on the database: ${running.join(', ')}; stop them and try again`,
        )
      }
      // It brings the directory up to date with the log.
      if (!hasEnded) await (await doorInProcess({ data: dataDir, databaseUrl: url })).close()
      using database = openForWriting(dataDir)
      await moveOutOfLog(database, log, `${hostname()}:${resolve(dataDir)}`)
      return new Map()
    } finally {
      await log.close()
    }
  } finally {
    lock.release()
  }
}

/** Shows on stderr the progress of a move. */
async function shown<T>(work: (onProgress: (progress: MoveProgress) => void) => Promise<T>) {
  const line = progressLine()
  try {
    return await work(({ table, done, total }) => {
      const share = total === 0 ? 100 : Math.floor((done / total) * 100)
      line.show(table, () => `moving ${table}: ${share} %`)
    })
  } finally {
    line.end()
  }
}

function countsOf(rows: Moved): string {
  if (rows.size === 0) return ''
  const count = (table: string, what: string) => counted(rows.get(table) ?? 0, what)
  const counts = [
    count('organisations', 'organisation'),
    count('flows', 'flow'),
    count('events', 'event'),
  ]
  return `: ${counts.join(', ')}`
}

const nextShared = (data: string) => [
  `Next: start the first server on this directory with CAIRN_DATABASE_URL set: cairn serve --data ${shellWord(resolve(data))}`,
  'Then start other servers on empty directories.',
]

const nextAlone = (data: string, place: string) => [
  `Next: start the server without CAIRN_DATABASE_URL: cairn serve --data ${shellWord(resolve(data))}`,
  `Keep the database at ${place} until you have a backup of the directory.`,
]
