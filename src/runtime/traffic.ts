import { openForReading } from '../storage/sqlite/database/database.ts'
import { organisationNames } from '../storage/sqlite/organisations/names.ts'
import type { TallyWanted } from './protocol.ts'
import { addTo, type Counts, nothing } from './tally.ts'
import type { Thread } from './threads.ts'

/** What one organisation has sent since somebody began to watch. */
export interface OrganisationTraffic extends Counts {
  id: string
  slug: string
}

/** How long a thread's answer is waited for, because the thread may be stuck, milliseconds. */
const patienceMs = 500

/** Asks every thread for its counts by organisation, which also keeps it counting. */
export async function readTraffic(
  dataDir: string,
  threads: readonly Thread[],
): Promise<OrganisationTraffic[]> {
  const tallies = await Promise.all(threads.map(tallyOf))
  using database = openForReading(dataDir)
  const nameOf = organisationNames(database)
  const traffic = new Map<string, OrganisationTraffic>()
  for (const [key, counts] of tallies.flat()) {
    const names = nameOf(key)
    if (names === null) continue
    const sums = traffic.get(names.id) ?? { ...names, ...nothing }
    addTo(sums, counts)
    traffic.set(names.id, sums)
  }
  return [...traffic.values()]
}

/** HTTP threads know organisations by their ids, the storage thread by their rows. */
function tallyOf({ worker }: Thread): Promise<[string | number, Counts][]> {
  const { promise, resolve } = Promise.withResolvers<[string | number, Counts][]>()
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
