import { openForReading } from '../storage/sqlite/database/database.ts'
import { organisationNames } from '../storage/sqlite/organisations/names.ts'
import type { TallyWanted } from './protocol.ts'
import { addTo, type Counts, nothing, type Tally } from './tally.ts'
import type { Thread } from './threads.ts'

/** What one organisation has sent since somebody began to watch. */
export interface OrganisationTraffic extends Counts {
  id: string
  slug: string
}

/** How long the storage thread's answer is waited for, because it may be stuck, milliseconds. */
const patienceMs = 500

/**
 * Reads the counts by organisation, which also keeps them counted.
 *
 * @param requests those of requests, by id; the storage thread counts by row
 */
export async function readTraffic(
  dataDir: string,
  requests: Pick<Tally<string>, 'read'>,
  storage: Thread,
): Promise<OrganisationTraffic[]> {
  const stored = await tallyOf(storage)
  using database = openForReading(dataDir)
  const nameOf = organisationNames(database)
  const traffic = new Map<string, OrganisationTraffic>()
  for (const [key, counts] of [...requests.read(), ...stored]) {
    const names = nameOf(key)
    if (names === null) continue
    const sums = traffic.get(names.id) ?? { ...names, ...nothing }
    addTo(sums, counts)
    traffic.set(names.id, sums)
  }
  return [...traffic.values()]
}

function tallyOf({ worker }: Thread): Promise<[number, Counts][]> {
  const { promise, resolve } = Promise.withResolvers<[number, Counts][]>()
  const { port1, port2 } = new MessageChannel()
  port1.onmessage = ({ data }) => resolve(data)
  const question: TallyWanted = { type: 'tally', answer: port2 }
  worker.postMessage(question, [port2])
  const timer = setTimeout(() => resolve([]), patienceMs)
  return promise.finally(() => {
    clearTimeout(timer)
    port1.close()
  })
}
