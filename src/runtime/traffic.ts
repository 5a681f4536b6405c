import { openForReading } from '../storage/sqlite/database/database.ts'
import { organisationNames } from '../storage/sqlite/organisations/names.ts'
import { addTo, type Counts, nothing, type Tally } from './tally.ts'

/** What one organisation has sent since somebody began to watch. */
export interface OrganisationTraffic extends Counts {
  id: string
  slug: string
}

/**
 * Reads the counts by organisation, which also keeps them counted.
 *
 * @param requests those of requests, by id
 * @param stored those of what was stored, by row
 */
export function readTraffic(
  dataDir: string,
  requests: Pick<Tally<string>, 'read'>,
  stored: Pick<Tally<number>, 'read'>,
): OrganisationTraffic[] {
  using database = openForReading(dataDir)
  const nameOf = organisationNames(database)
  const traffic = new Map<string, OrganisationTraffic>()
  for (const [key, counts] of [...requests.read(), ...stored.read()]) {
    const names = nameOf(key)
    if (names === null) continue
    const sums = traffic.get(names.id) ?? { ...names, ...nothing }
    addTo(sums, counts)
    traffic.set(names.id, sums)
  }
  return [...traffic.values()]
}
