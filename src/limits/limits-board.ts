/**
 * What a thread tells the main one about a limiter on another machine: whether it is away, and how many
 * requests were decided without it. Each thread writes only its own board; a thread that is restarted goes on
 * counting there.
 */
export class LimitsBoard {
  private readonly words: Float64Array

  constructor(memory: SharedArrayBuffer) {
    this.words = new Float64Array(memory)
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT)
  }

  get isAway(): boolean {
    return this.words[0] === 1
  }

  /** How many requests were decided without it. */
  get alone(): number {
    return this.words[1]!
  }

  /** @returns whether that has changed */
  setAway(is: boolean): boolean {
    const isNews = this.isAway !== is
    this.words[0] = Number(is)
    return isNews
  }

  countAlone(): void {
    this.words[1]! += 1
  }
}
