import type { Bench, Found } from '../bench.ts'
import type { Figure } from '../figures.ts'
import { allAnswered, asBrowser, postEvents } from '../load.ts'
import { Folder, type Program, startCairn } from '../programs.ts'
import { type Seeds, type Tenant, writeTenants } from '../seed.ts'
import { batch, connections, people } from './ingest.ts'

/** How long after its last work a program counts as idle, milliseconds. */
export const settleMs = 1_500

const part = 'memory'

/** How many pages ask at a time. */
const together = 50

/** Asks for every organisation's flows once, as its pages do. */
async function askAll(program: Program, tenants: readonly Tenant[]): Promise<void> {
  for (let i = 0; i < tenants.length; i += together) {
    const asking = tenants.slice(i, i + together).map(async tenant => {
      const answer = await fetch(`${program.url}/api/v1/flows`, { headers: asBrowser(tenant) })
      if (!answer.ok) throw new Error(`GET /flows: ${answer.status}`)
      await answer.arrayBuffer()
    })
    await Promise.all(asking)
  }
}

/** The memory of an idle server, MiB, and how long it took to start, milliseconds. */
async function idle(seeds: Seeds, organisations: number, flows: number) {
  using folder = new Folder()
  const tenants = seeds.plant(folder, organisations, flows)
  await using program = await startCairn(folder)
  await Bun.sleep(settleMs)
  const rssMiB = program.rssMiB()
  // What is loaded only on demand counts too.
  await askAll(program, tenants)
  await Bun.sleep(settleMs)
  return { startMs: program.startMs, rssMiB, askedMiB: program.rssMiB() }
}

/** How long people's events come before memory is read, and how long none come before it is read again. */
const ingestMs = 10_000

/** The memory of a server under as many people's events as it can store, and after them, MiB; pages per event. */
async function busy(seeds: Seeds) {
  using folder = new Folder()
  const tenants = await writeTenants(folder, people.plant(seeds, folder))
  await using program = await startCairn(folder)
  const faults = program.minorFaults()
  const loaded = await postEvents(program, {
    ...people,
    tenants,
    batch,
    connections,
    seconds: ingestMs / 1_000,
  })
  allAnswered(part, [loaded])
  const faultsOfEvent = (program.minorFaults() - faults) / (loaded.requests * batch)
  await Bun.sleep(ingestMs)
  return { peakMiB: program.peakRssMiB(), afterMiB: program.rssMiB(), faultsOfEvent }
}

/** The time from the start to the first answer, and the memory of an idle server. */
export async function memory({ effort, seeds }: Bench): Promise<Found> {
  const few: Awaited<ReturnType<typeof idle>>[] = []
  const many: typeof few = []
  const loaded: Awaited<ReturnType<typeof busy>>[] = []
  for (let round = 0; round < effort.rounds; round++) {
    few.push(await idle(seeds, 1, 20))
    many.push(await idle(seeds, effort.mostOrganisations, 5))
    loaded.push(await busy(seeds))
  }
  const crowd = `${effort.mostOrganisations.toLocaleString('en-US')} organisations of 5 flows`
  const figure = <Name extends string>(
    what: string,
    unit: string,
    of: readonly Record<Name, number>[],
    name: Name,
    most: number,
  ): Figure => {
    return { part, what, unit, cairn: of.map(one => one[name]), goal: `at most ${most}`, most }
  }
  return {
    figures: [
      figure('start to the first answer', 'ms', few, 'startMs', 200),
      figure(`the same, ${crowd}`, 'ms', many, 'startMs', 200),
      figure('idle, one HTTP thread', 'MiB', few, 'rssMiB', 110),
      figure(`the same, ${crowd}`, 'MiB', many, 'rssMiB', 250),
      figure('the same, once all have asked for them', 'MiB', many, 'askedMiB', 250),
      figure(`peak under full ingest, ${people.name}`, 'MiB', loaded, 'peakMiB', 300),
      figure('10 s after it', 'MiB', loaded, 'afterMiB', 150),
      {
        part,
        what: 'pages taken from the kernel meanwhile',
        unit: '/event',
        cairn: loaded.map(({ faultsOfEvent }) => faultsOfEvent),
      },
    ],
  }
}
