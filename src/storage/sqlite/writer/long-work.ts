import type { Database } from 'bun:sqlite'
import { AppError } from '../../../core/errors.ts'
import type { AuditEntry } from '../../../core/organisation/audit.ts'
import { failpoint } from '../../../failpoints.ts'
import type {
  Compacted,
  OperationAudit,
  OperationsStore,
  RebuildProgress,
  Rebuilt,
} from '../../interfaces/operations.ts'
import type { Erasure, ErasureProgress, PeopleStore } from '../../interfaces/people.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { freeBytesOf } from '../backup/room.ts'
import { compact, databaseSize, emptyLog } from '../database/compact.ts'
import { openForWriting } from '../database/database.ts'
import { whileRewriting } from '../database/rewriting.ts'
import {
  type ErasedHere,
  eraseHere,
  eraseWhole,
  type LongWorkPlace,
} from '../erasure/erase-whole.ts'
import type { ErasureRow } from '../erasure/erasure-table.ts'
import { type ErasuresFinished, finishErasures } from '../erasure/erasures.ts'
import { auditEverywhere } from '../organisations/audit-log.ts'
import { rebuild } from '../projections/rebuild.ts'
import { positionIn } from '../replica/replica.ts'
import { type SnapshotFile, writeSnapshot } from '../replica/snapshots.ts'

/**
 * Work that takes long. It uses a connection of its own beside the writer's, and works in short
 * transactions, between which others write.
 */
export type LongWork = InRows<Pick<PeopleStore, 'erase'>> &
  Pick<OperationsStore, 'rebuild' | 'compact'> & {
    /** Erases somebody whose erasure has begun, from this directory alone. */
    eraseHere(row: ErasureRow, tell: (progress: ErasureProgress) => void): Promise<ErasedHere>
    /** Computes the projections of this directory alone anew, and leaves the audit log to the caller. */
    rebuildHere(
      audit: OperationAudit,
      tell: (progress: RebuildProgress) => void,
    ): Promise<Rebuilt & { audits: [orgRow: number, entry: AuditEntry][] }>
    /** Writes a copy of the database for other machines. */
    snapshot(): Promise<SnapshotFile>
    /** Erases people on the list of erasures whom a restored database still knows, before anything is answered. */
    finishErasures(onCompacting: () => void): Promise<ErasuresFinished>
  }

/** Long work in this very thread, which answers nothing else meanwhile. */
export function longWorkHere(place: LongWorkPlace): LongWork {
  const { dataDir, isServed } = place
  const connected = async <T>(work: (database: Database) => T | Promise<T>): Promise<T> => {
    const database = openForWriting(dataDir)
    try {
      return await work(database)
    } finally {
      database.close()
    }
  }
  return {
    erase: (person, options, audit, tell): Promise<Erasure> =>
      connected(database => eraseWhole(database, place, person, { ...options, audit, tell })),
    eraseHere: (row, tell) =>
      connected(database => eraseHere(database, place, () => row, { compact: false, tell })),
    rebuildHere: (audit, tell) =>
      connected(database =>
        whileRewriting(dataDir, () => {
          const audits: [number, AuditEntry][] = []
          const note = (orgRow: number, entry: AuditEntry) => audits.push([orgRow, entry])
          return { ...rebuild(database, tell, audit, note), audits }
        }),
      ),
    snapshot: () => writeSnapshot(dataDir),
    finishErasures: onCompacting =>
      connected(database =>
        finishErasures(database, dataDir, place.now(), () => {
          onCompacting()
          failpoint('during_erasure')
        }),
      ),
    rebuild: (audit, tell) =>
      connected(database => whileRewriting(dataDir, () => rebuild(database, tell, audit))),
    async compact(audit) {
      if (isServed) throw serverRunning()
      return connected(database => {
        const compacted = compactWhole(database, dataDir)
        // Other machines have the same audit log, and this is about the files of one.
        const isAlone = positionIn(database) === null
        if (isAlone) auditEverywhere(database, { ...audit, before: null, after: null })
        return compacted
      })
    },
  }
}

const serverRunning = () =>
  new AppError(
    'server_running',
    'The database can be compacted only while no server is running: stop it and try again',
  )

/** @throws AppError `no_room` */
function compactWhole(database: Database, dataDir: string): Compacted {
  const { bytes, usedBytes } = databaseSize(database)
  const [needed, free] = [2 * usedBytes, freeBytesOf(dataDir)]
  if (free < needed) {
    throw new AppError(
      'no_room',
      `Compacting needs ${mb(needed)} of free space for a while, and the disk has ${mb(free)}: free some and try again`,
    )
  }
  compact(database, dataDir)
  emptyLog(database)
  return { bytesBefore: bytes, bytesAfter: databaseSize(database).bytes }
}

const mb = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`
