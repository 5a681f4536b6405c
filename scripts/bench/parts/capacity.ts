import type { Bench, Found } from '../bench.ts'
import { allAnswered, type Loaded, postEvents, repeat } from '../load.ts'
import {
  asked,
  fingerprint,
  flows,
  healthReport,
  heartbeat,
  knownFlows,
  type Question,
  snippetStatus,
} from '../pages.ts'
import { Folder, startCairn } from '../programs.ts'
import { writeTenants } from '../seed.ts'
import { capacityTable } from '../vm.ts'
import { batch, connections } from './ingest.ts'

const part = 'capacity'

/** What a visit sends at a time: ten events in three batches, and those are three or four. */
const fewEvents = 3

const seconds = 2

/** What each request of a visit costs, and how many of them a cheap VM can take. */
export async function capacity({ seeds }: Bench): Promise<Found> {
  using folder = new Folder()
  const tenants = seeds.plant(folder, 40, 20)
  const posting = await writeTenants(folder, tenants.splice(0, 20))
  await using cairn = await startCairn(folder)
  /** The second of two loads, so that it is measured warm. */
  const warm = async (load: (during: number) => Promise<Loaded>) => {
    const loads = [await load(1), await load(seconds)] as const
    allAnswered(part, loads)
    return loads[1].cpuMicros
  }
  const cost = async (question: Question) => {
    const request = await asked(cairn, tenants.pop()!, question)
    return warm(during => repeat(cairn, request, { seconds: during, connections }))
  }
  const post = (size: number) =>
    warm(during => {
      const load = { tenants: posting, batch: size, ids: 'v7', connections } as const
      return postEvents(cairn, { ...load, seconds: during })
    })
  const costs = {
    flows: await cost(flows),
    knownFlows: await cost(knownFlows),
    heartbeat: await cost(heartbeat),
    healthReport: await cost(healthReport),
    fingerprint: await cost(fingerprint),
    status: await cost(snippetStatus),
    fewEvents: await post(fewEvents),
    fullBatch: await post(batch),
  }
  const what = {
    flows: 'GET /flows, 20 flows, br',
    knownFlows: 'GET /flows, 304',
    heartbeat: 'GET /heartbeat',
    healthReport: 'POST /steps/{id}/health',
    fingerprint: 'POST /steps/{id}/fingerprint',
    status: 'GET /snippet-status',
    fewEvents: `POST /events, ${fewEvents} events`,
    fullBatch: `POST /events, ${batch} events`,
  }
  return {
    figures: (Object.keys(what) as (keyof typeof what)[]).map(name => {
      return { part, what: `${what[name]}: CPU`, unit: 'µs/req', cairn: [costs[name]] }
    }),
    tables: [capacityTable(costs)],
  }
}
