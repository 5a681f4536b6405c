import { heapStats } from 'bun:jsc'
import { windowMs } from '../../../src/core/organisation/buckets.ts'
import { nothingTaken, WindowTable } from '../../../src/limits/shared-memory.ts'
import type { Bench, Found } from '../bench.ts'

const organisations = 100_000
const decisions = 5_000_000

/** How many objects a round may leave: measuring takes some; one per decision would be many more. */
const mostObjects = 1_000

const objects = () => heapStats().objectTypeCounts.Object ?? 0

/**
 * Organisations in the order of their requests, scattered over the table as row numbers are over the life
 * of an installation. Made beforehand, because computing them would cost more than a decision.
 */
const orderOf = (active: number) =>
  Uint32Array.from(
    { length: 131_072 },
    (_, i) => (((Math.imul(i, 2_654_435_761) >>> 0) % active) * 99_991) % organisations,
  )

/** Decisions per second of one thread, while so many organisations of the table have traffic. */
function decisionsPerSecond(memory: SharedArrayBuffer, active: number, rounds: number): number[] {
  const rates: number[] = []
  const order = orderOf(active)
  const taken = nothingTaken()
  for (let round = 0; round <= rounds; round++) {
    const table = new WindowTable(memory)
    // Each round is one window later, so that it begins with no open windows.
    const now = (round + 1) * windowMs
    const objectsBefore = objects()
    const startedAt = performance.now()
    let admitted = 0
    for (let i = 0; i < decisions; i++) {
      const slot = order[i % order.length] as number
      if (table.take(slot, i & 7, 300, now, taken).admitted) admitted++
    }
    const seconds = (performance.now() - startedAt) / 1_000
    const allocated = objects() - objectsBefore
    // The first round is excepted, because its code is compiled as it runs.
    if (round > 0 && allocated > mostObjects) throw new Error(`${allocated} objects were allocated`)
    if (admitted < Math.min(decisions, active * 300)) throw new Error(`${admitted} were admitted`)
    // The first round is the warm-up.
    if (round > 0) rates.push(decisions / seconds)
  }
  return rates
}

/** The limiter alone, with room for as many organisations as a server may ever have. */
export async function limiter({ effort: { rounds } }: Bench): Promise<Found> {
  const memory = WindowTable.memory(organisations)
  const part = 'limiter'
  const [few, all] = [1_000, organisations].map(active => ({
    unit: '/s',
    cairn: decisionsPerSecond(memory, active, rounds),
  }))
  const goal = { goal: 'at least 10 M', least: 10_000_000 }
  const what = 'decisions of a thread, 1,000 of 100,000 organisations active'
  const mib = [memory.byteLength / 2 ** 20]
  return {
    figures: [
      { part, what, ...few!, ...goal },
      { part, what: 'the same with all 100,000 active, beyond the processor caches', ...all! },
      {
        part,
        what: 'its memory for 100,000 organisations',
        ...{ unit: 'MiB', cairn: mib, goal: 'under 100', most: 100 },
      },
    ],
  }
}
