/** Parts that people are dealt to by their hashes, each small enough for the processor's own memory. */
const partBits = 6
const parts = 2 ** partBits

/** Words of a record before its marks: two of the hash, then the day and whether it was completed. */
const headWords = 3
const completedBit = 2 ** 31
const dayBits = completedBit - 1

/** Records of a chunk. */
const chunkRecords = 512

/** Records of one part, in chunks, so that nothing is copied as they grow. */
class Part {
  private full: Uint32Array[] = []
  /** The chunk that is being filled, and up to where it is. */
  chunk: Uint32Array
  filled = 0

  constructor(private readonly chunkWords: number) {
    this.chunk = new Uint32Array(chunkWords)
  }

  /** Makes room in `chunk`. */
  grow(): void {
    this.full.push(this.chunk)
    this.chunk = new Uint32Array(this.chunkWords)
    this.filled = 0
  }

  get length(): number {
    return this.full.length * this.chunkWords + this.filled
  }

  /** Puts all records one after the other into an array that is long enough, and forgets them. */
  moveTo(records: Uint32Array): void {
    for (const [i, chunk] of this.full.entries()) records.set(chunk, i * this.chunkWords)
    records.set(this.chunk.subarray(0, this.filled), this.full.length * this.chunkWords)
    this.full = []
    this.chunk = new Uint32Array(0)
  }
}

/**
 * Counts people by the hashes that runs name.
 *
 * A table of all people would be larger than the processor's caches, and nearly every run would wait
 * for the memory. So runs are first dealt to parts by some bits of their hashes, and then counted a
 * part at a time ("Cache-Conscious Algorithms for Relational Query Processing", Shatdal, Kant and
 * Naughton, 1994).
 */
export class PeopleCounter {
  count = 0
  completers = 0
  /** By day: people who had a run. */
  readonly daily: Uint32Array
  /** By period: people who had a run; nothing where there are no periods. */
  readonly perPeriod: Uint32Array
  private readonly recordWords: number
  private readonly parts: Part[]
  /** How often each byte of a mark word was new to a person. */
  private readonly newMarks: Uint32Array

  /**
   * @param markWords words of 32 marks each that a run leaves on its person
   * @param periodOf by day, ascending from 0; null where people are not counted by period
   */
  constructor(
    private readonly markWords: number,
    days: number,
    private readonly periodOf: Uint16Array | null = null,
  ) {
    this.recordWords = headWords + markWords
    this.parts = Array.from({ length: parts }, () => new Part(this.recordWords * chunkRecords))
    this.newMarks = new Uint32Array(markWords * 4 * 256)
    this.daily = new Uint32Array(days)
    this.perPeriod = new Uint32Array((periodOf?.at(-1) ?? -1) + 1)
  }

  /**
   * Notes a run of a person; runs must come by day.
   *
   * @param marks `markWords` words, from `marksAt` on
   */
  add(
    low: number,
    high: number,
    day: number,
    isCompleted: boolean,
    marks: Uint32Array,
    marksAt: number,
  ): void {
    const part = this.parts[low & (parts - 1)]!
    if (part.filled === part.chunk.length) part.grow()
    const at = part.filled
    const words = part.chunk
    words[at] = low
    words[at + 1] = high
    words[at + 2] = isCompleted ? day | completedBit : day
    for (let word = 0; word < this.markWords; word++) {
      words[at + headWords + word] = marks[marksAt + word]!
    }
    part.filled = at + this.recordWords
  }

  /** Counts what was noted, in small pieces of work. To be run to its end, once. */
  *counting(): Generator<void> {
    const longest = Math.max(...this.parts.map(({ length }) => length))
    const records = new Uint32Array(longest)
    const slots = 2 ** Math.ceil(Math.log2((longest / this.recordWords) * 1.5 + 1))
    const firsts = new Uint32Array(slots)
    for (const part of this.parts) {
      const { length } = part
      part.moveTo(records)
      firsts.fill(0)
      this.countPart(records, length, firsts)
      yield
    }
  }

  /** How many people have a mark. */
  with(mark: number): number {
    const first = (mark >> 3) * 256
    const bit = 1 << (mark & 7)
    let count = 0
    for (let byte = bit; byte < 256; byte = (byte + 1) | bit) count += this.newMarks[first + byte]!
    return count
  }

  /**
   * A person's first record gathers what their others say.
   *
   * @param firsts a table by hash of where first records are, one more than that; 0 is free
   */
  private countPart(words: Uint32Array, length: number, firsts: Uint32Array): void {
    const { recordWords } = this
    const mask = firsts.length - 1
    for (let at = 0; at < length; at += recordWords) {
      const low = words[at]!
      const high = words[at + 1]!
      let slot = (low >>> partBits) & mask
      let first = firsts[slot]!
      while (first !== 0 && (words[first - 1] !== low || words[first] !== high)) {
        slot = (slot + 1) & mask
        first = firsts[slot]!
      }
      if (first === 0) {
        firsts[slot] = at + 1
        this.countFirst(words, at)
      } else {
        this.countAgain(words, first - 1, at)
      }
    }
  }

  private countFirst(words: Uint32Array, at: number): void {
    const note = words[at + 2]!
    this.count++
    this.completers += note >>> 31
    this.countDay(note & dayBits, null)
    for (let word = 0; word < this.markWords; word++) {
      this.countMarks(word, words[at + headWords + word]!)
    }
  }

  private countAgain(words: Uint32Array, first: number, at: number): void {
    const known = words[first + 2]!
    const note = words[at + 2]!
    if ((note & dayBits) !== (known & dayBits)) this.countDay(note & dayBits, known & dayBits)
    this.completers += (note & ~known) >>> 31
    words[first + 2] = note | (known & completedBit)
    for (let word = 0; word < this.markWords; word++) {
      const marks = words[first + headWords + word]!
      const fresh = words[at + headWords + word]! & ~marks
      if (fresh === 0) continue
      words[first + headWords + word] = marks | fresh
      this.countMarks(word, fresh)
    }
  }

  /** @param before the last day on which the person was counted */
  private countDay(day: number, before: number | null): void {
    this.daily[day]!++
    if (this.periodOf === null) return
    const period = this.periodOf[day]!
    if (before === null || this.periodOf[before] !== period) this.perPeriod[period]!++
  }

  private countMarks(word: number, marks: number): void {
    const { newMarks } = this
    const base = word << 10
    newMarks[base + (marks & 255)]!++
    newMarks[base + 256 + ((marks >>> 8) & 255)]!++
    newMarks[base + 512 + ((marks >>> 16) & 255)]!++
    newMarks[base + 768 + (marks >>> 24)]!++
  }
}
