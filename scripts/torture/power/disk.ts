import { dirname } from 'node:path'
import type { SeededRandom } from '../../../src/cli/demo/random.ts'
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

/** Address space for a file, of which only what is used takes memory. */
const maxFileBytes = 1 << 28

/** Bytes that can grow. */
class Content {
  private readonly buffer: ArrayBuffer

  constructor(from: Uint8Array = new Uint8Array()) {
    this.buffer = new ArrayBuffer(from.length, { maxByteLength: maxFileBytes })
    this.bytes.set(from)
  }

  get bytes(): Buffer {
    return Buffer.from(this.buffer)
  }

  apply(change: Change): void {
    if ('size' in change) this.buffer.resize(change.size)
    else {
      const end = change.at + change.bytes.length
      if (end > this.buffer.byteLength) this.buffer.resize(end)
      this.bytes.set(change.bytes, change.at)
    }
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
    const content = new Content(this.synced.bytes)
    for (const change of this.changes) for (const left of cut.leftOf(change)) content.apply(left)
    return content.bytes
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

const sectorBytes = 512
const pageBytes = 4_096

const nothing: Cut = { keepsNames: () => false, leftOf: () => [] }

const everything: Cut = { keepsNames: () => true, leftOf: change => [change] }

/** Pieces of a write, each of which reaches the disk or not, independently; a change of size is one piece. */
function torn(change: Change, random: SeededRandom, chance: number): Change[] {
  if ('size' in change) return random.chance(chance) ? [change] : []
  const { seq, at, bytes } = change
  const unit = random.pick([sectorBytes, pageBytes])
  const left: Change[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(bytes.length, start + unit - ((at + start) % unit))
    const piece = bytes.subarray(start, end)
    if (random.chance(chance)) left.push({ seq, at: at + start, bytes: piece })
    start = end
  }
  return left
}

/** Old bytes at a place on the disk from before the file used it. */
function remainsFor({ seq, at, bytes }: Extract<Change, { bytes: Buffer }>, random: SeededRandom) {
  const remains = Buffer.alloc(bytes.length, `${random.hex(16)}`, 'hex')
  return { seq, at, bytes: remains }
}

/** What a power cut may leave of the changes that no sync has covered. Each kind is drawn anew for every point. */
export const cuts = {
  /** The strictest disk: it keeps no byte and no name that was not synced. */
  'all dropped': (): Cut => nothing,
  /** The kindest disk: it keeps everything, as after a kill. */
  'all kept': (): Cut => everything,
  /** A disk that keeps the order: it has everything up to some change, which is torn. */
  'in order': (random, { newest, oldestUnsynced }): Cut => {
    const last = Math.floor(random.between(oldestUnsynced, newest + 1))
    return {
      keepsNames: seq => seq <= last,
      leftOf: change => {
        if (change.seq < last) return [change]
        return change.seq === last ? torn(change, random, 0.5) : []
      },
    }
  },
  /** Whole writes and names, each independently. */
  'out of order': (random): Cut => {
    const chance = random.pick([0.1, 0.5, 0.9])
    return {
      keepsNames: () => random.chance(chance),
      leftOf: change => (random.chance(chance) ? [change] : []),
    }
  },
  /** Sectors or pages of writes, each independently. The rest is as before, or has older bytes of the disk. */
  torn: (random): Cut => {
    const chance = random.pick([0.1, 0.5, 0.9])
    const hasRemains = random.chance(0.5)
    return {
      keepsNames: () => random.chance(chance),
      leftOf: change => {
        const pieces = torn(change, random, chance)
        const isOver = 'bytes' in change && hasRemains && random.chance(chance)
        return isOver ? [remainsFor(change, random), ...pieces] : pieces
      },
    }
  },
} satisfies Record<string, (random: SeededRandom, disk: Disk) => Cut>

export type CutName = keyof typeof cuts

export const cutNames = Object.keys(cuts) as CutName[]
