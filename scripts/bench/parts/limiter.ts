import { WindowTable } from '../../../src/core/window-table.ts'
import type { Effort } from '../effort.ts'
import type { Figure } from '../figures.ts'

const organisations = 100_000
const decisions = 5_000_000

/** Decisions of the limiter alone, over as many organisations as a server may ever have. */
export async function limiter({ rounds }: Effort): Promise<Figure[]> {
  const rates: number[] = []
  const memory = WindowTable.memory(organisations)
  for (let round = 0; round <= rounds; round++) {
    const table = new WindowTable(memory)
    const startedAt = performance.now()
    let admitted = 0
    for (let i = 0; i < decisions; i++) {
      if (table.take((i * 7_919) % organisations, i & 7, 300, startedAt).admitted) admitted++
    }
    const seconds = (performance.now() - startedAt) / 1_000
    if (admitted === 0) throw new Error('Nothing was admitted')
    // The first round is the warm-up.
    if (round > 0) rates.push(decisions / seconds)
  }
  const part = 'limiter'
  return [
    {
      part,
      what: 'decisions of a thread, 100,000 organisations',
      unit: '/s',
      cairn: rates,
      goal: 'at least 10 M',
      least: 10_000_000,
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
}
