import type { Database } from 'bun:sqlite'
import type { ErasureRow } from './erasure-table.ts'
import { hashedPerson, type PersonMatcher } from './person-matcher.ts'
import { Pseudonyms } from './pseudonyms.ts'

/** What was erased, in numbers: nothing in it is personal. */
const noCounts = {
  events: 0,
  runs: 0,
  completions: 0,
  ticks: 0,
  progress: 0,
  looseFacts: 0,
  stepReports: 0,
  deadLetters: 0,
}

export type ErasedCounts = typeof noCounts

/**
 * An erasure in progress: whom it is about, what replaces their names, and what it has counted. It
 * continues where a killed one stopped, because every part of it looks for what is still there.
 */
export class ErasureWork {
  readonly orgRow: number
  readonly person: PersonMatcher
  readonly pseudonyms: Pseudonyms
  private counts: ErasedCounts
  private readonly note

  constructor(
    readonly database: Database,
    private readonly row: ErasureRow & { secret: string },
  ) {
    this.orgRow = row.orgRow
    this.person = hashedPerson(row.key, row.orgId, row.person)
    this.pseudonyms = new Pseudonyms(row.secret)
    this.counts = row.receipt === null ? noCounts : JSON.parse(row.receipt)
    this.note = database.query('update erasures set receipt = ? where id = ? and org_id = ?')
  }

  /** Does work in one transaction, which has to be short because it blocks other writers. */
  step(work: () => Partial<ErasedCounts>): void {
    const transaction = this.database.transaction(() => {
      const counts = { ...this.counts }
      for (const [kind, count] of Object.entries(work()))
        counts[kind as keyof ErasedCounts] += count
      this.note.run(JSON.stringify(counts), this.row.id, this.orgRow)
      return counts
    })
    this.counts = transaction.immediate()
  }
}
