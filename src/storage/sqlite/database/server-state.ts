import type { Database } from 'bun:sqlite'

/** A number that belongs to the database itself, such as a seed; 0 if there is none. */
export function stateIn(database: Database, name: string): number {
  return (
    database
      .query<{ value: number }, [string]>('select value from server_state where name = ?')
      .get(name)?.value ?? 0
  )
}
