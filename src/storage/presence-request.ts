import type { Database } from 'bun:sqlite'

/**
 * A command asks the running server to write what it has noted in memory of who was seen when: it
 * counts `presence_wanted` up, and the server answers with the same number in `presence_written`.
 */

const numberNamed = (database: Database, name: string) => {
  const query = database.query<{ value: number }, [string]>(
    'select value from server_state where name = ?',
  )
  return () => query.get(name)?.value ?? 0
}

/** Asks; what is written then has all that was seen before. @returns the number to wait for */
export function wantPresence(database: Database): number {
  const row = database
    .query<{ value: number }, []>(
      `insert into server_state (name, value) values ('presence_wanted', 1)
      on conflict do update set value = value + 1 returning value`,
    )
    .get()
  return row?.value ?? 0
}

/** The number that the running server has answered last. */
export const writtenPresence = (database: Database): number =>
  numberNamed(database, 'presence_written')()

/** The server's side. */
export class PresenceRequests {
  private readonly newest
  private readonly confirm
  private wanted = 0
  private answered = 0

  constructor(database: Database) {
    this.newest = numberNamed(database, 'presence_wanted')
    this.confirm = database.query(
      `insert into server_state (name, value) values ('presence_written', ?)
      on conflict do update set value = excluded.value`,
    )
  }

  /** Whether somebody waits. */
  get isOpen(): boolean {
    return this.wanted !== this.answered
  }

  /** Looks for a request of another process. */
  look(): void {
    this.wanted = this.newest()
  }

  /**
   * Answers, in the transaction that writes what was seen.
   *
   * @returns to be called once that is committed
   */
  answer(): () => void {
    const { wanted } = this
    if (!this.isOpen) return () => {}
    this.confirm.run(wanted)
    return () => {
      this.answered = wanted
    }
  }
}
