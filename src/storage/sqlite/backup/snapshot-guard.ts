import type { Database } from 'bun:sqlite'
import { openForReading, pragmaNumber } from '../database/database.ts'

/**
 * Holds a read snapshot of a database that others go on writing, and moves it on as they do.
 *
 * While it is held, SQLite copies nothing into the database file that is newer than it, and does not begin
 * its write-ahead log anew, so that file and log together can be read as bytes. A snapshot that stayed
 * would let everything that is committed meanwhile pile up in the log, and whoever commits next would have
 * to copy it back in one go, so it is moved on often. The next one is taken before the last is released,
 * and only if something was committed since: then it is a snapshot of a log that is in use, and never the
 * kind (of a log that is written back whole) under which a log may begin anew. See `walTryBeginRead` in
 * SQLite's `wal.c`.
 */
export class SnapshotGuard {
  private held: Database
  private next: Database
  private readonly observer: Database
  private seenVersion: number

  /** @throws SQLiteError where the database cannot be read */
  constructor(dataDir: string) {
    this.held = openForReading(dataDir)
    this.next = openForReading(dataDir)
    this.observer = openForReading(dataDir)
    take(this.held)
    // Read after the first snapshot, so that whatever it tells later is newer than that one.
    this.seenVersion = this.version
  }

  /** Lets the log be written back up to now, if anything was committed since the last time. */
  moveOn(): void {
    const version = this.version
    if (version === this.seenVersion) return
    take(this.next)
    this.held.run('rollback')
    ;[this.held, this.next] = [this.next, this.held]
    this.seenVersion = version
  }

  close(): void {
    for (const database of [this.held, this.next, this.observer]) database.close()
  }

  /** Differs once another connection has committed. */
  private get version(): number {
    return pragmaNumber(this.observer, 'data_version')
  }
}

/** A transaction begins with its first read. */
function take(database: Database): void {
  database.run('begin')
  database.query('select count(*) from sqlite_schema').get()
}
