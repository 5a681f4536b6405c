import { nearestRank } from '../../../src/core/number/statistics.ts'
import { dayMs, weekMs } from '../../../src/core/time/durations.ts'
import { begin, progress } from '../../report/progress.ts'
import { Peak } from '../../support/process.ts'
import { until } from '../../support/until.ts'
import { Analyst } from '../analyst.ts'
import type { Bench, Found } from '../bench.ts'
import { Cluster } from '../cluster.ts'
import { rowsOf } from '../count-stored.ts'
import type { Figure } from '../figures.ts'
import { lastDays } from '../filled.ts'
import { bodies, eventsOfRun, type History } from '../history.ts'
import { allAnswered, type Loaded, postEvents, repeat } from '../load.ts'
import { asked } from '../pages.ts'
import { send } from '../post.ts'
import { type Postgres, postgresPrograms } from '../postgres.ts'
import { Folder, startCairn } from '../programs.ts'
import { writeTenants } from '../seed.ts'
import { beside, questions } from './answers.ts'
import { batch, connections, measure, runs } from './ingest.ts'
import { nodes } from './node.ts'

const part = 'node-stored'

const days = 400
const retentionDays = days + 10
const flowsOfOne = 20

/** How many times each run that was sent is stored, and how many of these copies have their events. */
const copies = 100
const copiesOfEvents = 10

/** Ids that are stored for each run. */
const idsOfRun = 50

/** How a node reads and stores when PostgreSQL holds a lot. */
export async function nodeStored(bench: Bench): Promise<Found> {
  try {
    postgresPrograms()
  } catch (error) {
    begin(`${part} left out: ${(error as Error).message}`)
    return { figures: [] }
  }
  const figures = await reads(bench)
  using folder = new Folder()
  const [tenant, other] = bench.seeds.plant(folder, 2, 1)
  const { storedRuns } = bench.effort
  const sent = storedRuns / copies
  const same = { people: sent, until: Date.now(), ids: 'v7', days } as const
  const history: History = { ...same, tenant: tenant!, runs: sent }
  await using cluster = await Cluster.start(folder, 1, { retentionDays })
  const [program] = cluster.nodes
  await send(program!, tenant!, bodies(history, 0, sent), () => {})
  multiply(cluster.postgres)
  progress(`${storedRuns.toLocaleString('en-US')} runs stored`)
  figures.push(diskOf(cluster.postgres))
  const idleMiB = program!.rssMiB()
  const analyst = await Analyst.of(program!, tenant!)
  figures.push(...(await analytics(bench, cluster, analyst)))
  for (const [rows, expected] of [
    ['events', sent * eventsOfRun * copiesOfEvents],
    ['runs', storedRuns],
  ] as const) {
    using peak = new Peak(() => program!.rssMiB())
    const startedAt = performance.now()
    // The first row is the header.
    let count = -1
    const answer = await analyst.ask('analytics/export.csv', { ...lastDays(days), rows })
    for await (const more of rowsOf(answer)) count += more
    if (count !== expected) throw new Error(`rows=${rows}: ${count} rows of ${expected}`)
    const perSecond = (count / (performance.now() - startedAt)) * 1_000
    const what = `rows=${rows}, ${count.toLocaleString('en-US')} rows`
    figures.push(
      figure(what, 'rows/s', [perSecond], { goal: 'at least 150,000', least: 150_000 }),
      figure(`${what}: memory over idle`, 'MiB', [Math.max(0, peak.value - idleMiB)]),
    )
  }
  addIds(cluster.postgres, (storedRuns * idsOfRun) / 2)
  const load = { tenants: await writeTenants(folder, [other!]), batch, connections }
  const post = async (ids: 'v7' | 'v4', seconds: number) => {
    const loaded = await postEvents(program!, { ...load, ids, seconds })
    allAnswered(part, [loaded])
    return loaded
  }
  await post('v7', bench.effort.warmSeconds)
  const loads = { empty: [] as Loaded[], v7: [] as Loaded[], v4: [] as Loaded[] }
  for (let round = 0; round < bench.effort.rounds; round++) {
    loads.empty.push(await measure(bench, nodes(1), runs))
    loads.v7.push(await post('v7', bench.effort.seconds))
    loads.v4.push(await post('v4', bench.effort.seconds))
  }
  const stored = `${((storedRuns * idsOfRun) / 1e6).toLocaleString('en-US')} M ids stored`
  const rates = (of: readonly Loaded[]) => of.map(({ perSecond }) => perSecond * batch)
  for (const ids of ['v7', 'v4'] as const) {
    const goal = { goal: 'at least 0.7 ×', least: 0.7, beside: rates(loads.empty) }
    figures.push(
      figure(`${ids} ids, ${stored}; beside none stored`, 'events/s', rates(loads[ids]), goal),
    )
  }
  await cluster.stop()
  return { figures }
}

const figure = (
  what: string,
  unit: string,
  cairn: readonly number[],
  more: Partial<Figure> = {},
): Figure => ({ part, what, unit, cairn: [...cairn], ...more })

/** What pages ask for most, from a node and from a server alone; they take turns. */
async function reads({ seeds, effort }: Bench): Promise<Figure[]> {
  const { seconds, warmSeconds, rounds } = effort
  const figures: Figure[] = []
  for (const { what, question } of questions) {
    using folder = new Folder()
    // One for each load, because twenty seconds of load would use up even the highest limit.
    const tenants = seeds.plant(folder, 40, flowsOfOne)
    await using cluster = await Cluster.start(folder, 1)
    await using alone = await startCairn(folder)
    const sides = { node: cluster.nodes[0]!, alone }
    const loads = { node: [] as Loaded[], alone: [] as Loaded[] }
    for (let round = -1; round < rounds; round++) {
      for (const side of ['alone', 'node'] as const) {
        const request = await asked(sides[side], tenants.pop()!, question)
        const during = { seconds: round < 0 ? warmSeconds : seconds, connections: 32 }
        const loaded = await repeat(sides[side], request, during)
        if (round >= 0) loads[side].push(loaded)
      }
    }
    figures.push(...beside(part, `${what}; beside a server alone`, loads.node, loads.alone, 0.9))
  }
  return figures
}

/** Analytics of a flow, asked for one after the other. The first time, nobody has asked before. */
async function analytics(
  { effort }: Bench,
  { postgres }: Cluster,
  analyst: Analyst,
): Promise<Figure[]> {
  const ask = async (shorterBy = 0) => {
    const startedAt = performance.now()
    await (await analyst.ask('analytics', lastDays(days, shorterBy))).arrayBuffer()
    return performance.now() - startedAt
  }
  const first = await ask()
  let segments = ''
  const rests = async () => {
    await Bun.sleep(1_000)
    const before = segments
    segments = postgres.value('select count(*) from run_blocks')
    return segments === before
  }
  await until(rests, Boolean, 300_000)
  const taken: number[] = []
  const end = performance.now() + effort.questionSeconds * 1_000
  for (let i = 0; i < effort.questions && (i < 3 || performance.now() < end); i++) {
    taken.push(await ask(i % 5))
  }
  taken.sort((a, b) => a - b)
  const what = `${effort.storedRuns.toLocaleString('en-US')} runs in ${days} days`
  const [p50, p99] = [50, 99].map(percent => nearestRank(taken, percent / 100) ?? 0)
  const goal = { goal: 'at most 1,500', most: 1_500 }
  return [
    figure(`${what}: p99 of ${taken.length}`, 'ms', [p99!], goal),
    figure(`${what}: p50`, 'ms', [p50!]),
    figure(`${what}: the first time`, 'ms', [first]),
  ]
}

/** The size of an event in PostgreSQL, with its id; the figure's name adds what a run takes. */
function diskOf(postgres: Postgres): Figure {
  const bytesOf = (table: string) =>
    `(select sum(pg_total_relation_size(c.oid)) from pg_class c
      where c.oid = '${table}'::regclass or c.oid in (
        select inhrelid from pg_inherits where inhparent = '${table}'::regclass))`
  const per = (table: string, counted = table) =>
    Number(postgres.value(`select ${bytesOf(table)} / (select count(*) from ${counted})`))
  const [events, ids, run] = [per('events'), per('event_ids'), per('runs')]
  return figure(`an event on disk, with its id; a run takes ${Math.round(run)} more`, 'bytes', [
    events + ids,
  ])
}

/** Stores copies of all runs, and of some of their events, under other names. */
function multiply(postgres: Postgres): void {
  const columnsOf = (table: string) =>
    postgres
      .value(
        `select string_agg(column_name::text, ',' order by ordinal_position)
        from information_schema.columns where table_name = '${table}'`,
      )
      .split(',')
  const again = (table: string, times: number, others: Record<string, string>) => {
    const columns = columnsOf(table)
    const values = columns.map(name => others[name] ?? `t.${name}`)
    postgres.value(
      `insert into ${table} (${columns.join()}) select ${values.join()}
      from ${table} t, generate_series(1, ${times - 1}) as n`,
    )
  }
  again('events', copiesOfEvents, {
    seq: 't.seq + n * (select max(seq) from events)',
    id: "t.id || '-' || n",
    run_id: "t.run_id || '-' || n",
  })
  again('runs', copies, {
    id: 't.id + n * 1000000000::bigint',
    run_key: "t.run_key || '-' || n",
    person: "t.person || '-' || n",
    least_user_id: "t.least_user_id || '-' || n",
  })
  postgres.value(`update ledgers set seq = (select max(seq) from events)`)
  postgres.value('vacuum (analyze) runs, events')
}

/** Stores so many ids of either kind, ordered and random, that belong to no event. */
function addIds(postgres: Postgres, ofEach: number): void {
  const now = Date.now()
  // Without the key it takes a minute or two. Its index ends up like one that grew in order: at its best.
  postgres.value('alter table event_ids drop constraint event_ids_pkey')
  const add = (bucket: string, hex: string) =>
    postgres.value(
      `insert into event_ids (org_id, bucket, id, received_at)
      select org_id, ${bucket}, decode(${hex}, 'hex'), ${now}
      from generate_series(1, ${ofEach}) as i, (select max(org_id) as org_id from ledgers) as o`,
    )
  const ordered = `lpad(to_hex(${now - dayMs} + i / 1000), 12, '0') || '7' || substr(md5(i::text), 1, 19)`
  add(`${Math.floor((now - dayMs) / weekMs)}`, ordered)
  add('-1 - i % 16', 'md5(i::text)')
  postgres.value('alter table event_ids add primary key (org_id, bucket, id)')
  postgres.value('vacuum (analyze) event_ids')
  // Otherwise what is left to be written would be written under the load.
  postgres.value('checkpoint')
}
