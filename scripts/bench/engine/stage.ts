import type { Database } from 'bun:sqlite'
import { openForWriting } from '../../../src/storage/sqlite/database/database.ts'
import { migrate } from '../../../src/storage/sqlite/database/migrate.ts'
import type { Figure } from '../figures.ts'
import { Folder } from '../programs.ts'

/** An empty database of its own on disk, opened as Cairn opens it. */
export class Stage implements Disposable {
  private readonly folder = new Folder()
  readonly database: Database
  private readonly empty: number

  constructor(...statements: readonly string[]) {
    this.database = openForWriting(this.folder.path)
    migrate(this.database, 0)
    for (const statement of statements) this.database.run(statement)
    this.empty = this.used()
  }

  /** Bytes of the pages that hold what was stored since the constructor returned. */
  bytes(): number {
    return this.used() - this.empty
  }

  private used(): number {
    const number = (pragma: string) =>
      Object.values(this.database.query(`pragma ${pragma}`).get() as Record<string, number>)[0]!
    return (number('page_count') - number('freelist_count')) * number('page_size')
  }

  [Symbol.dispose](): void {
    this.database.close()
    this.folder[Symbol.dispose]()
  }
}

/** Stores numbered items, each of which is made from its number alone. */
export interface Store extends Disposable {
  /** Stores the items [from, to), in one transaction. */
  put(from: number, to: number): void
  readonly stage: Stage
}

/** Items of one transaction: as many as arrive while the previous one is synced. */
const perTransaction = 2_000

/** CPU of this process during some work, microseconds. */
export function cpuOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Stores items without syncs and in large transactions, because nothing is measured yet. */
export function fill(store: Store, from: number, to: number): void {
  const { database } = store.stage
  database.run('pragma synchronous = off')
  database.run('pragma cache_size = -524288')
  for (let at = from; at < to; at += 100_000) store.put(at, Math.min(to, at + 100_000))
  database.run('pragma wal_checkpoint(truncate)')
  database.run('pragma cache_size = -65536')
  database.run('pragma shrink_memory')
  database.run('pragma synchronous = full')
}

/** Stores the items [from, to); CPU and time per item, microseconds. */
export function put(store: Store, from: number, to: number): { cpu: number; wall: number } {
  const startedAt = performance.now()
  const cpu = cpuOf(() => {
    for (let at = from; at < to; at += perTransaction) {
      store.put(at, Math.min(to, at + perTransaction))
    }
  })
  const count = to - from
  return { cpu: cpu / count, wall: ((performance.now() - startedAt) * 1_000) / count }
}

/** 64 bits that look random, derived from a number, as hexadecimal digits. */
export const scattered = (n: number, salt: number) =>
  Bun.hash.xxHash64(String(n), BigInt(salt)).toString(16).padStart(16, '0')

const part = 'engine'

/** A figure of the engine beside the plain SQL that it replaces. */
export const figure = (what: string, unit: string, cairn: number, beside: number): Figure => ({
  part,
  what,
  unit,
  cairn: [cairn],
  beside: [beside],
})
