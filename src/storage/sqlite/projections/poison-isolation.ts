import type { Database } from 'bun:sqlite'
import { runKeyOf } from '../../../core/run/run.ts'
import type { StoredEvent } from '../../shared/in-rows.ts'
import { inSavepoint } from '../engine/savepoint.ts'
import { letterText } from '../ledger/dead-letter-text.ts'
import { type BatchRow, batchColumns, eventsOf, factsOf } from '../ledger/event-batches.ts'
import { flowRows } from '../ledger/ledger.ts'
import { type Fact, isOfFlow } from './facts.ts'
import { isInRun, type Part } from './joined-facts.ts'

function statements(database: Database) {
  return {
    bury: database.query(
      `insert into dead_letters (org_id, at, error, event)
      select $orgRow, $at, $error, $letter
      where not exists (select 1 from dead_letters where org_id = $orgRow and event = $letter)`,
    ),
  }
}

/**
 * Takes apart what the database does not take as a whole: each run and each fact by itself. What fails even
 * so is kept as a dead letter, and stays in the ledger.
 */
export class PoisonIsolation {
  private readonly sql: ReturnType<typeof statements>

  /** @param project projects a part, or a fact of the ledger, within the transaction */
  constructor(
    private readonly database: Database,
    private readonly project: { part(part: Part): void; fact(fact: Fact): void },
  ) {
    this.sql = statements(database)
  }

  /** @param after the row of the ledger up to which everything is projected */
  isolate(part: Part, after: number): void {
    for (const run of part.runs) {
      const isOfRun = (fact: Fact) => isInRun(fact) && runKeyOf(fact) === run.key
      this.projectOrBury({ ...part, runs: [run], others: [] }, after, isOfRun)
    }
    for (const fact of part.others) {
      this.projectOrBury({ ...part, runs: [], others: [fact] }, after, ({ id }) => id === fact.id)
    }
  }

  /** Projects a part; if the database does not take it, projects each of its events from the ledger by itself. */
  private projectOrBury(part: Part, after: number, isOne: (fact: Fact) => boolean): void {
    if (!this.attempt(() => this.project.part(part))) return
    for (const row of this.rowsOf(part, after)) {
      const facts = factsOf(row, part.orgRow)
      for (const [place, fact] of facts.entries()) {
        if (!isOfFlow(fact) || fact.flowRow !== part.flowRow || !isOne(fact)) continue
        const problem = this.attempt(() => this.project.fact(fact))
        if (problem) this.bury(part.orgRow, eventsOf(row)[place]!, problem)
      }
    }
  }

  private rowsOf({ orgRow, flowRow }: Part, after: number): BatchRow[] {
    const pages = flowRows<BatchRow>(this.database, batchColumns, orgRow, flowRow, { after })
    return [...pages].flat()
  }

  private attempt(work: () => void): Error | null {
    return inSavepoint(this.database, null, work)
  }

  /** Buries an event once, however often it is found. */
  private bury(orgRow: number, event: StoredEvent, problem: Error): void {
    const letter = letterText({ ...event, isStored: true })
    this.sql.bury.run({ orgRow, at: event.receivedAt, error: String(problem), letter })
  }
}
