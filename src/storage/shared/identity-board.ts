import {
  noUserHashes,
  type UserHashCounts,
  type UserHashVerdict,
  userHashVerdicts,
} from '../../core/organisation/verified-identity.ts'
import { growingMemory, growTo } from './growing-memory.ts'

const verdicts = userHashVerdicts.length

/** Words before the first slot: the highest slot used, then the sums over all, two words each. */
const verdictHead = 1 + 2 * verdicts

/**
 * How many user hashes got which verdict, by organisation. The main thread counts, which costs a request no message,
 * and the storage thread writes what was added from time to time.
 */
export class IdentityBoard {
  private readonly words: Uint32Array

  constructor(private readonly memory: SharedArrayBuffer) {
    growTo(memory, verdictHead * 4)
    this.words = new Uint32Array(memory)
  }

  static memory(slots: number): SharedArrayBuffer {
    return growingMemory((verdictHead + slots * verdicts) * 4)
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
    const at = verdictHead + orgRow * verdicts
    if (at + verdicts > words.length) growTo(this.memory, (at + verdicts) * 4)
    Atomics.add(words, at + place, count)
    const sumAt = 1 + 2 * place
    const before = Atomics.add(words, sumAt, count)
    if (before + count >= 2 ** 32) Atomics.add(words, sumAt + 1, 1)
    if (words[0]! < orgRow) Atomics.store(words, 0, orgRow)
  }

  /** What was counted for all organisations since the process started. */
  sums(): UserHashCounts {
    const sumOf = (_: unknown, place: number) => {
      const [low = 0, high = 0] = this.words.subarray(1 + 2 * place)
      return high * 2 ** 32 + low
    }
    return countsOf(userHashVerdicts.map(sumOf))
  }

  /** The highest row of an organisation for which anything was counted. */
  get highest(): number {
    return Atomics.load(this.words, 0)
  }

  /** What was counted for an organisation, by verdict; each wraps at 2^32. */
  of(orgRow: number): UserHashCounts {
    const from = verdictHead + orgRow * verdicts
    return countsOf([...this.words.subarray(from, from + verdicts)])
  }
}

const countsOf = (counts: readonly number[]) =>
  Object.fromEntries(
    userHashVerdicts.map((verdict, i) => [verdict, counts[i] ?? 0]),
  ) as UserHashCounts

/** How many more user hashes of an organisation got this verdict. */
interface JudgedMore {
  orgRow: number
  verdict: UserHashVerdict
  count: number
}

/** The user hashes that the board has counted and that are not written yet. */
export class IdentityNews {
  /** The board's counts that are written, by organisation. */
  private readonly written = new Map<number, UserHashCounts>()
  private writtenSum = 0

  constructor(private readonly board: IdentityBoard) {}

  /** Whether anything was counted since the last time. */
  hasNews(): boolean {
    return this.sum() !== this.writtenSum
  }

  /** What to add to what is written, and a function to call once that is done. */
  gather(): { added: JudgedMore[]; written: () => void } {
    const sum = this.sum()
    const added: JudgedMore[] = []
    const seen = new Map<number, UserHashCounts>()
    if (sum === this.writtenSum) return { added, written: () => {} }
    for (let orgRow = 0; orgRow <= this.board.highest; orgRow++) {
      const counts = this.board.of(orgRow)
      const before = this.written.get(orgRow) ?? noUserHashes
      for (const verdict of userHashVerdicts) {
        // The board's counts wrap.
        const count = (counts[verdict] - before[verdict]) >>> 0
        if (count === 0) continue
        added.push({ orgRow, verdict, count })
        seen.set(orgRow, counts)
      }
    }
    const written = () => {
      for (const [orgRow, counts] of seen) this.written.set(orgRow, counts)
      this.writtenSum = sum
    }
    return { added, written }
  }

  private sum(): number {
    const counts = this.board.sums()
    return userHashVerdicts.reduce((sum, verdict) => sum + counts[verdict], 0)
  }
}
