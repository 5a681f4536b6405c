import type { Effort } from '../effort.ts'
import type { Figure } from '../figures.ts'
import { type Loaded, postEvents } from '../load.ts'
import { Folder, type Program, startCairn, startFloor } from '../programs.ts'
import { seed, storedEvents, writeTenants } from '../seed.ts'

const batch = 50
const connections = 64

interface Side {
  start(folder: Folder): Promise<Program>
  path: string
  file: string
}

const cairn: Side = { start: startCairn, path: '/api/v1/events', file: 'cairn.db' }
const floor: Side = { start: startFloor, path: '/', file: 'floor.db' }

/** One load of fresh events on a fresh program, after a warm-up. */
async function measure(
  side: Side,
  organisations: number,
  ids: 'v7' | 'v4',
  { seconds, warmSeconds }: Effort,
): Promise<Loaded> {
  using folder = new Folder()
  const tenants = await writeTenants(folder, seed(folder, organisations, 1))
  await using program = await side.start(folder)
  const options = { tenants, batch, ids, path: side.path, connections }
  const warm = await postEvents(program, { ...options, seconds: warmSeconds })
  const loaded = await postEvents(program, { ...options, seconds })
  await program.stop()
  const acknowledged = (warm.requests + loaded.requests) * batch
  const stored = storedEvents(folder, side.file)
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
export async function ingest(effort: Effort): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [organisations, ids] of [
    [1, 'v7'],
    [1_000, 'v7'],
    [1, 'v4'],
  ] as const) {
    const ofCairn: Loaded[] = []
    const ofFloor: Loaded[] = []
    for (let round = 0; round < effort.rounds; round++) {
      // The floor's unique index is at its best with ordered ids, and is what all are held against.
      ofFloor.push(await measure(floor, organisations, 'v7', effort))
      ofCairn.push(await measure(cairn, organisations, ids, effort))
    }
    const what = `batches of ${batch}, ${organisations.toLocaleString('en-US')} org${organisations === 1 ? '' : 's'}, UUID${ids}`
    const rates = (of: Loaded[]) => of.map(({ perSecond }) => perSecond * batch)
    const costs = (of: Loaded[]) => of.map(({ cpuMicros }) => cpuMicros / batch)
    figures.push(
      {
        part: 'ingest',
        what,
        unit: 'events/s',
        cairn: rates(ofCairn),
        floor: rates(ofFloor),
        goal: 'at least 0.8 ×',
        least: 0.8,
      },
      {
        part: 'ingest',
        what: `${what}: CPU`,
        unit: 'µs/event',
        cairn: costs(ofCairn),
        floor: costs(ofFloor),
        goal: 'at most 2 ×',
        most: 2,
      },
    )
  }
  return figures
}
