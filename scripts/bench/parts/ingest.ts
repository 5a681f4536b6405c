import type { Bench, Found } from '../bench.ts'
import { storedByCairn, storedByFloor } from '../count-stored.ts'
import type { Figure } from '../figures.ts'
import { type Loaded, postEvents } from '../load.ts'
import { Folder, type Program, startCairn, startFloor } from '../programs.ts'
import { type Tenant, writeTenants } from '../seed.ts'

export const batch = 50
export const connections = 64

/** A program that stores events, and how to find out how many. */
interface Side {
  start(folder: Folder): Promise<Program>
  path: string
  stored(folder: Folder, tenants: readonly Tenant[]): number | Promise<number>
}

export const cairn: Side = {
  start: folder => startCairn(folder),
  path: '/api/v1/events',
  stored: storedByCairn,
}
export const floor: Side = { start: startFloor, path: '/', stored: storedByFloor }

/** One load of fresh events on a fresh program, after a warm-up. */
export async function measure(
  { seeds, effort }: Bench,
  side: Side,
  organisations: number,
  ids: 'v7' | 'v4',
): Promise<Loaded> {
  using folder = new Folder()
  const tenants = seeds.plant(folder, organisations, 1)
  const load = { tenants: await writeTenants(folder, tenants), batch, ids, connections }
  await using program = await side.start(folder)
  const during = (seconds: number) => postEvents(program, { ...load, path: side.path, seconds })
  const warm = await during(effort.warmSeconds)
  const loaded = await during(effort.seconds)
  await program.stop()
  const acknowledged = (warm.requests + loaded.requests) * batch
  const stored = await side.stored(folder, tenants)
  // What was under way at the end may be stored without having been counted.
  const most = acknowledged + 2 * connections * batch
  if (warm.errors + loaded.errors > 0 || stored < acknowledged || stored > most) {
    throw new Error(
      `${acknowledged} events acknowledged, ${stored} stored, ${loaded.errors} refused or failed`,
    )
  }
  return loaded
}

/** Durable events a second, and what one costs, beside the least program that stores them. */
export async function ingest(bench: Bench): Promise<Found> {
  const figures: Figure[] = []
  for (const [organisations, ids] of [
    [1, 'v7'],
    [1_000, 'v7'],
    [1, 'v4'],
  ] as const) {
    const ofCairn: Loaded[] = []
    const ofFloor: Loaded[] = []
    for (let round = 0; round < bench.effort.rounds; round++) {
      // The floor's unique index is at its best with ordered ids, and is what all are held against.
      ofFloor.push(await measure(bench, floor, organisations, 'v7'))
      ofCairn.push(await measure(bench, cairn, organisations, ids))
    }
    const what = `batches of ${batch}, ${organisations.toLocaleString('en-US')} org${organisations === 1 ? '' : 's'}, UUID${ids}`
    const rates = (of: Loaded[]) => of.map(({ perSecond }) => perSecond * batch)
    const costs = (of: Loaded[]) => of.map(({ cpuMicros }) => cpuMicros / batch)
    const part = 'ingest'
    const speeds = { cairn: rates(ofCairn), beside: rates(ofFloor) }
    const spent = { cairn: costs(ofCairn), beside: costs(ofFloor) }
    figures.push(
      { part, what, unit: 'events/s', ...speeds, goal: 'at least 0.8 ×', least: 0.8 },
      { part, what: `${what}: CPU`, unit: 'µs/event', ...spent, goal: 'at most 2 ×', most: 2 },
    )
  }
  return { figures }
}
