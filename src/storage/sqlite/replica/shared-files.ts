import type { Database } from 'bun:sqlite'

/** What a server alone keeps in files, and several machines share. */
export function sharedFileIn(database: Database): (name: string) => string | null {
  const query = database.query<{ content: string }, [string]>(
    'select content from shared_files where name = ?',
  )
  return name => query.get(name)?.content ?? null
}

/**
 * Shares a file with all machines, unless there is one with its name. To be called within a change.
 *
 * @returns the content that all have
 */
export function shareFile(database: Database, name: string, content: string): string {
  database
    .query('insert into shared_files (name, content) values (?, ?) on conflict do nothing')
    .run(name, content)
  return sharedFileIn(database)(name)!
}
