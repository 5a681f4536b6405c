import { getRandomValues } from 'node:crypto'
import { personOf } from '../../core/event/event.ts'
import type { PersonIds } from '../../core/event/stored-event.ts'
import { type Bucket, buckets } from '../../core/organisation/buckets.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { type PresenceMark, presenceMarks } from '../../core/organisation/presence.ts'
import { minuteMs } from '../../core/time/durations.ts'
import { growingMemory, growTo } from '../../limits/growing-memory.ts'
import type { BeatBounds } from '../../modules/installation/port.ts'
import { IdentityBoard } from './identity-board.ts'
import { NodeBoard } from './node-board.ts'

/** Organisations that the shared tables have room for. */
export const mostOrganisations = 131_072

/** An organisation's place in tables that threads share: its row, which counts from 1. */
export const slotOf = ({ ref }: Pick<Organisation, 'ref'>) => ref as unknown as number

/** Memory that all threads of the process see. */
export interface SharedMemory {
  presence: SharedArrayBuffer
  identity: SharedArrayBuffer
  progress: SharedArrayBuffer
  /** Of whom something is acknowledged and not projected yet. */
  lag: SharedArrayBuffer
  buffer: SharedArrayBuffer
  /** One word that grows with every change of the catalogue. */
  generation: SharedArrayBuffer
  /** Of which organisations somebody watches what arrives. */
  watch: SharedArrayBuffer
  /** How this node stands among others. */
  node: SharedArrayBuffer
  echo: EchoMemory
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
    echo: newEchoMemory(),
  }
}

/**
 * Two words a mark: first and last second (Unix), 0 where never seen. Then a word a bucket: the last
 * minute in which its limit was reached. Then the moment from which on heartbeats are free.
 */
const limitsAt = presenceMarks.length * 2
const nextBeatAt = limitsAt + buckets.length
const wordsPerSlot = nextBeatAt + 1

/**
 * How far ahead of a request a mark may lie that another left meanwhile, seconds; further ahead it is
 * of a clock that was set back since.
 */
const mostAheadSeconds = 120

/** Where heartbeats are kept so far ahead many pages wait, and more of them come, milliseconds. */
const crowdMs = 40_000

/** Words before the first slot. */
const headWords = 3

/**
 * When each organisation was last seen, in memory that all threads share: noting it costs a
 * store, and every thread sees it at once. Whole seconds are enough for "seen within five minutes".
 * Word 0 is the second of the newest mark, word 1 the highest slot used, word 2 counts marks (it wraps).
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
    const ahead = Atomics.load(words, at + 1) - second
    if (ahead >= 0 && ahead < mostAheadSeconds) return
    Atomics.compareExchange(words, at, 0, second)
    Atomics.store(words, at + 1, second)
    if (Atomics.load(words, 0) - second < mostAheadSeconds) raise(words, 0, second)
    else Atomics.store(words, 0, second)
    raise(words, 1, orgRow)
    Atomics.add(words, 2, 1)
  }

  /** First and last time since the process started, epoch milliseconds; null where never. */
  seen(orgRow: number, mark: PresenceMark): { firstAt: number; lastAt: number } | null {
    const at = placeOf(orgRow) + markAt(mark)
    // Of who was never seen there may be no place yet.
    const first = at < this.words.length ? Atomics.load(this.words, at) : 0
    if (first === 0) return null
    return { firstAt: first * 1000, lastAt: Atomics.load(this.words, at + 1) * 1000 }
  }

  /** Notes that a limit was reached; whether this is the first time in its minute, over all threads. */
  isNewlyLimited(orgRow: number, bucket: Bucket, now: number): boolean {
    const at = this.slot(orgRow) + limitsAt + buckets.indexOf(bucket)
    const minute = Math.floor(now / minuteMs)
    return Atomics.exchange(this.words, at, minute) !== minute
  }

  /**
   * Keeps moments free for heartbeats, behind those that were kept before, so that pages stay inside the
   * limit together however many they are.
   *
   * @param now monotonic milliseconds
   * @returns how far ahead the last is, milliseconds; none is kept as far ahead as `latestMs`
   */
  reserveBeat(orgRow: number, now: number, bounds: BeatBounds): number {
    const { moments, soonestMs, latestMs, remaining, resetInMs } = bounds
    const { words } = this
    const at = this.slot(orgRow) + nextBeatAt
    for (;;) {
      const free = Atomics.load(words, at)
      // Milliseconds modulo 2^32; what lies further ahead than any that is kept is of weeks ago.
      const ahead = (free - Math.floor(now)) | 0
      const busyMs = ahead < 0 || ahead > latestMs + bounds.apartInCrowdMs ? 0 : ahead
      const apartMs = busyMs < crowdMs ? bounds.apartMs : bounds.apartInCrowdMs
      // This one, those that are promised, and two for pages that come.
      const isFull = 3 + Math.floor(Math.min(busyMs, resetInMs) / apartMs) > remaining
      const turnMs = busyMs + (moments - 1) * apartMs
      const waitMs = Math.max(soonestMs, turnMs, isFull ? resetInMs : 0)
      if (waitMs >= latestMs) return latestMs
      const next = (now + waitMs + apartMs) >>> 0
      if (Atomics.compareExchange(words, at, free, next) === free) return waitMs
    }
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

  /** Where an organisation's words begin, for who is about to write there. */
  private slot(orgRow: number): number {
    const at = placeOf(orgRow)
    const end = at + wordsPerSlot
    if (end > this.words.length) growTo(this.memory, end * 4)
    return at
  }
}

const placeOf = (orgRow: number) => headWords + orgRow * wordsPerSlot

const markAt = (mark: PresenceMark) => presenceMarks.indexOf(mark) * 2

/** Stores a value where it is greater than what stands there. */
function raise(words: Uint32Array, at: number, value: number): void {
  for (;;) {
    const known = Atomics.load(words, at)
    if (known >= value) return
    if (Atomics.compareExchange(words, at, known, value) === known) return
  }
}

/** Two people who share a cell hear of each other's changes, and only ask once more than they have to. */
const cells = 2 ** 18

/**
 * Whether a person's progress has changed, in memory that all threads share: the storage thread counts
 * a change once it is committed, and whoever asks reads a word. Of a change that is told, the tables
 * tell more. Word 0 is where the counting begins, another with each start.
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

  /** A text that is another after each change. */
  version(orgRow: number, person: string): string {
    const count = Atomics.load(this.words, cellOf(orgRow, person))
    return (((this.words[0] as number) + count) >>> 0).toString(36)
  }
}

const cellOf = (orgRow: number, person: string): number =>
  1 + (Bun.hash.xxHash32(`${orgRow} ${person}`) % cells)

/** Cells of a table, a power of two. Untouched pages cost no memory. */
const lagCells = 2 ** 19

/** Words before the first table; the last two are a double. */
const lagHead = 6
const [window, doneWindow, waitingEvents, sinceAt] = [0, 1, 2, 4] as const

/**
 * Of whom there are events that are acknowledged and not projected yet, in memory that all threads share:
 * so who reads waits for the projector where something of theirs is behind, and for nothing else.
 *
 * What the projector takes in one go is a window, and each has a number. Word 0 is that of the window that
 * is being filled, word 1 that of the last one that is projected. A cell says for which window it was last
 * marked. Word 2 says how many events wait, words 4 and 5 since when.
 *
 * Every name has a cell in each of two tables, and is behind where both say so: with 30,000 people in a
 * window one look in three hundred is told that somebody is behind who is not.
 */
export class LagBoard {
  private readonly words: Int32Array
  private readonly since: Float64Array

  constructor(memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory)
    this.since = new Float64Array(memory, sinceAt * 4, 1)
  }

  static memory(): SharedArrayBuffer {
    const memory = new SharedArrayBuffer((lagHead + 2 * lagCells) * 4)
    new Int32Array(memory)[window] = 1
    return memory
  }

  /** The storage thread's: events of somebody, or of a flow, are committed and wait. */
  markPerson(orgRow: number, person: string): void {
    this.mark(`${orgRow} ${person}`)
  }

  markFlow(flowRow: number): void {
    this.mark(`${flowRow}`)
  }

  /** The storage thread's: what is committed from now on is of the next window. @returns the one before */
  nextWindow(): number {
    return Atomics.add(this.words, window, 1)
  }

  /** The storage thread's: a window, and all before it, is projected. */
  done(of: number): void {
    Atomics.store(this.words, doneWindow, of)
  }

  /** How many events wait. */
  get events(): number {
    return Atomics.load(this.words, waitingEvents)
  }

  /** Since when the one waits that waits longest, epoch milliseconds; null where none does. */
  get waitingSince(): number | null {
    return this.events === 0 ? null : this.since[0]!
  }

  /** The storage thread's: how many events wait, and since when. */
  tell(events: number, since: number): void {
    this.since[0] = since
    Atomics.store(this.words, waitingEvents, events)
  }

  isPersonBehind(orgRow: number, { userId, anonymousId }: PersonIds): boolean {
    return this.isBehind(`${orgRow} ${personOf(userId, anonymousId)}`)
  }

  isFlowBehind(flowRow: number): boolean {
    return this.isBehind(`${flowRow}`)
  }

  /** The last window that is projected. */
  get lastDone(): number {
    return Atomics.load(this.words, doneWindow)
  }

  private mark(name: string): void {
    const current = Atomics.load(this.words, window)
    const hash = Bun.hash.xxHash32(name)
    Atomics.store(this.words, firstPlace(hash), current)
    Atomics.store(this.words, secondPlace(hash), current)
  }

  private isBehind(name: string): boolean {
    const done = Atomics.load(this.words, doneWindow)
    const hash = Bun.hash.xxHash32(name)
    // Windows are told apart modulo 2^32.
    const isAfter = (place: number) => ((Atomics.load(this.words, place) - done) | 0) > 0
    return isAfter(firstPlace(hash)) && isAfter(secondPlace(hash))
  }
}

const firstPlace = (hash: number) => lagHead + (hash & (lagCells - 1))
const secondPlace = (hash: number) => lagHead + lagCells + (Math.imul(hash, 0x9e3779b1) >>> 13)

/** Organisations that are watched at once. */
export const mostWatched = 16

/**
 * Of which organisations somebody watches what arrives, in memory that all threads share. The storage
 * thread says so; who answers requests asks, which costs a load of one word as long as nobody watches.
 * Word 0 counts the rows that follow.
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

  /** By the storage thread alone. */
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
 * What waits between the threads that answer requests and the one that writes, counted in memory
 * that all of them share: a queue between threads has no length that can be asked for.
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

  /** Below its bounds, so that a writer may still be taken in. */
  get hasRoom(): boolean {
    return this.events < this.bounds.events && this.bytes < this.bounds.bytes
  }

  /** Whether there is room for so much more. */
  fits(events: number, bytes: number): boolean {
    return this.events + events <= this.bounds.events && this.bytes + bytes <= this.bounds.bytes
  }

  /**
   * Takes room, at the moment a message leaves its thread: taken earlier, it would be lost with a thread
   * that dies. So each thread may go beyond the bounds by what it gathers in one turn.
   */
  enter(events: number, bytes: number): void {
    Atomics.add(this.words, 0, events)
    Atomics.add(this.words, 1, bytes)
  }

  leave(events: number, bytes: number): void {
    Atomics.sub(this.words, 0, events)
    Atomics.sub(this.words, 1, bytes)
  }
}

/** A name that no other process' echo has, and the number of the one in use; 0 for none. */
export interface EchoMemory {
  name: string
  generation: SharedArrayBuffer
}

const newEchoMemory = (): EchoMemory => ({
  name: crypto.randomUUID(),
  generation: new SharedArrayBuffer(4),
})
