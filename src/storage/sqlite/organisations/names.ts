import type { Database } from 'bun:sqlite'

/** The id and slug of an organisation, by row number or by id; null if there is none. */
export function organisationNames(
  database: Database,
): (key: number | string) => { id: string; slug: string } | null {
  type Names = { id: string; slug: string }
  const byRow = database.query<Names, [number]>(
    'select public_id as id, slug from organisations where id = ?',
  )
  const byId = database.query<Names, [string]>(
    'select public_id as id, slug from organisations where public_id = ?',
  )
  return key => (typeof key === 'number' ? byRow.get(key) : byId.get(key))
}
