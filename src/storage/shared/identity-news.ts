import {
  noUserHashes,
  type UserHashCounts,
  type UserHashVerdict,
  userHashVerdicts,
} from '../../core/organisation/verified-identity.ts'
import type { IdentityBoard } from './boards.ts'

/** How many more user hashes of an organisation were judged so. */
export interface JudgedMore {
  orgRow: number
  verdict: UserHashVerdict
  count: number
}

/** What the board has counted of user hashes and is not written yet. */
export class IdentityNews {
  /** What of the board's counts is written, by organisation. */
  private readonly written = new Map<number, UserHashCounts>()
  private writtenSum = 0

  constructor(private readonly board: IdentityBoard) {}

  /** Whether anything was counted since the last time. */
  hasNews(): boolean {
    return this.sum() !== this.writtenSum
  }

  /** What to add to what is written, and what to call once that is done. */
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
