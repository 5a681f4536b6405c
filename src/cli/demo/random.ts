/** Random numbers that are the same at every run, so that the demo makes the same history again. */
export class SeededRandom {
  private state: number

  constructor(seed: string) {
    this.state = Bun.hash.xxHash32(seed)
  }

  /** At least 0 and below 1 (mulberry32, by Tommy Ettinger). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let t = this.state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least)
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T
  }

  /** Waiting times of people: half are below the median, and a few are far above it. */
  waitMs(medianSeconds: number): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next())
    return Math.max(400, Math.round(1000 * medianSeconds * Math.exp(0.6 * normal)))
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => Math.floor(this.next() * 16).toString(16)).join('')
  }

  /** An id of a moment, in the form of a UUIDv7 (RFC 9562, section 5.7). */
  idAt(epochMs: number): string {
    const time = epochMs.toString(16).padStart(12, '0')
    const variant = this.pick(['8', '9', 'a', 'b'])
    const [a, b] = [time.slice(0, 8), time.slice(8)]
    return `${a}-${b}-7${this.hex(3)}-${variant}${this.hex(3)}-${this.hex(12)}`
  }
}
