import { windowMs } from '../../../src/core/buckets.ts'
import { WindowTable } from '../../../src/core/window-table.ts'
import type { Bench, Found } from '../bench.ts'

const organisations = 100_000
const decisions = 5_000_000

/** Decisions a second of one thread, while so many organisations of the table have traffic. */
function decisionsPerSecond(memory: SharedArrayBuffer, active: number, rounds: number): number[] {
  const rates: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const table = new WindowTable(memory)
    // A round is a window further on, so that it begins with none open.
    const now = (round + 1) * windowMs
    const startedAt = performance.now()
    let admitted = 0
    for (let i = 0; i < decisions; i++) {
      // Scattered over the table, as row numbers are over an installation's life.
      const slot = (((i * 7_919) % active) * 99_991) % organisations
      if (table.take(slot, i & 7, 300, now).admitted) admitted++
    }
    const seconds = (performance.now() - startedAt) / 1_000
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
  const figures = [
    {
      part,
      what: 'decisions of a thread, 1,000 of 100,000 organisations active',
      unit: '/s',
      cairn: decisionsPerSecond(memory, 1_000, rounds),
      goal: 'at least 10 M',
      least: 10_000_000,
    },
    {
      part,
      what: 'the same with all 100,000 active, beyond the processor caches',
      unit: '/s',
      cairn: decisionsPerSecond(memory, organisations, rounds),
    },
    {
      part,
      what: 'its memory for 100,000 organisations',
      unit: 'MiB',
      cairn: [memory.byteLength / 2 ** 20],
      goal: 'under 100',
      most: 100,
    },
  ]
  return { figures }
}
