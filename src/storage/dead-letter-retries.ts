import type { Database } from 'bun:sqlite'
import type { AppendOutcome } from '../core/ports.ts'
import { attempt } from './attempt.ts'
import type { CommandExecutor } from './commands.ts'
import { letterIn } from './dead-letters.ts'
import { encodeEvents } from './event-text.ts'

/**
 * A command asks for dead letters to be stored after all, by rows of `dead_letter_retries`; the storage
 * thread, which alone knows all ids, tries and writes beside each what became of it.
 */

/**
 * `refused`: the database would not take it now either, or it is of somebody who is being erased. A
 * `duplicate` was sent again meanwhile, and stored.
 */
export type RetryVerdict = 'stored' | 'duplicate' | 'refused'

/** Letters that are tried in one transaction. */
const lettersAtOnce = 64

/** Asks for letters to be tried. What was asked and answered before is forgotten. */
export function wantRetries(database: Database, orgRow: number, letters: readonly number[]): void {
  const want = database.query(
    `insert into dead_letter_retries (letter, org_id) values (?, ?)
    on conflict do update set verdict = null`,
  )
  const all = database.transaction(() => {
    database.run('delete from dead_letter_retries where org_id = ? and verdict is not null', [
      orgRow,
    ])
    for (const letter of letters) want.run(letter, orgRow)
  })
  all.immediate()
}

/** Whether some were not tried yet. */
export const hasOpenRetries = (database: Database, orgRow: number): boolean =>
  database
    .query('select 1 from dead_letter_retries where org_id = ? and verdict is null limit 1')
    .get(orgRow) !== null

/** What became of letters so far. */
export function retryVerdicts(database: Database, orgRow: number): Map<number, RetryVerdict> {
  const rows = database
    .query<{ letter: number; verdict: RetryVerdict }, [number]>(
      `select letter, verdict from dead_letter_retries
      where org_id = ? and verdict is not null order by letter`,
    )
    .all(orgRow)
  return new Map(rows.map(({ letter, verdict }) => [letter, verdict]))
}

/** Forgets what became of letters, once it was read. */
export function forgetRetries(database: Database, orgRow: number): void {
  database.run('delete from dead_letter_retries where org_id = ?', [orgRow])
}

function statements(database: Database) {
  return {
    wanted: database.query<{ letter: number; org_id: number }, []>(
      `select letter, org_id from dead_letter_retries
      where verdict is null order by letter limit ${lettersAtOnce}`,
    ),
    letter: database.query<{ at: number; event: string }, [number, number]>(
      'select at, event from dead_letters where seq = ? and org_id = ?',
    ),
    answer: database.query(
      'update dead_letter_retries set verdict = ? where letter = ? and org_id = ?',
    ),
    forget: database.query('delete from dead_letter_retries where letter = ? and org_id = ?'),
    delete: database.query('delete from dead_letters where seq = ? and org_id = ?'),
    setError: database.query('update dead_letters set error = ? where seq = ? and org_id = ?'),
  }
}

/** The storage thread's side. */
export class DeadLetterRetries {
  private readonly sql: ReturnType<typeof statements>
  /** Whether something is to be tried. */
  isOpen = false

  constructor(
    private readonly database: Database,
    private readonly executor: CommandExecutor,
  ) {
    this.sql = statements(database)
  }

  /** Looks for what another process has asked for. */
  look(): void {
    this.isOpen = this.sql.wanted.get() !== null
  }

  /** Tries some letters, within a transaction. */
  answer(): void {
    // Not to be tried over and over, should this fail: the next look finds it again.
    this.isOpen = false
    const wanted = this.sql.wanted.all()
    for (const { letter, org_id } of wanted) this.answerOne(org_id, letter)
    this.isOpen = wanted.length === lettersAtOnce
  }

  private answerOne(orgRow: number, letter: number): void {
    const found = this.sql.letter.get(letter, orgRow)
    if (!found) {
      this.sql.forget.run(letter, orgRow)
      return
    }
    let verdict = 'stored' as RetryVerdict
    const fault = attempt(this.database, this.executor, () => {
      verdict = this.store(orgRow, found)
    })
    if (fault) {
      verdict = 'refused'
      this.sql.setError.run(String(fault), letter, orgRow)
    } else if (verdict !== 'refused') this.sql.delete.run(letter, orgRow)
    this.sql.answer.run(verdict, letter, orgRow)
  }

  /**
   * Stores an event as received when it first was, or does what a command asks for; nothing of who was
   * erased, whose letters the erasure deletes.
   */
  private store(orgRow: number, { at, event }: { at: number; event: string }): RetryVerdict {
    const letter = letterIn(event)
    if ('type' in letter) return this.executor.execute(letter) === 'erased' ? 'refused' : 'stored'
    const { duplicates, erased } = this.executor.execute({
      type: 'append',
      orgRow,
      receivedAt: at,
      text: encodeEvents([letter]),
      refusals: {},
      skewMs: null,
    }) as AppendOutcome
    if (erased.length > 0) return 'refused'
    return duplicates.length > 0 ? 'duplicate' : 'stored'
  }
}
