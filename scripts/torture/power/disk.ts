import { dirname } from 'node:path'
import type { Step } from './trace.ts'

/**
 * Bytes of a file that were written and not yet synced, or its new size; `seq` is the change's place among
 * all changes of the disk.
 */
export type Change = { seq: number } & ({ at: number; bytes: Buffer } | { size: number })

/** Names that were added, removed or moved at once. */
interface Naming {
  seq: number
  directory: string
  names: readonly (readonly [path: string, entry: Entry | null])[]
}

type Entry = 'directory' | DiskFile

/** Which of the unsynced changes a power cut leaves on the disk. */
export interface Cut {
  keepsNames(seq: number): boolean
  /** What is left of a change: itself, nothing, or pieces of it. */
  leftOf(change: Change): readonly Change[]
}

/** Bytes that can grow. */
class Content {
  private bytes: Buffer
  length: number

  constructor(from: Buffer = Buffer.alloc(0), room = from.length) {
    this.bytes = Buffer.alloc(Math.max(room, from.length))
    from.copy(this.bytes)
    this.length = from.length
  }

  get whole(): Buffer {
    return this.bytes.subarray(0, this.length)
  }

  apply(change: Change): void {
    if ('size' in change) {
      this.resize(change.size)
      return
    }
    const end = change.at + change.bytes.length
    if (end > this.length) this.resize(end)
    change.bytes.copy(this.bytes, change.at)
  }

  private resize(size: number): void {
    if (size > this.bytes.length) {
      const larger = Buffer.alloc(size * 2)
      this.whole.copy(larger)
      this.bytes = larger
    }
    this.bytes.fill(0, Math.min(size, this.length), Math.max(size, this.length))
    this.length = size
  }
}

/** A file, whatever its name: what is certainly on the disk, and what may be. */
class DiskFile {
  readonly synced = new Content()
  changes: Change[] = []
  private length = 0

  write(seq: number, at: number | 'end', bytes: Buffer): void {
    const start = at === 'end' ? this.length : at
    this.changes.push({ seq, at: start, bytes })
    this.length = Math.max(this.length, start + bytes.length)
  }

  resize(seq: number, size: number): void {
    this.changes.push({ seq, size })
    this.length = size
  }

  sync(upTo: number): void {
    for (const change of this.changes) if (change.seq <= upTo) this.synced.apply(change)
    this.changes = this.changes.filter(({ seq }) => seq > upTo)
  }

  after(cut: Cut): Buffer {
    const content = new Content(this.synced.whole)
    for (const change of this.changes) for (const left of cut.leftOf(change)) content.apply(left)
    return content.whole
  }
}

/**
 * A disk that gives no more than the standard guarantees: what was written to a file is certainly there once
 * the file is synced, and its name once its directory is.
 */
export class Disk {
  private seq = 0
  private readonly names = new Map<string, Entry>()
  private readonly syncedNames = new Map<string, Entry>()
  private namings: Naming[] = []
  private readonly syncs = new Map<string, number>()

  /** The place of the newest change. */
  get newest(): number {
    return this.seq
  }

  /** The place of the oldest change that no sync has covered. */
  get oldestUnsynced(): number {
    const files = [...this.names.values()].filter(entry => entry instanceof DiskFile)
    const pending = [...files.flatMap(({ changes }) => changes), ...this.namings]
    return pending.reduce((oldest, { seq }) => Math.min(oldest, seq), this.seq + 1)
  }

  apply(step: Step): void {
    switch (step.type) {
      case 'write':
        this.file(step.path)?.write(++this.seq, step.at, step.bytes)
        break
      case 'resize':
        this.file(step.path)?.resize(++this.seq, step.size)
        break
      case 'create':
        this.name([[step.path, new DiskFile()]])
        break
      case 'mkdir':
        this.name([[step.path, 'directory']])
        break
      case 'unlink':
        this.name([[step.path, null]])
        break
      case 'link':
        this.name([[step.to, this.names.get(step.from) ?? null]])
        break
      case 'rename':
        this.name([
          [step.to, this.names.get(step.from) ?? null],
          [step.from, null],
        ])
        break
      case 'sync_begins':
        this.syncs.set(`${step.thread} ${step.path}`, this.seq)
        break
      case 'sync_ends':
        this.sync(step.path, this.syncs.get(`${step.thread} ${step.path}`) ?? 0)
    }
  }

  /** What is found after a power cut: the contents of the files by path; null for a directory. */
  after(cut: Cut): Map<string, Buffer | null> {
    const names = new Map(this.syncedNames)
    for (const naming of this.namings) if (cut.keepsNames(naming.seq)) rename(names, naming.names)
    const found = new Map<string, Buffer | null>()
    for (const [path, entry] of names) {
      if (!this.isReachable(path, names)) continue
      found.set(path, entry === 'directory' ? null : entry.after(cut))
    }
    return found
  }

  /** Whether all directories above are there. Without its directory, a file is gone too. */
  private isReachable(path: string, names: ReadonlyMap<string, Entry>): boolean {
    for (let above = dirname(path); this.names.has(above); above = dirname(above)) {
      if (!names.has(above)) return false
    }
    return true
  }

  private file(path: string): DiskFile | null {
    const entry = this.names.get(path)
    return entry instanceof DiskFile ? entry : null
  }

  private name(names: Naming['names']): void {
    rename(this.names, names)
    this.namings.push({ seq: ++this.seq, directory: dirname(names[0]![0]), names })
  }

  private sync(path: string, upTo: number): void {
    this.file(path)?.sync(upTo)
    const isCovered = ({ seq, directory }: Naming) => directory === path && seq <= upTo
    for (const naming of this.namings) if (isCovered(naming)) rename(this.syncedNames, naming.names)
    this.namings = this.namings.filter(naming => !isCovered(naming))
  }
}

function rename(names: Map<string, Entry>, changes: Naming['names']): void {
  for (const [path, entry] of changes) {
    if (entry === null) names.delete(path)
    else names.set(path, entry)
  }
}
