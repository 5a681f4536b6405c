import type { Database } from 'bun:sqlite'
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { join, relative } from 'node:path'
import { AppError } from '../../../core/errors.ts'
import type {
  Erased,
  ErasureAudit,
  ErasureProgress,
  ErasureReceipt,
  NamedPerson,
} from '../../../modules/people/port.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { compact, databaseSize, emptyLog } from '../database/compact.ts'
import { databaseFile } from '../database/database.ts'
import { whileRewriting } from '../database/rewriting.ts'
import { projectedOf } from '../projections/project-rest.ts'
import type { LongWorkPlace } from '../writer/long-work.ts'
import { erase } from './erase.ts'
import { type ErasureRow, ErasureTable, erasureIdOf } from './erasure-table.ts'
import { beginErasure } from './erasures.ts'

/** What every database file begins with (sqlite.org/fileformat.html, section 1.3). */
const magic = 'SQLite format 3\0'

function isDatabase(path: string): boolean {
  const handle = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(magic.length)
    readSync(handle, bytes)
    return bytes.toString('latin1') === magic
  } finally {
    closeSync(handle)
  }
}

/**
 * Copies of the database in its own directory, such as backups: they hold who was erased until they
 * are deleted. The database itself is not opened, nor its log: closing a file again would let go of all
 * locks that SQLite has on it in this process (fcntl(2)), those of the shared memory too.
 */
function copiesBeside(dataDir: string): string[] {
  const database = databaseFile(dataDir)
  const ownFiles = ['', '-wal', '-shm'].map(suffix => `${database}${suffix}`)
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => !ownFiles.includes(path) && !path.endsWith('.lock'))
    .filter(isDatabase)
    .sort()
}

/** How long readers as of before are waited for, and how often it is tried, milliseconds. */
const patienceMs = 30_000
const pauseMs = 250

/** How often it is looked whether all is projected, milliseconds. */
const lookMs = 5

/** After a step others have the database for this many times as long, at least so many milliseconds. */
const pauseFactor = 2
const leastPauseMs = 2

/** So large a database is compacted without being asked beside a running server: writes wait half a second. */
const quickBytes = 32 * 1024 * 1024

interface Asked {
  /** Whether a database that is larger than that is compacted too. */
  compact: boolean
  audit: ErasureAudit | null
  tell: (progress: ErasureProgress) => void
}

/**
 * Erases a person from every file: begins, does it in steps, and takes what was erased out of unused
 * parts of the database.
 *
 * @throws AppError `rewriting_under_way`
 */
export async function eraseWhole(
  database: Database,
  place: LongWorkPlace,
  person: InRows<NamedPerson>,
  asked: Asked,
): Promise<Erased> {
  const { dataDir, now } = place
  const table = new ErasureTable(database)
  const { row, unfinished } = await whileRewriting(dataDir, async () => {
    const row = beginErasure(database, dataDir, person, now(), asked.audit)
    await allProjected(database)
    await eraseInSteps(database, row, asked.tell)
    return { row, unfinished: await cleanFiles(database, place, asked) }
  })
  if (unfinished === null) table.finish(row, now())
  const copies = copiesBeside(dataDir).map(path => relative(dataDir, path))
  return { receipt: receiptOf(table.get(row)!), unfinished, copies }
}

/**
 * Waits until what was stored of the person before is projected: from now on nothing of theirs is stored,
 * and what the server has in memory of others may be projected at any time.
 *
 * @throws AppError `overloaded`
 */
async function allProjected(database: Database): Promise<void> {
  const { newest } = projectedOf(database)
  const deadline = performance.now() + patienceMs
  while (projectedOf(database).projected < newest) {
    if (performance.now() > deadline) {
      throw new AppError('overloaded', 'Projections are behind; try again', {
        retryAfterSeconds: 30,
      })
    }
    await Bun.sleep(lookMs)
  }
}

/** Beside a running server, whose commits go first. */
async function eraseInSteps(database: Database, row: ErasureRow, tell: Asked['tell']) {
  const done = new Map<string, number>()
  let startedAt = performance.now()
  for (const step of erase(database, row)) {
    const soFar = (done.get(step.at) ?? 0) + step.done
    done.set(step.at, soFar)
    tell({ at: step.at, done: soFar })
    const pauseMs = step.at === 'reading events' ? 0 : (performance.now() - startedAt) * pauseFactor
    if (pauseMs > 0) await Bun.sleep(Math.max(leastPauseMs, pauseMs))
    startedAt = performance.now()
  }
}

/**
 * Takes what was erased out of unused parts of the database, and out of its log, for which whoever
 * reads as of before has to be waited for.
 *
 * @returns what of that is not done; null where all is
 */
async function cleanFiles(
  database: Database,
  { dataDir, isServed }: LongWorkPlace,
  asked: Asked,
): Promise<Erased['unfinished']> {
  const { bytes } = databaseSize(database)
  const isQuick = asked.compact || bytes <= quickBytes || !isServed
  if (isQuick) compact(database, dataDir)
  const deadline = performance.now() + patienceMs
  let isEmpty = emptyLog(database)
  while (!isEmpty && performance.now() < deadline) {
    await Bun.sleep(pauseMs)
    isEmpty = emptyLog(database)
  }
  if (!isQuick) return 'unused_parts'
  return isEmpty ? null : 'log'
}

const receiptOf = (row: ErasureRow): ErasureReceipt => ({
  id: erasureIdOf(row),
  organisation: row.orgId,
  person: row.person,
  askedAt: row.askedAt,
  finishedAt: row.finishedAt,
  erased: JSON.parse(row.receipt ?? '{}'),
})
