import { nearestRank } from '../../../src/core/number/statistics.ts'
import { type Bench, compared, type Effort, type Figure } from '../bench.ts'
import { getAnalytics, lastDays } from '../history.ts'
import { type Loaded, repeat, sendEvents } from '../load.ts'
import type { Program } from '../programs.ts'
import { getFlows, hostileRequests, type PageRequest, pageRequests, prepared } from '../requests.ts'
import { cairn, hello } from '../stores.ts'
import { batch, connections, ingestOf, type Mix } from './ingest.ts'

/** Requests that somebody waits for. */
export async function answers(bench: Bench): Promise<void> {
  const measure = (what: string, step: () => Promise<Figure[]>) =>
    bench.measure('answers', what, step)
  await measure('single events', () => singleEvents(bench))
  for (const page of pageRequests) {
    await measure(page.what, async () => {
      const goals = page === getFlows ? { cpu: '≤ 16' } : {}
      return compared(page.what, await besideHello(bench, page), null, goals)
    })
  }
  await measure('hostile requests', async () => [await hostile(bench.effort)])
  await measure('pages while events come in', () => waits(bench))
  await measure('analytics', () => analytics(bench))
}

async function singleEvents(bench: Bench): Promise<Figure[]> {
  const name = 'POST /events, one event'
  const mix: Mix = { name, flows: 20, batch: 1, openRuns: 1_000 }
  const [ofHello, ofCairn] = await bench.inTurns(
    () => ingestOf(bench.effort, hello(80), mix),
    () => ingestOf(bench.effort, cairn, mix),
  )
  return compared(name, [ofCairn, ofHello], null, { cpu: '≤ 40' })
}

/** Cairn, and a bare Elysia that returns as many bytes. */
export async function besideHello(
  bench: Bench,
  page: PageRequest,
): Promise<[ofCairn: Loaded[], ofHello: Loaded[]]> {
  await using program = await cairn.start(20)
  const { request, bytes } = await prepared(program, page)
  await using floor = await hello(bytes).start(1)
  const load = (one: Program, seconds: number) => repeat(one, request, { seconds, connections: 32 })
  await load(floor, 1)
  await load(program, 1)
  const { seconds } = bench.effort
  const [ofHello, ofCairn] = await bench.inTurns(
    () => load(floor, seconds),
    () => load(program, seconds),
  )
  return [ofCairn!, ofHello!]
}

/**
 * The CPU of single hostile requests: of the one that costs most beside what a bare Elysia takes for the
 * same bytes and ten batches of events.
 */
export async function hostile({ seconds }: Effort): Promise<Figure> {
  await using program = await cairn.start(1)
  await using floor = await hello(80).start(1)
  const size = { seconds: Math.ceil(seconds / 3), connections: 1, mayFail: true }
  const { cpuMicros: ofBatch } = await sendEvents(floor, { batch }, size)
  const costs: { what: string; cairn: number; beside: number }[] = []
  for (const [what, request] of Object.entries(hostileRequests(program.organisation))) {
    const { cpuMicros: ofHello } = await repeat(floor, request, size)
    const { cpuMicros: ofCairn } = await repeat(program, request, size)
    costs.push({ what, cairn: ofCairn, beside: ofHello + 10 * ofBatch })
  }
  const [worst] = costs.toSorted((a, b) => b.cairn / b.beside - a.cairn / a.beside)
  const what = `the worst of ${costs.length} hostile requests: ${worst!.what}`
  const unit = 'µs/request'
  return { what, unit, cairn: [worst!.cairn], beside: [worst!.beside], goal: '≤ 6 ×' }
}

/** How long pages wait for their flows while events come in. */
async function waits(bench: Bench): Promise<Figure[]> {
  const [times] = await bench.inTurns(() => readsDuringEvents(bench.effort))
  const figure = (when: string, i: 0 | 1, goal: string): Figure => {
    return { what: `GET /flows, p99, ${when}`, unit: 'ms', cairn: times!.map(of => of[i]), goal }
  }
  return [figure('ingest saturated', 0, '≤ 25'), figure('at a tenth of that rate', 1, '≤ 5')]
}

async function readsDuringEvents({ seconds }: Effort): Promise<[number, number]> {
  await using program = await cairn.start(20)
  const { request } = await prepared(program, getFlows)
  const during = async (pauseMs: number) => {
    const size = { seconds: seconds + 2, connections, pauseMs }
    const writing = sendEvents(program, { batch }, size)
    await Bun.sleep(1_000)
    const read = await repeat(program, request, { seconds, connections: 4, pauseMs: 10 })
    return [read, await writing] as const
  }
  const [read, written] = await during(0)
  const [readLater] = await during((10_000 * connections) / written.perSecond)
  return [read.p99Ms, readLater.p99Ms]
}

/** Some are half an hour or 45 minutes off, and some have summer time. */
const timeZones = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Kathmandu', 'Pacific/Auckland']

/** Requests of an analyst, one after the other. */
async function analytics(bench: Bench): Promise<Figure[]> {
  const history = await bench.history()
  await using program = await history.start()
  await program.settled()
  const figure = async (days: number, goal: string): Promise<Figure> => {
    const end = performance.now() + bench.effort.seconds * 5_000
    const times: number[] = []
    while (times.length < 3 || performance.now() < end) {
      const timezone = timeZones[times.length % timeZones.length]!
      const query = { ...lastDays(days, times.length % 4), timezone }
      const startedAt = performance.now()
      await (await getAnalytics(program, 'analytics', query)).arrayBuffer()
      times.push(performance.now() - startedAt)
    }
    const p99 = nearestRank(
      times.sort((a, b) => a - b),
      0.99,
    )
    const runs = history.runs.toLocaleString('en-US')
    const what = `analytics, p99 of ${times.length}: ${runs} runs in 400 days, ${days} of them`
    return { what, unit: 'ms', cairn: [p99!], goal }
  }
  return [await figure(30, '≤ 40'), await figure(400, '≤ 180')]
}
