/** People are split into this many parts by their hashes, so that each part fits into the processor's caches. */
const partBits = 6
const parts = 2 ** partBits

/** Words of a record before its marks: two of the hash, then one with the day and whether the run was completed. */
const headWords = 3
const completedBit = 2 ** 31
const dayBits = completedBit - 1

/** The records of one part. */
class Part {
  words: Uint32Array
  /** How many of the words are used. */
  length = 0

  constructor(recordWords: number) {
    this.words = new Uint32Array(recordWords * 512)
  }

  grow(): void {
    const { words } = this
    this.words = new Uint32Array(words.length * 2)
    this.words.set(words)
  }
}

/**
 * Counts people by the hashes in their runs.
 *
 * A table of all people would be larger than the processor's caches, and nearly every run would wait for
 * memory. So runs are first partitioned by some bits of their hashes, and then counted one part at a time
 * ("Cache-Conscious Algorithms for Relational Query Processing", Shatdal, Kant and Naughton, 1994).
 */
export class PeopleCounter {
  count = 0
  completers = 0
  /** People who had a run, by day. */
  readonly daily: Uint32Array
  /** People who had a run, by period; empty if there are no periods. */
  readonly perPeriod: Uint32Array
  private readonly recordWords: number
  private readonly parts: Part[]
  /** How often each byte value of a mark word was new for a person. */
  private readonly newMarks: Uint32Array

  /**
   * @param markWords how many words of 32 marks each a run leaves on its person
   * @param periodOf the period of each day, ascending from 0; null if people are not counted by period
   */
  constructor(
    private readonly markWords: number,
    days: number,
    private readonly periodOf: Uint16Array | null = null,
  ) {
    this.recordWords = headWords + markWords
    this.parts = Array.from({ length: parts }, () => new Part(this.recordWords))
    this.newMarks = new Uint32Array(markWords * 4 * 256)
    this.daily = new Uint32Array(days)
    this.perPeriod = new Uint32Array((periodOf?.at(-1) ?? -1) + 1)
  }

  /**
   * Records a run of a person. Runs must come in the order of days.
   *
   * @param marks `markWords` words, starting at `marksAt`
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
    if (part.length === part.words.length) part.grow()
    const at = part.length
    const words = part.words
    words[at] = low
    words[at + 1] = high
    words[at + 2] = isCompleted ? day | completedBit : day
    for (let word = 0; word < this.markWords; word++) {
      words[at + headWords + word] = marks[marksAt + word]!
    }
    part.length = at + this.recordWords
  }

  /** Counts the recorded runs, in small pieces of work. Run it to its end, once. */
  *counting(): Generator<void> {
    const records = Math.max(...this.parts.map(({ length }) => length)) / this.recordWords
    const firsts = new Uint32Array(2 ** Math.ceil(Math.log2(records * 1.5 + 1)))
    for (const part of this.parts) {
      firsts.fill(0)
      this.countPart(part, firsts)
      part.words = new Uint32Array(0)
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
   * A person's first record collects what their other records add.
   *
   * @param firsts a hash table of the places of first records, plus one; 0 is free
   */
  private countPart({ words, length }: Part, firsts: Uint32Array): void {
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
