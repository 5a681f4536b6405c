import {
  type UserHashCounts,
  type UserHashVerdict,
  userHashVerdicts,
} from '../../core/organisation/verified-identity.ts'

const verdicts = userHashVerdicts.length

/** Words before the first slot: the highest slot used, then the sums over all, two words each. */
const headWords = 1 + 2 * verdicts

/**
 * How many user hashes were judged how, by organisation, in memory that all threads share: counting
 * costs a request no message to storage, which writes what was added from time to time.
 */
export class IdentityBoard {
  private readonly words: Uint32Array

  constructor(memory: SharedArrayBuffer) {
    this.words = new Uint32Array(memory)
  }

  static memory(slots: number): SharedArrayBuffer {
    return new SharedArrayBuffer((headWords + slots * verdicts) * 4)
  }

  add(orgRow: number, counts: Partial<UserHashCounts>): void {
    for (const verdict in counts) {
      const place = userHashVerdicts.indexOf(verdict as UserHashVerdict)
      const count = counts[verdict as UserHashVerdict] ?? 0
      if (count > 0) this.addAt(orgRow, place, count)
    }
  }

  private addAt(orgRow: number, place: number, count: number): void {
    const { words } = this
    Atomics.add(words, headWords + orgRow * verdicts + place, count)
    const sumAt = 1 + 2 * place
    const before = Atomics.add(words, sumAt, count)
    if (before + count >= 2 ** 32) Atomics.add(words, sumAt + 1, 1)
    let highest = Atomics.load(words, 0)
    while (highest < orgRow) highest = Atomics.compareExchange(words, 0, highest, orgRow)
  }

  /** What was counted of all organisations since the process started. */
  sums(): UserHashCounts {
    const sumOf = (_: unknown, place: number) => {
      const [low = 0, high = 0] = this.words.subarray(1 + 2 * place)
      return high * 2 ** 32 + low
    }
    return countsOf(userHashVerdicts.map(sumOf))
  }

  /** The highest row of an organisation of which anything was counted. */
  get highest(): number {
    return Atomics.load(this.words, 0)
  }

  /** What was counted of an organisation, by verdict; each wraps at 2^32. */
  of(orgRow: number): UserHashCounts {
    const from = headWords + orgRow * verdicts
    return countsOf([...this.words.subarray(from, from + verdicts)])
  }
}

const countsOf = (counts: readonly number[]) =>
  Object.fromEntries(
    userHashVerdicts.map((verdict, i) => [verdict, counts[i] ?? 0]),
  ) as UserHashCounts
