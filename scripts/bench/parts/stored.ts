import type { Bench, Found } from '../bench.ts'
import { storedByCairn } from '../count-stored.ts'
import type { Figure } from '../figures.ts'
import type { Filled } from '../filled.ts'
import { bodies, eventsOfRun, type History } from '../history.ts'
import { allAnswered, type Loaded, postEvents } from '../load.ts'
import { type Answer, send } from '../post.ts'
import type { Program } from '../programs.ts'
import { writeTenants } from '../seed.ts'
import { figureOf, type Growth, tableOf } from '../slope.ts'
import { batch, cairn, connections, measure, runs } from './ingest.ts'
import { settleMs } from './memory.ts'

const part = 'stored'

/** How many stored batches of each history are sent again. */
const batchesAgain = 40

/** Runs of a batch. */
const runsOfBatch = batch / eventsOfRun

/** How long a load has run when the program is killed. */
const loadMs = 2_000

/** Shares of the long history at which the cost of storing is reported. */
const shownAt = [0.05, 0.1, 0.25, 0.5, 1]

/** Restarts, kills, ids sent again, and the rate of fresh events, with a long history stored. */
export async function stored(bench: Bench): Promise<Found> {
  const filled = await bench.filled()
  const many = `${(filled.events / 1e6).toLocaleString('en-US')} M stored`
  const starts: number[] = []
  const resident: number[] = []
  for (let round = 0; round < bench.effort.rounds; round++) {
    await using program = await filled.start()
    starts.push(program.startMs)
    await Bun.sleep(settleMs)
    resident.push(program.rssMiB())
    await program.stop()
  }
  const { startMs, newAgain, sentAgain } = await crash(filled)
  const byStored: Growth = {
    what: 'POST /events, an event of a batch',
    by: 'events stored',
    unit: 'µs',
    points: shownAt.map(share => {
      const { stored, cpuMicros } = filled.costs[Math.round(filled.costs.length * share) - 1]!
      return { size: stored, cost: cpuMicros }
    }),
  }
  return {
    figures: [
      figure(`start to the first answer, ${many}`, 'ms', starts, 200),
      figure('the same after SIGKILL at full load', 'ms', [startMs], 1_000),
      figure(`of ${sentAgain.toLocaleString('en-US')} ids sent again, new`, '', [newAgain], 0),
      ...(await rates(bench, filled, many)),
      { part, what: `idle, ${many}`, unit: 'MiB', cairn: resident },
      figureOf(part, byStored),
    ],
    tables: [tableOf('CPU of an event as the ledger grows', [byStored])],
  }
}

const figure = (what: string, unit: string, values: number[], most: number): Figure => {
  return { part, what, unit, cairn: values, goal: `at most ${most.toLocaleString('en-US')}`, most }
}

/** Ids sent again after a restart, a kill under load, and ids sent again after that. */
async function crash(filled: Filled) {
  const again = { sentAgain: 0, newAgain: 0 }
  const count = ({ accepted, duplicates }: Answer) => {
    again.sentAgain += accepted + duplicates
    again.newAgain += accepted
  }
  const sendAgain = async (program: Program) => {
    for (const history of [filled.long, filled.recent]) {
      await send(program, history.tenant, scattered(history), count)
    }
  }
  const tenant = filled.tenants[0]!
  // More than there is time for.
  const fresh: History = { ...filled.long, tenant, ids: 'v4', runs: 1_000_000, days: 10 }
  const acknowledged: string[] = []
  {
    await using program = await filled.start()
    await sendAgain(program)
    const load = send(program, tenant, bodies(fresh, 0, fresh.runs), (_, body) => {
      acknowledged.push(body)
    }).catch(() => undefined)
    await Bun.sleep(loadMs)
    await program.kill()
    await load
    if (acknowledged.length < batchesAgain) throw new Error('the load ended before the kill')
  }
  await using program = await filled.start()
  await send(program, tenant, acknowledged.slice(-batchesAgain).values(), count)
  await sendAgain(program)
  await program.stop()
  return { startMs: program.startMs, ...again }
}

/** Some of a history's batches, from all over it. */
function* scattered(history: History): Generator<string> {
  const step = Math.floor(history.runs / batchesAgain)
  for (let i = 0; i < batchesAgain; i++) {
    yield* bodies(history, i * step, i * step + runsOfBatch)
  }
}

/** Fresh events with ordered and with random ids, in turn with a program that has none stored. */
async function rates(bench: Bench, filled: Filled, many: string): Promise<Figure[]> {
  const { rounds, seconds, warmSeconds } = bench.effort
  const target = filled.tenants.slice(1, 2)
  const load = { tenants: await writeTenants(filled.folder, target), batch, connections }
  const empty: Loaded[] = []
  const ordered: Loaded[] = []
  const random: Loaded[] = []
  let acknowledged = 0
  {
    await using program = await filled.start()
    const post = async (ids: 'v7' | 'v4', during: number) => {
      const loaded = await postEvents(program, { ...load, ids, seconds: during })
      acknowledged += loaded.requests * batch
      return loaded
    }
    await post('v7', warmSeconds)
    for (let round = 0; round < rounds; round++) {
      empty.push(await measure(bench, cairn, runs))
      ordered.push(await post('v7', seconds))
      random.push(await post('v4', seconds))
    }
    await program.stop()
  }
  allAnswered(part, [...ordered, ...random])
  const known = await storedByCairn(filled.folder, target)
  if (known < acknowledged) throw new Error(`${acknowledged} acknowledged, ${known} stored`)
  const pair = (what: string, ofThese: Loaded[], besideThem: Loaded[], least: number): Figure[] => {
    const perSecond = (of: Loaded[]) => of.map(loaded => loaded.perSecond * batch)
    const cpu = (of: Loaded[]) => of.map(({ cpuMicros }) => cpuMicros / batch)
    const rates = { cairn: perSecond(ofThese), beside: perSecond(besideThem) }
    const costs = { cairn: cpu(ofThese), beside: cpu(besideThem) }
    return [
      { part, what, unit: 'events/s', ...rates, goal: `at least ${least} ×`, least },
      { part, what: `${what}: CPU`, unit: 'µs/event', ...costs },
    ]
  }
  return [
    ...pair(`v7 ids, ${many}; beside none stored`, ordered, empty, 0.9),
    ...pair(`v4 ids, ${many}; beside v7 ids`, random, ordered, 0.5),
  ]
}

/** The size of a long history on disk after a clean stop, with everything that is kept besides its events. */
export async function disk(bench: Bench): Promise<Found> {
  const { events, diskBytes, jsonBytes } = await bench.filled()
  const what = `an event on disk, ${(events / 1e6).toLocaleString('en-US')} M stored; beside its JSON`
  const sizes = { cairn: [diskBytes / events], beside: [jsonBytes / events] }
  return {
    figures: [{ part: 'disk', what, unit: 'bytes', ...sizes, goal: 'at most 1.6 ×', most: 1.6 }],
  }
}
