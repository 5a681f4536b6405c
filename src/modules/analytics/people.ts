/** Where a person's words say what: two of the hash, then the last day and whether they completed. */
const noteWord = 2
const stepWord = 3

/** How full the table may be: beyond it, looking becomes slow. */
const fullest = 0.6

const completerBit = 2 ** 31
const dayBits = completerBit - 1

/**
 * The people of an answer by their hashes: a table with open addressing, in which all that is noted
 * of a person lies side by side, so that a run costs one place in memory.
 */
export class People {
  private slots = 1_024
  private readonly stride: number
  /** `stride` words a slot; a slot whose hash is 0 is free. */
  private words: Uint32Array
  /** How many people met have which byte of a step word new. */
  private readonly newSteps: Uint32Array
  count = 0
  completers = 0
  /** By day: how many people had a run. */
  readonly daily: Uint32Array
  /** Whether the person who was met last had not been met before. */
  isNew = false

  /** @param stepWords words of 32 steps each that are noted of a person */
  constructor(stepWords: number, days: number) {
    this.stride = stepWord + stepWords
    this.words = new Uint32Array(this.slots * this.stride)
    this.newSteps = new Uint32Array(stepWords * 4 * 256)
    this.daily = new Uint32Array(days)
  }

  /** Makes room for so many more people; places that were given before mean nothing any more. */
  reserve(more: number): void {
    let slots = this.slots
    while (this.count + more > slots * fullest) slots *= 2
    if (slots === this.slots) return
    const { words, stride } = this
    this.slots = slots
    this.words = new Uint32Array(slots * stride)
    for (let at = 0; at < words.length; at += stride) {
      const low = words[at]!
      const high = words[at + 1]!
      if ((low | high) === 0) continue
      const place = this.placeOf(low, high)
      for (let i = 0; i < stride; i++) this.words[place + i] = words[at + i]!
    }
  }

  /**
   * Counts a person who has a run; runs must come by day.
   *
   * @returns the person's place
   */
  meet(low: number, high: number, day: number, isCompleted: boolean): number {
    const at = this.placeOf(low, high)
    const { words } = this
    let note = words[at + noteWord]!
    this.isNew = note === 0
    if (this.isNew) {
      words[at] = low
      words[at + 1] = high
      this.count++
    }
    if ((note & dayBits) !== day + 1) {
      note = (note & completerBit) | (day + 1)
      this.daily[day]!++
    }
    if (isCompleted && (note & completerBit) === 0) {
      note |= completerBit
      this.completers++
    }
    words[at + noteWord] = note
    return at
  }

  /** Notes that the person at a place saw steps, as bits of one word. */
  see(place: number, word: number, steps: number): void {
    const at = place + stepWord + word
    const known = this.words[at]!
    const fresh = steps & ~known
    if (fresh === 0) return
    this.words[at] = known | fresh
    const { newSteps } = this
    const base = word << 10
    newSteps[base + (fresh & 255)]!++
    newSteps[base + 256 + ((fresh >>> 8) & 255)]!++
    newSteps[base + 512 + ((fresh >>> 16) & 255)]!++
    newSteps[base + 768 + (fresh >>> 24)]!++
  }

  /** How many people saw a step. */
  whoSaw(step: number): number {
    return countWithBit(this.newSteps, step)
  }

  private placeOf(low: number, high: number): number {
    const { words, stride } = this
    const mask = this.slots - 1
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const at = slot * stride
      const thereLow = words[at]!
      const thereHigh = words[at + 1]!
      if (thereLow === low && thereHigh === high) return at
      if ((thereLow | thereHigh) === 0) return at
    }
  }
}

/**
 * Of counts by byte, 256 for each eight bits: how many bytes have a bit.
 *
 * @param bit counted from the first byte's lowest
 */
export function countWithBit(counts: Uint32Array, bit: number): number {
  const base = (bit >> 3) * 256
  const one = 1 << (bit & 7)
  let count = 0
  for (let byte = one; byte < 256; byte = (byte + 1) | one) count += counts[base + byte]!
  return count
}
