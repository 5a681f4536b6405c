import type { Database } from 'bun:sqlite'
import { readdirSync, readSync } from 'node:fs'
import { join, relative } from 'node:path'
import { AppError } from '../../../core/errors.ts'
import type {
  Erasure,
  ErasureAudit,
  ErasureProgress,
  NamedPerson,
} from '../../interfaces/people.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { compact, databaseSize, emptyLog } from '../database/compact.ts'
import { databaseFile } from '../database/database.ts'
import { whileRewriting } from '../database/rewriting.ts'
import { withFile } from '../database/synced-files.ts'
import { projectedOf } from '../projections/project-rest.ts'
import { erase } from './erase.ts'
import { type ErasureRow, ErasureTable, erasureIdOf } from './erasure-table.ts'
import { beginErasure } from './erasures.ts'

/** Where long work is done. */
export interface LongWorkPlace {
  dataDir: string
  /** Epoch milliseconds. */
  now: () => number
  /** Whether a server is running whose writes have to be let through. */
  isServed: boolean
}

/** What every database file begins with (sqlite.org/fileformat.html, section 1.3). */
const magic = 'SQLite format 3\0'

function isDatabase(path: string): boolean {
  const bytes = Buffer.alloc(magic.length)
  withFile(path, 'r', handle => readSync(handle, bytes))
  return bytes.toString('latin1') === magic
}

/**
 * Copies of the database in its own directory, such as backups: they hold erased people until they are
 * deleted. This does not open the database itself or its log, because closing such a file would release
 * all locks that SQLite has on it in this process (fcntl(2)), those of the shared memory too.
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

/** How long to wait for readers of an older snapshot, and the pause between two tries, milliseconds. */
const patienceMs = 30_000
const pauseMs = 250

/** How often to check whether everything is projected, milliseconds. */
const lookMs = 5

/** After a step, others have the database for this many times its duration, at least so many milliseconds. */
const pauseFactor = 2
const minPauseMs = 2

/** Up to this size, a database is compacted unasked beside a running server: writes wait half a second. */
const quickBytes = 32 * 1024 * 1024

interface ErasureRequest {
  /** Whether to compact a larger database too. */
  compact: boolean
  audit: ErasureAudit | null
  tell: (progress: ErasureProgress) => void
}

/**
 * Erases a person from every file: begins the erasure, does it in steps, and removes what was erased from
 * unused parts of the database.
 *
 * @throws AppError `rewriting_under_way`
 */
export async function eraseWhole(
  database: Database,
  place: LongWorkPlace,
  person: InRows<NamedPerson>,
  requested: ErasureRequest,
): Promise<Erasure> {
  const { dataDir, now } = place
  const table = new ErasureTable(database)
  let row!: ErasureRow
  const begin = () => {
    row = beginErasure(database, dataDir, person, now(), requested.audit)
    return row
  }
  const { unfinished, copies } = await eraseHere(database, place, begin, requested)
  if (unfinished === null) table.finish(row, now())
  return { ...receiptOf(table.get(row)!), unfinished, copies }
}

/** What was done of an erasure in one directory. */
export interface ErasedHere {
  /** What is not done there. */
  unfinished: Erasure['unfinished']
  /** Files beside the database that still have it. */
  copies: string[]
  /** The rows of the ledger that were rewritten; null if they were before. */
  batches: readonly number[] | null
}

/**
 * Erases a person from the files of one machine, which may be one of several.
 *
 * @param begin begins the erasure, unless that is done
 * @throws AppError `rewriting_under_way`
 */
export async function eraseHere(
  database: Database,
  place: LongWorkPlace,
  begin: () => ErasureRow,
  requested: Pick<ErasureRequest, 'compact' | 'tell'>,
): Promise<ErasedHere> {
  const { dataDir } = place
  return whileRewriting(dataDir, async () => {
    const row = begin()
    await allProjected(database)
    const batches = await eraseInSteps(database, row, requested.tell)
    const unfinished = await cleanFiles(database, place, requested.compact)
    const copies = copiesBeside(dataDir).map(path => relative(dataDir, path))
    return { batches, unfinished, copies }
  })
}

/**
 * Waits until everything stored of the person so far is projected. Nothing of theirs is stored from now
 * on, and what the server has in memory of others may be projected at any time.
 *
 * @throws AppError `overloaded`
 */
async function allProjected(database: Database): Promise<void> {
  const { newest } = projectedOf(database)
  const deadline = performance.now() + patienceMs
  while (projectedOf(database).projected < newest) {
    if (performance.now() > deadline) {
      throw new AppError('overloaded', 'Results are not up to date yet; try again', {
        retryAfterSeconds: 30,
      })
    }
    await Bun.sleep(lookMs)
  }
}

/** Works beside a running server, whose commits go first. */
async function eraseInSteps(
  database: Database,
  row: ErasureRow,
  tell: ErasureRequest['tell'],
): Promise<readonly number[] | null> {
  const done = new Map<string, number>()
  let startedAt = performance.now()
  const work = erase(database, row)
  for (;;) {
    const { value: step, done: isDone } = work.next()
    if (isDone) return step
    const soFar = (done.get(step.at) ?? 0) + step.done
    done.set(step.at, soFar)
    tell({ at: step.at, done: soFar })
    const pauseMs = step.at === 'reading events' ? 0 : (performance.now() - startedAt) * pauseFactor
    if (pauseMs > 0) await Bun.sleep(Math.max(minPauseMs, pauseMs))
    startedAt = performance.now()
  }
}

/**
 * Removes what was erased from unused parts of the database and from its log. The log can be emptied only
 * when nobody reads an older snapshot any more.
 *
 * @returns what is not done; null if everything is
 */
async function cleanFiles(
  database: Database,
  { dataDir, isServed }: LongWorkPlace,
  mayCompactLarge: boolean,
): Promise<Erasure['unfinished']> {
  const { bytes } = databaseSize(database)
  const isQuick = mayCompactLarge || bytes <= quickBytes || !isServed
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

export const receiptOf = (row: ErasureRow): Omit<Erasure, 'unfinished' | 'copies'> => ({
  id: erasureIdOf(row),
  organisation: row.orgId,
  person: row.person,
  askedAt: row.askedAt,
  finishedAt: row.finishedAt,
  erased: JSON.parse(row.receipt ?? '{}'),
})
