import type { Database } from 'bun:sqlite'

interface Names {
  id: string
  slug: string
}

/** The id and slug of an organisation, by row number or by id; null if there is none. */
export function organisationNames(database: Database): (key: number | string) => Names | null {
  const names = database.query<Names, [number | string]>(
    'select public_id as id, slug from organisations where id = ?1 or public_id = ?1',
  )
  return key => names.get(key)
}
