import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { databaseFile } from '../storage/sqlite/database/database.ts'

/** How often the disk is looked at, milliseconds. Nothing is written. */
const lookEveryMs = 1_000

/** What was last seen of the disk that holds the data directory. */
export interface DiskSeen {
  /** Null if the file system does not say. */
  freeBytes: number | null
  totalBytes: number
  databaseBytes: number
  walBytes: number
  /** Why the database could not be written, as far as that shows without writing. */
  fault: 'gone' | 'replaced' | 'read-only' | null
}

/**
 * Looks at the disk in the background, so that callers are answered at once, even when the disk hangs. A disk
 * that hangs shows as a look that takes long.
 */
export class DiskWatch {
  /** Null until the first look is done. */
  seen: DiskSeen | null = null
  private lookingSince: number | null = null
  private inode: number | null = null
  private timer: ReturnType<typeof setInterval> | null = null

  constructor(
    private readonly dataDir: string,
    private readonly now: () => number,
  ) {}

  /** Looks now, and from now on every second. The database must exist. */
  async start(): Promise<void> {
    this.timer = setInterval(() => this.look(), lookEveryMs).unref()
    await this.look()
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer)
  }

  /** How long the look under way has been waiting for the disk, milliseconds. */
  get waitingMs(): number {
    return this.lookingSince === null ? 0 : this.now() - this.lookingSince
  }

  async look(): Promise<void> {
    if (this.lookingSince !== null) return
    this.lookingSince = this.now()
    try {
      this.seen = await this.read()
    } finally {
      this.lookingSince = null
    }
  }

  private async read(): Promise<DiskSeen> {
    const file = databaseFile(this.dataDir)
    const orNull = () => null
    let isGone = false
    const [disk, database, wal, refusal] = await Promise.all([
      statfs(this.dataDir).catch(orNull),
      stat(file).catch(({ code }) => {
        isGone = code === 'ENOENT'
        return null
      }),
      stat(`${file}-wal`).catch(orNull),
      access(this.dataDir, constants.W_OK).then(orNull, ({ code }) => code),
    ])
    this.inode ??= database?.ino ?? null
    const problem = () => {
      if (isGone) return 'gone'
      if (database && database.ino !== this.inode) return 'replaced'
      // Rights that were taken away do not matter, because the files are already open.
      return refusal === 'EROFS' ? 'read-only' : null
    }
    return {
      freeBytes: disk && disk.bavail * disk.bsize,
      totalBytes: (disk?.blocks ?? 0) * (disk?.bsize ?? 0),
      databaseBytes: database?.size ?? 0,
      walBytes: wal?.size ?? 0,
      fault: problem(),
    }
  }
}
