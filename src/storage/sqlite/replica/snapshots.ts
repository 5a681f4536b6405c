import { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { renameSync, rmSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { version } from '../../../core/version.ts'
import type { Log, Snapshot } from '../../log/log.ts'
import { databaseFile, openForReading } from '../database/database.ts'
import { schemaOf } from '../database/migrate.ts'
import { syncDirectory } from '../database/synced-files.ts'
import { positionIn } from './replica.ts'

/** Bytes of the database in one part. */
const partBytes = 4 * 2 ** 20

/** A copy of a database as a file of parts, each after its length (4 bytes, little-endian). */
export interface SnapshotFile {
  file: string
  seq: number
  mark: string
  schema: number
}

/** Copies the database of a directory, without unused parts, and compresses the copy; other threads go on. */
export async function writeSnapshot(dataDir: string): Promise<SnapshotFile> {
  const [copy, file] = ['snapshot.db.partial', 'snapshot.partial'].map(name => join(dataDir, name))
  for (const path of [copy!, file!]) rmSync(path, { force: true })
  try {
    const reading = openForReading(dataDir)
    try {
      reading.query('vacuum into ?').run(copy!)
    } finally {
      reading.close()
    }
    using stored = new Database(copy!, { readonly: true, strict: true })
    const { seq, mark } = positionIn(stored)!
    await compress(copy!, file!)
    return { file: file!, seq, mark, schema: schemaOf(stored) }
  } finally {
    rmSync(copy!, { force: true })
  }
}

async function compress(from: string, to: string): Promise<void> {
  await using input = await open(from, 'r')
  await using output = await open(to, 'wx', 0o600)
  const buffer = Buffer.allocUnsafe(partBytes)
  for (;;) {
    const { bytesRead } = await input.read(buffer, 0, partBytes, null)
    if (bytesRead === 0) return
    const part = Bun.zstdCompressSync(buffer.subarray(0, bytesRead), { level: 3 })
    const length = Buffer.alloc(4)
    length.writeUInt32LE(part.length)
    await output.writeFile(Buffer.concat([length, part]))
  }
}

/** The parts of such a file, which is deleted after them. */
export async function* partsOf({ file }: SnapshotFile): AsyncGenerator<Uint8Array> {
  try {
    await using input = await open(file, 'r')
    const read = async (bytes: number) => {
      const buffer = Buffer.alloc(bytes)
      const { bytesRead } = await input.read(buffer, 0, bytes, null)
      return bytesRead === bytes ? buffer : null
    }
    for (;;) {
      const length = await read(4)
      if (length === null) return
      yield (await read(length.readUInt32LE()))!
    }
  } finally {
    await rm(file, { force: true })
  }
}

/** A snapshot that cannot be used; another one may be. */
export class SnapshotDamaged extends Error {
  override readonly name = 'SnapshotDamaged'
}

/** @throws SnapshotDamaged */
function decompressed(part: Uint8Array): Uint8Array {
  try {
    return Bun.zstdDecompressSync(part)
  } catch (cause) {
    throw new SnapshotDamaged('A part of a snapshot cannot be read', { cause })
  }
}

/**
 * Puts a snapshot in the place of a directory's database, which nobody uses.
 *
 * @param tell called with the share that has arrived, 0 to 1
 * @throws SnapshotDamaged
 */
export async function placeSnapshot(
  dataDir: string,
  { sha256, bytes }: Snapshot,
  parts: AsyncIterable<Uint8Array>,
  tell: (share: number) => void = () => {},
): Promise<void> {
  const database = databaseFile(dataDir)
  const draft = `${database}.partial`
  await rm(draft, { force: true })
  try {
    const hash = createHash('sha256')
    let done = 0
    {
      await using output = await open(draft, 'wx', 0o600)
      for await (const part of parts) {
        hash.update(part)
        await output.writeFile(decompressed(part))
        done += part.length
        tell(done / bytes)
      }
      await output.sync()
    }
    if (hash.digest('hex') !== sha256)
      throw new SnapshotDamaged('A snapshot is not what was stored')
    discardDatabase(dataDir)
    renameSync(draft, database)
    syncDirectory(dataDir)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Deletes the database of a directory that nobody uses. */
export function discardDatabase(dataDir: string): void {
  for (const suffix of ['-wal', '-shm', '']) {
    rmSync(`${databaseFile(dataDir)}${suffix}`, { force: true })
  }
}

/** How many batches the log may have after the newest snapshot, and how old that may be if there are any; milliseconds. */
const maxBatchesAfter = 10_000
const oldestMs = 24 * 3_600_000

/** How many are kept, so that one that is damaged does no harm. */
const kept = 2

interface SnapshotParts {
  log: Log
  /** The position of this machine's database. */
  seq: () => number
  now: () => number
  /** Writes a copy of the database of this machine. */
  write: () => Promise<SnapshotFile>
}

/** Copies of this machine's database in the log, with which others begin. */
export class Snapshots {
  constructor(private readonly parts: SnapshotParts) {}

  /** Makes one if it is due: to be called every so often by the machine that has this job. */
  async makeIfDue(): Promise<void> {
    const { log, seq, now } = this.parts
    const [newest] = await log.snapshots()
    const after = seq() - (newest?.seq ?? 0)
    if (after === 0) return
    // The more there is, the longer a snapshot takes.
    const isMuch = after > Math.max(maxBatchesAfter, seq() / 4)
    const isDue = isMuch || now() - (newest?.madeAt ?? 0) > oldestMs
    if (isDue) await this.make()
  }

  /** @param isOnly whether all others are deleted */
  async make(isOnly = false): Promise<void> {
    const { log, now, write } = this.parts
    await storeSnapshot(log, await write(), now())
    const all = await log.snapshots()
    if (isOnly) return log.drop(all.slice(1))
    // Those of each schema, for as long as machines with different ones may begin.
    const bySchema = Map.groupBy(all, snapshot => snapshot.schema).values()
    await log.drop([...bySchema].flatMap(ofSchema => ofSchema.slice(kept)))
  }
}

/** Stores a copy of a database in the log. */
export async function storeSnapshot(
  log: Log,
  written: SnapshotFile,
  madeAt: number,
): Promise<void> {
  const { seq, mark, schema } = written
  await log.store({ seq, mark, schema, release: version, madeAt }, partsOf(written))
}
