import type { Bench, Found } from '../bench.ts'
import { storedByCairn, storedByFloor } from '../count-stored.ts'
import type { Figure } from '../figures.ts'
import { type Loadable, type Loaded, postEvents } from '../load.ts'
import { Folder, type Program, startCairn, startFloor } from '../programs.ts'
import { type Tenant, writeTenants } from '../seed.ts'

export const batch = 50
export const connections = 64

/** A program that stores events, and how to find out how many it has stored. */
export interface Side {
  start(folder: Folder): Promise<Loadable & Pick<Program, 'stop'> & AsyncDisposable>
  path: string
  stored(folder: Folder, tenants: readonly Tenant[]): number | Promise<number>
}

export const cairn: Side = {
  start: folder => startCairn(folder),
  path: '/api/v1/events',
  stored: storedByCairn,
}
export const floor: Side = { start: startFloor, path: '/', stored: storedByFloor }

/** What a load's batches hold: whole runs of one flow, or the next events of many runs. */
export interface Mix {
  name: string
  plant(seeds: Bench['seeds'], folder: Folder): Tenant[]
  ids: 'v7' | 'v4'
  openRuns?: number
}

/** One organisation's runs, one after the other. */
export const runs: Mix = {
  name: '1 org, UUIDv7',
  plant: (seeds, folder) => seeds.plant(folder, 1, 1),
  ids: 'v7',
}

/** What many people do in 20 flows, as a back end forwards it: 50 people in each batch. */
const ofPeople = (openRuns: number, open: string): Mix => ({
  name: `50 of ${open} open runs of 20 flows each`,
  plant: (seeds, folder) => seeds.plantFlows(folder, 20),
  ids: 'v7',
  openRuns,
})

/** The events of a run come within a tenth of a second, as when a back end forwards a queue. */
export const people = ofPeople(1_000, '1,000')

/** So many that each run goes on about a second later, when its earlier events are already written. */
const manyPeople = ofPeople(100_000, '100,000')

const thousand: Mix = {
  name: '1,000 orgs, UUIDv7',
  plant: (seeds, folder) => seeds.plant(folder, 1_000, 1),
  ids: 'v7',
}

const random: Mix = { ...runs, name: '1 org, UUIDv4; beside UUIDv7', ids: 'v4' }

/** One load of fresh events on a fresh program, after a warm-up. */
export async function measure(
  { seeds, effort }: Bench,
  side: Side,
  { plant, ids, openRuns }: Mix,
): Promise<Loaded> {
  using folder = new Folder()
  const tenants = plant(seeds, folder)
  const load = { tenants: await writeTenants(folder, tenants), batch, ids, connections, openRuns }
  await using program = await side.start(folder)
  const during = (seconds: number) => postEvents(program, { ...load, path: side.path, seconds })
  const warm = await during(effort.warmSeconds)
  const loaded = await during(effort.seconds)
  await program.stop()
  const acknowledged = (warm.requests + loaded.requests) * batch
  const stored = await side.stored(folder, tenants)
  // Requests under way at the end may be stored without having been counted.
  const most = acknowledged + 2 * connections * batch
  if (warm.errors + loaded.errors > 0 || stored < acknowledged || stored > most) {
    throw new Error(
      `${acknowledged} events acknowledged, ${stored} stored, ${loaded.errors} refused or failed`,
    )
  }
  return loaded
}

/** Events per second, and what one costs, compared with another program under the same load. */
export function besideOther(
  part: string,
  what: string,
  ofCairn: readonly Loaded[],
  ofOther: readonly Loaded[],
  goals: { least: number; most?: number },
): Figure[] {
  const rates = (of: readonly Loaded[]) => of.map(({ perSecond }) => perSecond * batch)
  const costs = (of: readonly Loaded[]) => of.map(({ cpuMicros }) => cpuMicros / batch)
  const { least, most } = goals
  return [
    {
      part,
      what,
      unit: 'events/s',
      cairn: rates(ofCairn),
      beside: rates(ofOther),
      goal: `at least ${least} ×`,
      least,
    },
    {
      part,
      what: `${what}: CPU`,
      unit: 'µs/event',
      cairn: costs(ofCairn),
      beside: costs(ofOther),
      ...(most !== undefined && { goal: `at most ${most} ×`, most }),
    },
  ]
}

/** Durable events per second, and what one costs, compared with the least program that stores them. */
export async function ingest(bench: Bench): Promise<Found> {
  const figures: Figure[] = []
  for (const mix of [people, manyPeople, runs, thousand, random]) {
    const ofCairn: Loaded[] = []
    const ofFloor: Loaded[] = []
    for (let round = 0; round < bench.effort.rounds; round++) {
      // The floor's unique index is at its best with ordered ids, so all are compared with that.
      ofFloor.push(await measure(bench, floor, { ...mix, ids: 'v7' }))
      ofCairn.push(await measure(bench, cairn, mix))
    }
    const goals = { least: mix.ids === 'v7' ? 0.85 : 0.8, most: 1.8 }
    const what = `batches of ${batch}, ${mix.name}`
    figures.push(...besideOther('ingest', what, ofCairn, ofFloor, goals))
  }
  return { figures }
}
