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
import { capacityTable, type RequestCosts } from '../vm.ts'
import { batch, connections } from './ingest.ts'

const part = 'capacity'

/** How many events a visit sends at a time: its ten come in three batches of three or four. */
const fewEvents = 3

const seconds = 2

/** The cost of each request of a visit, and how many of them a cheap VM can take. */
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
  const measured = {
    flows: ['GET /flows, 20 flows, br', await cost(flows)],
    knownFlows: ['GET /flows, 304', await cost(knownFlows)],
    heartbeat: ['GET /heartbeat', await cost(heartbeat)],
    healthReport: ['POST /steps/{id}/health', await cost(healthReport)],
    fingerprint: ['POST /steps/{id}/fingerprint', await cost(fingerprint)],
    status: ['GET /snippet-status', await cost(snippetStatus)],
    fewEvents: [`POST /events, ${fewEvents} events`, await post(fewEvents)],
    fullBatch: [`POST /events, ${batch} events`, await post(batch)],
  } satisfies Record<keyof RequestCosts, [what: string, micros: number]>
  const costs = Object.fromEntries(
    Object.entries(measured).map(([name, [, micros]]) => [name, micros]),
  ) as unknown as RequestCosts
  return {
    figures: Object.values(measured).map(([what, micros]) => {
      return { part, what: `${what}: CPU`, unit: 'µs/req', cairn: [micros as number] }
    }),
    tables: [capacityTable(costs)],
  }
}
