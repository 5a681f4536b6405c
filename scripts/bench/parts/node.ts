import { until } from '../../support/until.ts'
import { type Bench, compared, type Figure } from '../bench.ts'
import { repeat, sendHistory } from '../load.ts'
import { Program } from '../programs.ts'
import { getFlows, type PageRequest, pageRequests, prepared } from '../requests.ts'
import { cairn, fastify, nodes, serve } from '../stores.ts'
import { batch, ingestOf, type Mix, oneFlow, people } from './ingest.ts'

/** One and two nodes that follow a log in PostgreSQL. */
export async function node(bench: Bench): Promise<void> {
  await bench.measure('node', oneFlow.name, () => besideFastify(bench, oneFlow, '≥ 0.6 ×'))
  await bench.measure('node', people.name, () => besideFastify(bench, people, '≥ 0.75 ×'))
  for (const page of [getFlows, pageRequests.find(({ path }) => path.startsWith('/heartbeat'))!]) {
    await bench.measure('node', page.what, () => besideAlone(bench, page))
  }
  await bench.measure('node', 'what is stored', () => stored(bench))
  await bench.measure('node', 'a node that is behind', () => behind(bench))
}

/** The same events as for Fastify with PostgreSQL. */
async function besideFastify(bench: Bench, mix: Mix, rate: string): Promise<Figure[]> {
  const [besides, one, two] = await bench.inTurns(
    () => ingestOf(bench.effort, fastify, mix),
    () => ingestOf(bench.effort, nodes(1), mix),
    () => ingestOf(bench.effort, nodes(2), mix),
  )
  const perEvent = besides!.map(load => load.postgresCpuMicros / batch)
  const ofOne = one!.map(load => load.postgresCpuMicros / batch)
  const beside = `a node, ${mix.name}; beside ${fastify.name}`
  return [
    ...compared(beside, [one, besides], batch, { rate, cpu: '≤ 1.3 ×' }),
    {
      ...{ what: 'of it PostgreSQL’s', unit: 'µs/event', goal: '≤ 2.5' },
      ...{ cairn: ofOne, beside: perEvent },
    },
    ...compared(`two nodes, ${mix.name}; beside one`, [two, one], batch),
  ]
}

/** What pages request of a node, beside a server alone. */
async function besideAlone(bench: Bench, page: PageRequest): Promise<Figure[]> {
  await using ofNodes = await nodes(1).start(20)
  await using alone = await cairn.start(20)
  const load = async (program: Program, seconds: number) =>
    repeat(program, (await prepared(program, page)).request, { seconds, connections: 32 })
  for (const program of [ofNodes, alone]) await load(program, 1)
  const { seconds } = bench.effort
  const [ofNode, ofAlone] = await bench.inTurns(
    () => load(ofNodes, seconds),
    () => load(alone, seconds),
  )
  const what = `${page.what}; beside a server alone`
  return compared(what, [ofNode, ofAlone], null, { rate: '≥ 0.95 ×' })
}

/** How large the log is, and how fast a new node begins with a snapshot. */
async function stored(bench: Bench): Promise<Figure[]> {
  const runs = bench.effort.storedRuns / 10
  const events = runs * 10
  await using program = await nodes(1).start(1)
  const { postgres } = program
  const bytesOf = async (table: string) => {
    const [row] = await postgres!.ask<{ bytes: number }>(
      `select pg_total_relation_size('${table}')::float8 as bytes`,
    )
    return row!.bytes
  }
  await sendHistory(program, { flow: 0, runs, days: 30, ids: 'v7' })
  await program.settled()
  const ledger = await bytesOf('cairn_ledger')
  // One is made a second after a start, if the newest is a day old.
  await postgres!.ask('update cairn_snapshots set made_at = 0')
  await using maker = await open(program, 'node-2')
  await until(async () => {
    const [snapshot] = await postgres!.ask('select from cairn_snapshots where made_at > 0')
    return snapshot !== undefined
  })
  const [{ snapshot } = { snapshot: 0 }] = await postgres!.ask<{ snapshot: number }>(
    'select bytes::float8 as snapshot from cairn_snapshots order by seq desc limit 1',
  )
  await maker.end()
  const starts = await startsOf(bench, program)
  const name = `${events / 1e6} M events`
  const figure = (what: string, unit: string, value: number[], goal: string): Figure => ({
    ...{ what: `${what}, ${name}`, unit, cairn: value, goal },
  })
  return [
    figure('a new node’s start from a snapshot', 'ms', starts, '≤ 5000'),
    figure('in PostgreSQL, the ledger', 'B/event', [ledger / events], '≤ 35'),
    figure('and with a snapshot', 'B/event', [(ledger + snapshot) / events], '≤ 90'),
  ]
}

/** Fewer than make a snapshot due, so that a new node takes all of them up. */
const batchesBehind = 9_000

/** How fast a node takes up what the snapshot that it begins with lacks. */
async function behind(bench: Bench): Promise<Figure[]> {
  const events = Math.min(bench.effort.storedRuns, batchesBehind * batch)
  await using program = await nodes(1).start(1)
  await sendHistory(program, { flow: 0, runs: events / 10, days: 30, ids: 'v7' })
  await program.settled()
  const starts = await startsOf(bench, program)
  const what = `a new node’s start ${events / batch} batches behind`
  return [{ what, unit: 'ms', cairn: starts, goal: '≤ 5000' }]
}

/** One more node over a program's log. */
const open = ({ folder, postgres }: Program, name: string) =>
  Program.start({
    ...{ folder, commands: [serve(name)], isKept: true },
    env: { CAIRN_DATABASE_URL: postgres!.url() },
  })

/** How long new nodes take to start, milliseconds. */
async function startsOf(bench: Bench, program: Program): Promise<number[]> {
  const starts: number[] = []
  for (let round = 0; round < bench.effort.rounds; round++) {
    await using begun = await open(program, `new-${round}`)
    starts.push(begun.startMs)
    await begun.end()
  }
  return starts
}
