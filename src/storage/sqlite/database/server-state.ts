import type { Database } from 'bun:sqlite'

/** A number of the database's own, such as a seed; 0 where there is none. */
export function stateIn(database: Database, name: string): number {
  return (
    database
      .query<{ value: number }, [string]>('select value from server_state where name = ?')
      .get(name)?.value ?? 0
  )
}
