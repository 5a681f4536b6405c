import { failing } from '../../../failpoints.ts'
import { commitInDoubt } from '../../sqlite/writer/messages.ts'
import { type Postgres, type Queries, sqlStateOf } from '../database/connection.ts'

/** The pause before it is asked for again, milliseconds. */
const askAgainMs = 100

/** What others' transactions did at the same time: the same work once more finds it done. */
const isConflict = (error: unknown) => /^40(001|P01)$/.test(sqlStateOf(error) ?? '')

const mostTries = 5

/** A commit that has waited so long for its standby is one that waits for a standby that is away, milliseconds. */
const heldUpAfterMs = 5_000

/** How often it was asked for what became of a commit, and what was found. */
export interface Doubts {
  kept: number
  notKept: number
  unknown: number
}

/**
 * Transactions of which it is always known whether they were committed: each leaves a receipt, and where
 * the connection was lost with the answer to the commit, another connection looks whether it is there.
 */
export class Transactions {
  readonly doubts: Doubts = { kept: 0, notKept: 0, unknown: 0 }
  private readonly begun = failing('before_begin', () => {})
  private readonly done = failing('before_commit', () => {})

  /**
   * @param beside asked for what became of a commit: a pool whose connections are not in use for it
   * @param longestDoubtMs how long it is asked before nobody can be told any more
   */
  constructor(
    private readonly postgres: Postgres,
    private readonly beside: Queries = postgres,
    private readonly longestDoubtMs = 10_000,
  ) {}

  /**
   * Does something within a transaction; once more where other transactions stood in its way. What it
   * returns is true once this resolves; where this rejects otherwise, nothing is kept.
   *
   * @throws AppError `in_doubt` where nobody could be asked for so long
   */
  async run<T>(work: (transaction: Queries) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.once(work)
      } catch (error) {
        if (!isConflict(error) || attempt === mostTries) throw error
      }
    }
  }

  /**
   * Whether commits, of whichever node, wait for a standby that is away. Another would wait as well, and nothing may
   * end it before the standby is back: each that is tried takes the server a connection until then.
   */
  async areHeldUp(): Promise<boolean> {
    const held = await this.beside.all(
      `select from pg_stat_activity
      where datname = current_database() and usename = current_user and wait_event = 'SyncRep'
        and state_change < clock_timestamp() - $1 * interval '1 millisecond'
      limit 1`,
      heldUpAfterMs,
    )
    return held.length > 0
  }

  private async once<T>(work: (transaction: Queries) => Promise<T>): Promise<T> {
    const receipt = crypto.randomUUID()
    let done: { result: T } | null = null
    this.begun()
    try {
      await this.postgres.begin(async transaction => {
        const result = await work(transaction)
        await transaction.run('insert into receipts (id) values ($1)', receipt)
        this.done()
        done = { result }
      })
    } catch (error) {
      // Before the commit was sent, nothing can have been committed. What is said of the commit itself may be
      // a pooler's word, or that of a server that stops after it.
      if (done === null) throw error
      if (!(await this.isCommitted(receipt))) throw error
    }
    return (done as unknown as { result: T }).result
  }

  /** Waits for a transaction that may still be under way: its receipt holds back one with the same id. */
  private async isCommitted(receipt: string): Promise<boolean> {
    const deadline = performance.now() + this.longestDoubtMs
    for (;;) {
      try {
        // From then on there is one, this or that, which nobody changes any more.
        await this.beside.run(
          'insert into receipts (id, is_kept) values ($1, false) on conflict do nothing',
          receipt,
        )
        const found = await this.beside.get<{ is_kept: boolean }>(
          'select is_kept from receipts where id = $1',
          receipt,
        )
        this.doubts[found!.is_kept ? 'kept' : 'notKept']++
        return found!.is_kept
      } catch (cause) {
        if (performance.now() > deadline) {
          this.doubts.unknown++
          throw commitInDoubt(cause)
        }
        await Bun.sleep(askAgainMs)
      }
    }
  }
}
