import { failing } from '../../../failpoints.ts'
import { commitInDoubt } from '../../sqlite/writer/messages.ts'
import { type Postgres, type Queries, sqlStateOf } from '../database/connection.ts'

/** The pause before asking again what became of a commit, milliseconds. */
const askAgainMs = 100

/** A conflict with concurrent transactions of others: a retry finds their work done. */
const isConflict = (error: unknown) => /^40(001|P01)$/.test(sqlStateOf(error) ?? '')

const mostTries = 5

/** A commit that has waited this long for its standby is waiting for one that is down, milliseconds. */
const heldUpAfterMs = 5_000

/** How often it was necessary to ask what became of a commit, by what was found. */
export interface Doubts {
  kept: number
  notKept: number
  unknown: number
}

/**
 * Transactions of which it is always known whether they were committed. Each leaves a receipt, and if the
 * connection is lost before the answer to the commit, another connection looks for the receipt.
 */
export class Transactions {
  readonly doubts: Doubts = { kept: 0, notKept: 0, unknown: 0 }
  private readonly begun = failing('before_begin', () => {})
  private readonly done = failing('before_commit', () => {})

  /**
   * @param beside to ask what became of a commit: a pool whose connections are not in use for the commit
   * @param longestDoubtMs how long to ask before the outcome counts as unknown
   */
  constructor(
    private readonly postgres: Postgres,
    private readonly beside: Queries = postgres,
    private readonly longestDoubtMs = 10_000,
  ) {}

  /**
   * Runs work within a transaction, and retries it if other transactions were in its way. Once this resolves,
   * the result is committed. If this rejects with anything but `in_doubt`, nothing is kept.
   *
   * @throws AppError `in_doubt` if nobody could be asked for `longestDoubtMs`
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
   * Whether commits of any node are waiting for a standby that is down. Another one would wait as well, and may not
   * end before the standby is back, so each attempt costs the server a connection until then.
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
      // Before the commit was sent, nothing can have been committed. An error of the commit itself may come from
      // a pooler, or from a server that stops after the commit.
      if (done === null) throw error
      if (!(await this.isCommitted(receipt))) throw error
    }
    return (done as unknown as { result: T }).result
  }

  /** Waits for a transaction that may still be under way, because its receipt holds back one with the same id. */
  private async isCommitted(receipt: string): Promise<boolean> {
    const deadline = performance.now() + this.longestDoubtMs
    for (;;) {
      try {
        // After this there is a receipt, of the transaction or this one, that nobody changes any more.
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
