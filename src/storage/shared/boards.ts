import { getRandomValues } from 'node:crypto'
import { type Bucket, buckets } from '../../core/organisation/buckets.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { type PresenceMark, presenceMarks } from '../../core/organisation/presence.ts'
import { minuteMs } from '../../core/time/durations.ts'
import type { BeatBounds } from '../../modules/installation/port.ts'
import { growingMemory, growTo } from './growing-memory.ts'
import { IdentityBoard } from './identity-board.ts'
import { NodeBoard } from './node-board.ts'

/** How many organisations the shared tables have room for. */
export const mostOrganisations = 131_072

/** An organisation's place in tables that threads share: its row, which counts from 1. */
export const slotOf = ({ ref }: Pick<Organisation, 'ref'>) => ref as unknown as number

/** Memory that the main thread and the storage thread share. */
export interface SharedMemory {
  presence: SharedArrayBuffer
  identity: SharedArrayBuffer
  progress: SharedArrayBuffer
  /** How many events are acknowledged but not projected yet. */
  lag: SharedArrayBuffer
  buffer: SharedArrayBuffer
  /** One word that grows with every change of the catalogue. */
  generation: SharedArrayBuffer
  /** The organisations for which somebody watches what arrives. */
  watch: SharedArrayBuffer
  /** The state of this node among others. */
  node: SharedArrayBuffer
}

export function newSharedMemory(): SharedMemory {
  return {
    presence: PresenceBoard.memory(mostOrganisations + 1),
    identity: IdentityBoard.memory(mostOrganisations + 1),
    progress: ProgressBoard.memory(),
    lag: LagBoard.memory(),
    buffer: BufferGauge.memory(),
    generation: new SharedArrayBuffer(4),
    watch: WatchBoard.memory(),
    node: NodeBoard.memory(),
  }
}

/**
 * Two words per mark: the first and the last second (Unix), 0 if never seen. Then one word per bucket: the last
 * minute in which its limit was reached. Then the moment from which on heartbeats are free.
 */
const limitsAt = presenceMarks.length * 2
const nextBeatAt = limitsAt + buckets.length
const wordsPerSlot = nextBeatAt + 1

/**
 * How far a mark that another request left meanwhile may lie ahead of a request, seconds. A mark further ahead
 * is from a clock that was set back since.
 */
const maxAheadSeconds = 120

/** If heartbeats are reserved this far ahead, many pages wait and more of them come. Milliseconds. */
const crowdMs = 40_000

/** Words before the first slot. */
const headWords = 3

/**
 * When each organisation was last seen. The main thread notes it, at the cost of a store, and the storage thread
 * writes it to the database from time to time. Whole seconds are enough for "seen within five minutes". Word 0 is
 * the second of the newest mark, word 1 the highest slot used, word 2 counts marks (it wraps).
 */
export class PresenceBoard {
  private readonly words: Uint32Array

  constructor(private readonly memory: SharedArrayBuffer) {
    growTo(memory, headWords * 4)
    this.words = new Uint32Array(memory)
  }

  static memory(slots: number): SharedArrayBuffer {
    return growingMemory((headWords + slots * wordsPerSlot) * 4)
  }

  mark(orgRow: number, mark: PresenceMark, now: number): void {
    const { words } = this
    const at = this.slot(orgRow) + markAt(mark)
    const second = Math.floor(now / 1000)
    const ahead = words[at + 1]! - second
    if (ahead >= 0 && ahead < maxAheadSeconds) return
    if (words[at] === 0) Atomics.store(words, at, second)
    Atomics.store(words, at + 1, second)
    const aheadOfNewest = words[0]! - second
    if (aheadOfNewest < 0 || aheadOfNewest >= maxAheadSeconds) Atomics.store(words, 0, second)
    if (words[1]! < orgRow) Atomics.store(words, 1, orgRow)
    Atomics.add(words, 2, 1)
  }

  /** First and last time since the process started, epoch milliseconds; null if never seen. */
  seen(orgRow: number, mark: PresenceMark): { firstAt: number; lastAt: number } | null {
    const at = placeOf(orgRow) + markAt(mark)
    // An organisation that was never seen may not have a place yet.
    const first = at < this.words.length ? Atomics.load(this.words, at) : 0
    if (first === 0) return null
    return { firstAt: first * 1000, lastAt: Atomics.load(this.words, at + 1) * 1000 }
  }

  /** Notes that a limit was reached. Returns whether that is the first time in its minute. */
  isNewlyLimited(orgRow: number, bucket: Bucket, now: number): boolean {
    const at = this.slot(orgRow) + limitsAt + buckets.indexOf(bucket)
    const minute = Math.floor(now / minuteMs)
    const isNew = this.words[at] !== minute
    this.words[at] = minute
    return isNew
  }

  /**
   * Reserves moments for heartbeats, after those that are reserved already, so that all pages together stay
   * within the limit, however many they are.
   *
   * @param now monotonic milliseconds
   * @returns how far ahead the last one is, milliseconds; none is reserved as far ahead as `latestMs`
   */
  reserveBeat(orgRow: number, now: number, bounds: BeatBounds): number {
    const { moments, soonestMs, latestMs, remaining, resetInMs } = bounds
    const { words } = this
    const at = this.slot(orgRow) + nextBeatAt
    // Milliseconds modulo 2^32. A moment further ahead than any that can be reserved is from weeks ago.
    const ahead = (words[at]! - Math.floor(now)) | 0
    const busyMs = ahead < 0 || ahead > latestMs + bounds.apartInCrowdMs ? 0 : ahead
    const apartMs = busyMs < crowdMs ? bounds.apartMs : bounds.apartInCrowdMs
    // This heartbeat, those that are promised, and two for pages that come.
    const isFull = 3 + Math.floor(Math.min(busyMs, resetInMs) / apartMs) > remaining
    const turnMs = busyMs + (moments - 1) * apartMs
    const waitMs = Math.max(soonestMs, turnMs, isFull ? resetInMs : 0)
    if (waitMs >= latestMs) return latestMs
    words[at] = (now + waitMs + apartMs) >>> 0
    return waitMs
  }

  newestSeconds(): number {
    return Atomics.load(this.words, 0)
  }

  /** A number that changes with every mark. */
  marks(): number {
    return Atomics.load(this.words, 2)
  }

  /** Everything seen in or after a second. */
  *seenSince(
    second: number,
  ): Iterable<{ orgRow: number; mark: PresenceMark; firstAt: number; lastAt: number }> {
    const highest = Atomics.load(this.words, 1)
    for (let orgRow = 0; orgRow <= highest; orgRow++) {
      for (const mark of presenceMarks) {
        const seen = this.seen(orgRow, mark)
        if (seen && seen.lastAt >= second * 1000) yield { orgRow, mark, ...seen }
      }
    }
  }

  /** Where an organisation's words begin. For callers that are about to write there. */
  private slot(orgRow: number): number {
    const at = placeOf(orgRow)
    const end = at + wordsPerSlot
    if (end > this.words.length) growTo(this.memory, end * 4)
    return at
  }
}

const placeOf = (orgRow: number) => headWords + orgRow * wordsPerSlot

const markAt = (mark: PresenceMark) => presenceMarks.indexOf(mark) * 2

/** Two people who share a cell see each other's changes, and only ask once more than they have to. */
const cells = 2 ** 18

/**
 * Whether a person's progress has changed, in memory that both threads share. The storage thread counts a change
 * once it is committed, and the main thread reads one word. What has changed is in the tables. Word 0 is the number at
 * which the count begins, a different one at each start.
 */
export class ProgressBoard {
  private readonly words: Uint32Array

  constructor(memory: SharedArrayBuffer) {
    this.words = new Uint32Array(memory)
  }

  /** Untouched pages cost no memory. */
  static memory(): SharedArrayBuffer {
    const memory = new SharedArrayBuffer((cells + 1) * 4)
    new Uint32Array(memory, 0, 1).set(getRandomValues(new Uint32Array(1)))
    return memory
  }

  /** @param person as `personOf` names them */
  changed(orgRow: number, person: string): void {
    Atomics.add(this.words, cellOf(orgRow, person), 1)
  }

  /** A text that is different after each change. */
  version(orgRow: number, person: string): string {
    const count = Atomics.load(this.words, cellOf(orgRow, person))
    return (((this.words[0] as number) + count) >>> 0).toString(36)
  }
}

const cellOf = (orgRow: number, person: string): number =>
  1 + (Bun.hash.xxHash32(`${orgRow} ${person}`) % cells)

/**
 * How many events are acknowledged but not projected yet, in memory that both threads share: word 0. The double
 * after it tells since when.
 */
export class LagBoard {
  private readonly count: Int32Array
  private readonly since: Float64Array

  constructor(memory: SharedArrayBuffer) {
    this.count = new Int32Array(memory, 0, 1)
    this.since = new Float64Array(memory, 8, 1)
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(16)
  }

  /** How many events wait. */
  get events(): number {
    return Atomics.load(this.count, 0)
  }

  /** Since when the event that waits longest has waited, epoch milliseconds; null if none waits. */
  get waitingSince(): number | null {
    return this.events === 0 ? null : this.since[0]!
  }

  /** For the storage thread: sets how many events wait, and since when. */
  tell(events: number, since: number): void {
    this.since[0] = since
    Atomics.store(this.count, 0, events)
  }
}

/** How many organisations can be watched at once. */
export const mostWatched = 16

/**
 * The organisations for which somebody watches what arrives, in memory that both threads share. The storage thread
 * writes it, and the main thread reads it, which costs a load of one word as long as nobody watches. Word 0 counts
 * the rows that follow.
 */
export class WatchBoard {
  private readonly words: Int32Array

  constructor(memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory)
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer((1 + mostWatched) * 4)
  }

  isWatched(orgRow: number): boolean {
    const count = Atomics.load(this.words, 0)
    for (let place = 1; place <= count; place++) {
      if (Atomics.load(this.words, place) === orgRow) return true
    }
    return false
  }

  /** For the storage thread alone. */
  set(orgRows: readonly number[]): void {
    for (const [i, row] of orgRows.entries()) Atomics.store(this.words, i + 1, row)
    Atomics.store(this.words, 0, orgRows.length)
  }
}

/** How much may wait for the storage thread before writers are told to come back later. */
export interface BufferBounds {
  events: number
  bytes: number
}

/**
 * How much waits for the storage thread, counted in memory that both threads share, because nothing tells the length
 * of a queue between threads.
 */
export class BufferGauge {
  private readonly words: Int32Array

  constructor(
    memory: SharedArrayBuffer,
    private readonly bounds: BufferBounds,
  ) {
    this.words = new Int32Array(memory)
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(12)
  }

  get events(): number {
    return Atomics.load(this.words, 0)
  }

  get bytes(): number {
    return Atomics.load(this.words, 1)
  }

  /** Whether storage refuses writes at the moment. */
  get isRefused(): boolean {
    return Atomics.load(this.words, 2) === 1
  }

  set isRefused(isRefused: boolean) {
    Atomics.store(this.words, 2, Number(isRefused))
  }

  /** Whether it is below its bounds, so that another writer may still be taken in. */
  get hasRoom(): boolean {
    return this.events < this.bounds.events && this.bytes < this.bounds.bytes
  }

  /** Whether there is room for this much more. */
  fits(events: number, bytes: number): boolean {
    return this.events + events <= this.bounds.events && this.bytes + bytes <= this.bounds.bytes
  }

  /** Takes room when a message leaves its thread. */
  enter(events: number, bytes: number): void {
    Atomics.add(this.words, 0, events)
    Atomics.add(this.words, 1, bytes)
  }

  leave(events: number, bytes: number): void {
    Atomics.sub(this.words, 0, events)
    Atomics.sub(this.words, 1, bytes)
  }
}
