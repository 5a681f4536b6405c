import { nearestRank } from '../../../src/core/number/statistics.ts'
import { Analyst } from '../analyst.ts'
import type { Bench, Found } from '../bench.ts'
import type { Effort } from '../effort.ts'
import type { Figure } from '../figures.ts'
import { lastDays } from '../filled.ts'
import type { History } from '../history.ts'
import type { Program } from '../programs.ts'
import { settled } from '../settle.ts'

const part = 'analytics'

/** Some have offsets of a half or a quarter hour, and some have summer time, in either hemisphere. */
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Pacific/Auckland',
]

/** How long to wait at most until the server has finished its work in the background. */
const mostSettleSeconds = 60

/** Milliseconds that each question about a history took. The questions differ in time zone and range. */
async function times(program: Program, { tenant }: History, days: number, effort: Effort) {
  const analyst = await Analyst.of(program, tenant)
  const taken: number[] = []
  const until = performance.now() + effort.questionSeconds * 1_000
  for (let i = 0; i < effort.questions && (i < 3 || performance.now() < until); i++) {
    const timezone = zones[i % zones.length]!
    const startedAt = performance.now()
    const range = lastDays(days, Math.floor(i / zones.length) % 5)
    await (await analyst.ask('analytics', { ...range, timezone })).arrayBuffer()
    taken.push(performance.now() - startedAt)
  }
  return taken.sort((a, b) => a - b)
}

/** Analytics of a flow with a million runs, asked for one after the other in several time zones. */
export async function analytics(bench: Bench): Promise<Found> {
  const filled = await bench.filled()
  await using program = await filled.start()
  await settled(program, mostSettleSeconds)
  const runs = filled.long.runs.toLocaleString('en-US')
  const asked = [
    { history: filled.long, days: 30, what: `${runs} runs in 400 days, asked for 30`, most: 50 },
    { history: filled.long, days: 400, what: `${runs} runs in 400 days, asked for 400`, most: 250 },
    { history: filled.recent, days: 30, what: `${runs} runs in 30 days, asked for 30` },
  ]
  const figures: Figure[] = []
  for (const { history, days, what, most } of asked) {
    const taken = await times(program, history, days, bench.effort)
    const goal = most === undefined ? {} : { goal: `at most ${most}`, most }
    const [p50, p99] = [50, 99].map(percent => nearestRank(taken, percent / 100))
    figures.push(
      { part, what: `${what}: p99 of ${taken.length}`, unit: 'ms', cairn: [p99 ?? 0], ...goal },
      { part, what: `${what}: p50`, unit: 'ms', cairn: [p50 ?? 0] },
    )
  }
  await program.stop()
  return { figures }
}
