import { progress } from '../../report/progress.ts'
import { Analyst } from '../analyst.ts'
import type { Bench, Found } from '../bench.ts'
import { lastDays } from '../filled.ts'
import { bodies, eventsOfRun } from '../history.ts'
import { allAnswered, postEvents, repeat } from '../load.ts'
import { asked, flows, knownFlows, oneFlow, type Question } from '../pages.ts'
import { send } from '../post.ts'
import { Folder, type Program, startCairn } from '../programs.ts'
import { type Tenant, writeTenants } from '../seed.ts'
import { settled } from '../settle.ts'
import { figureOf, type Growth, tableOf } from '../slope.ts'
import { batch, connections } from './ingest.ts'

const part = 'growth'

/** CPU, microseconds, by the request's name. */
type Costs = Record<string, number>

/** Length of each load, seconds: CPU is counted in hundredths of one. */
const seconds = 1

/** What requests cost as everything grows that can grow. */
export async function growth(bench: Bench): Promise<Found> {
  const { mostOrganisations } = bench.effort
  const runs = mostOrganisations * 10
  const tenfold = (most: number, times: number) =>
    Array.from({ length: times }, (_, i) => most / 10 ** (times - 1 - i))
  const growths = [
    ...(await grown('events of the flow', tenfold(runs * eventsOfRun, 3), events =>
      ofFlow(bench, events / eventsOfRun, events / eventsOfRun),
    )),
    ...(await grown('people of the flow', tenfold(runs / 5, 3), people =>
      ofFlow(bench, runs / 5, people),
    )),
    ...(await grown('flows of the organisation', tenfold(1_000, 4), flowCount =>
      ofCatalogue(bench, 4, flowCount),
    )),
    ...(await grown('organisations', tenfold(mostOrganisations, 4), organisations =>
      ofCatalogue(bench, organisations, 5),
    )),
  ]
  return {
    figures: growths.map(each => figureOf(part, each)),
    tables: [tableOf('CPU of a request as it all grows', growths)],
  }
}

/** The costs at each size, grouped by request. */
async function grown(
  by: string,
  sizes: readonly number[],
  costsAt: (size: number) => Promise<Costs>,
): Promise<Growth[]> {
  const measured: { size: number; costs: Costs }[] = []
  for (const size of sizes) {
    progress(`growth: ${size.toLocaleString('en-US')} ${by}`)
    measured.push({ size, costs: await costsAt(size) })
  }
  return Object.keys(measured[0]?.costs ?? {}).map(what => {
    const points = measured.map(({ size, costs }) => ({ size, cost: costs[what]! }))
    return { what, by, unit: 'µs', points }
  })
}

/** The costs with so many runs of so many people in a flow. */
async function ofFlow({ seeds }: Bench, runs: number, people: number): Promise<Costs> {
  using folder = new Folder()
  const [tenant] = seeds.plant(folder, 4, 5) as [Tenant]
  await using cairn = await startCairn(folder)
  const history = { tenant, ids: 'v7', runs, people, days: 25, until: Date.now() } as const
  await send(cairn, tenant, bodies(history, 0, runs), () => undefined)
  await settled(cairn, 10)
  return {
    'GET analytics, 30 days': await analyticsCost(cairn, tenant),
    'POST /events, an event of a batch': await ingestCost(cairn, folder, [tenant], people),
  }
}

/** The costs with so many organisations of so many flows. */
async function ofCatalogue({ seeds }: Bench, organisations: number, count: number): Promise<Costs> {
  using folder = new Folder()
  const tenants = seeds.plant(folder, organisations, count)
  await using cairn = await startCairn(folder)
  const cost = async (question: Question, i: number) => {
    const request = await asked(cairn, tenants[i % tenants.length]!, question)
    const loaded = await repeat(cairn, request, { seconds, connections })
    allAnswered(part, [loaded])
    return loaded.cpuMicros
  }
  // A warm-up, so that the first request is measured warm like the others.
  await cost(flows, 3)
  return {
    'GET /flows, br': await cost(flows, 0),
    'GET /flows, 304': await cost(knownFlows, 1),
    'GET /flows/{id}': await cost(oneFlow, 2),
    'POST /events, an event of a batch': await ingestCost(cairn, folder, tenants, 50_000),
  }
}

async function ingestCost(
  program: Program,
  folder: Folder,
  tenants: readonly Tenant[],
  people: number,
): Promise<number> {
  const load = { tenants: await writeTenants(folder, tenants), batch, ids: 'v7', people } as const
  const post = () => postEvents(program, { ...load, seconds, connections })
  const loads = [await post(), await post()]
  allAnswered(part, loads)
  return Math.min(...loads.map(({ cpuMicros }) => cpuMicros)) / batch
}

async function analyticsCost(program: Program, tenant: Tenant): Promise<number> {
  const analyst = await Analyst.of(program, tenant)
  const ask = async () => (await analyst.ask('analytics', lastDays(30))).arrayBuffer()
  await ask()
  const before = program.cpuMicros()
  const until = performance.now() + seconds * 1_000
  let asked = 0
  for (; performance.now() < until; asked++) await ask()
  return (program.cpuMicros() - before) / asked
}
