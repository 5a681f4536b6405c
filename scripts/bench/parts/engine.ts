import type { Bench, Found } from '../bench.ts'
import { codec } from '../engine/codec.ts'
import { columns } from '../engine/columns.ts'
import { ids } from '../engine/ids.ts'
import { rows } from '../engine/rows.ts'

/** The parts of SQLite's engine, in this process, beside the plain tables and indexes that they replace. */
export async function engine({ effort: { storedRuns } }: Bench): Promise<Found> {
  // Ten events per run, as in the stored history, but no more than can be measured in a minute.
  const events = Math.min(storedRuns * 10, 3_000_000)
  const measured = events / 20
  return {
    figures: [
      ...ids(events, measured),
      ...rows(storedRuns, measured / 2),
      ...(await columns(storedRuns)),
      ...codec(measured * 2),
    ],
  }
}
