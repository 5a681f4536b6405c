import { Peak } from '../../support/process.ts'
import { Analyst } from '../analyst.ts'
import type { Bench, Found } from '../bench.ts'
import { rowsOf } from '../count-stored.ts'
import type { Figure } from '../figures.ts'
import { lastDays } from '../filled.ts'
import { eventsOfRun } from '../history.ts'
import { allAnswered } from '../load.ts'
import { readFlows } from '../pages.ts'
import type { Program } from '../programs.ts'
import { settled } from '../settle.ts'

const part = 'export'

/** How long an export is read. The rest of it is not waited for. */
const mostMs = 40_000

interface Exported {
  rows: number
  seconds: number
  /** The most memory used meanwhile, MiB. */
  rssMiB: number
  isWhole: boolean
}

/** Reads an export as it comes, and counts its rows. */
async function exported(
  program: Program,
  analyst: Analyst,
  query: Record<string, string>,
): Promise<Exported> {
  const startedAt = performance.now()
  using peak = new Peak(() => program.rssMiB())
  // The first row is the header.
  let rows = -1
  let isWhole = true
  for await (const more of rowsOf(await analyst.ask('analytics/export.csv', query))) {
    rows += more
    if (performance.now() - startedAt > mostMs) {
      isWhole = false
      break
    }
  }
  return { rows, seconds: (performance.now() - startedAt) / 1_000, rssMiB: peak.value, isWhole }
}

/** Exports of a flow with ten million events: how fast, in how much memory, and how long pages wait meanwhile. */
export async function exports(bench: Bench): Promise<Found> {
  const filled = await bench.filled()
  await using program = await filled.start()
  await settled(program, mostMs / 1_000)
  const idleMiB = program.rssMiB()
  const analyst = await Analyst.of(program, filled.long.tenant)
  const range = lastDays(400)
  const figures: Figure[] = []
  const add = (what: string, unit: string, value: number, goal: Partial<Figure> = {}) =>
    figures.push({ part, what, unit, cairn: [value], ...goal })

  for (const [rows, expected] of [
    ['events', filled.long.runs * eventsOfRun],
    ['runs', filled.long.runs],
  ] as const) {
    const done = exported(program, analyst, { ...range, rows })
    // Pages go on asking meanwhile. The export of runs is too short to measure their wait.
    const reads = rows === 'events' && readFlows(program, filled.tenants[2]!, bench.effort.seconds)
    const found = await done
    if (found.isWhole && found.rows !== expected) {
      throw new Error(`rows=${rows}: ${found.rows} rows of ${expected}`)
    }
    const which = `rows=${rows}, ${found.isWhole ? '' : 'the first '}${found.rows.toLocaleString('en-US')} rows`
    const atLeast = { goal: 'at least 300,000', least: 300_000 }
    add(which, 'rows/s', found.rows / found.seconds, atLeast)
    add(`${which}: memory over idle`, 'MiB', Math.max(0, found.rssMiB - idleMiB), {
      goal: 'at most 64',
      most: 64,
    })
    if (reads) {
      const read = await reads
      allAnswered(part, [read])
      add('GET /flows meanwhile, p99', 'ms', read.p99Ms, { goal: 'at most 10', most: 10 })
    }
  }
  await program.stop()
  return { figures }
}
