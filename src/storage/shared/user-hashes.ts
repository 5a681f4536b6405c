import {
  noUserHashes,
  type UserHashCounts,
  type UserHashVerdict,
  userHashVerdicts,
} from '../../core/organisation/verified-identity.ts'

/** How many more user hashes of an organisation got this verdict. */
interface JudgedMore {
  orgRow: number
  verdict: UserHashVerdict
  count: number
}

/**
 * How many user hashes got which verdict. Requests count them, and storage writes what was added from time to
 * time.
 */
export class UserHashes {
  /** What was counted for all organisations since the process started. */
  readonly sums: UserHashCounts = { ...noUserHashes }
  /** By organisation: what is not written yet. */
  private readonly unwritten = new Map<number, UserHashCounts>()

  add(orgRow: number, counts: Partial<UserHashCounts>): void {
    for (const verdict of userHashVerdicts) {
      const count = counts[verdict] ?? 0
      if (count === 0) continue
      this.sums[verdict] += count
      const ofOrganisation = this.unwritten.get(orgRow) ?? { ...noUserHashes }
      ofOrganisation[verdict] += count
      this.unwritten.set(orgRow, ofOrganisation)
    }
  }

  /** Whether anything was counted that is not written yet. */
  get hasNews(): boolean {
    return this.unwritten.size > 0
  }

  /** What is not written yet, and a function to call once it is. */
  takeNews(): { added: readonly JudgedMore[]; written: () => void } {
    const taken = [...this.unwritten].map(([orgRow, counts]) => [orgRow, { ...counts }] as const)
    const added = taken.flatMap(([orgRow, counts]) =>
      userHashVerdicts
        .filter(verdict => counts[verdict] > 0)
        .map(verdict => ({ orgRow, verdict, count: counts[verdict] })),
    )
    const written = () => {
      for (const [orgRow, counts] of taken) {
        const left = this.unwritten.get(orgRow)!
        for (const verdict of userHashVerdicts) left[verdict] -= counts[verdict]
        if (userHashVerdicts.every(verdict => left[verdict] === 0)) this.unwritten.delete(orgRow)
      }
    }
    return { added, written }
  }
}
