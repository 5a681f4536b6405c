import type { Database } from 'bun:sqlite'
import { dayMs } from '../../../src/core/time/durations.ts'
import { ColumnSegments } from '../../../src/storage/sqlite/engine/column-segments/column-segments.ts'
import { RunHistory } from '../../../src/storage/sqlite/engine/column-segments/run-history.ts'
import {
  defaultSealPolicy,
  Sealer,
} from '../../../src/storage/sqlite/engine/column-segments/sealer.ts'
import type { Figure } from '../figures.ts'
import { figure, Stage, scattered } from './stage.ts'

const [orgRef, flowRef] = [1, 1]
const stepRefs = [1, 2, 3]
const history = { versions: [{ version: 1, stepRefs }] }
const days = 400
const end = days * dayMs

/** Stores runs evenly over the days, one per person, half of them completed. */
function storeRuns(database: Database, runs: number): void {
  const insert = database.query(
    `insert into runs (org_id, flow_id, run_key, person, started_at, last_at, version, completed_at,
      steps, own_started_at)
    values (${orgRef}, ${flowRef}, ?1, ?2, ?3, ?3 + 5000, 1, ?4, ?5, ?3)`,
  )
  database.transaction(() => {
    for (let n = 0; n < runs; n++) {
      const at = Math.floor((n * end) / runs)
      const steps = `${at} 1v0c900 2v900c2100 3v2100`
      insert.run(`r${scattered(n, 7)}`, `u${scattered(n, 8)}`, at, n % 2 ? at + 5_000 : null, steps)
    }
  })()
}

function sealAll(database: Database): void {
  const now = () => end + dayMs
  const segments = new ColumnSegments(database, now, defaultSealPolicy)
  const sealer = new Sealer(database, segments, () => history, now, defaultSealPolicy)
  segments.lookLater(orgRef, flowRef, 0)
  for (const { draft, ...sealed } of sealer.work().filter(made => made !== null)) {
    database.transaction(() => segments.write(draft, sealed))()
  }
  segments.commit()
}

/** The CPU time of reading all runs of so many days as columns, milliseconds. */
async function read(reader: RunHistory, overDays: number): Promise<{ ms: number; runs: number }> {
  const before = process.cpuUsage()
  let runs = 0
  const flow = { orgRef, flowRef, ...history }
  for await (const columns of reader.between(flow, end - overDays * dayMs, end)) {
    runs += columns.count
  }
  const { user, system } = process.cpuUsage(before)
  return { ms: (user + system) / 1_000, runs }
}

/** The cost of reading a flow's runs for analytics, from segments and from rows. */
export async function columns(runs: number): Promise<Figure[]> {
  using stage = new Stage()
  const { database } = stage
  storeRuns(database, runs)
  const rowBytes = stage.bytes()
  const reader = new RunHistory(database)
  const timesOf = async () => {
    const times = []
    // Not counted, because the first round includes compilation.
    await read(reader, 30)
    for (const over of [30, days]) times.push(await read(reader, over))
    return times as [(typeof times)[0], (typeof times)[0]]
  }
  const ofRows = await timesOf()
  sealAll(database)
  const ofSegments = await timesOf()
  for (const [i, { runs }] of ofRows.entries()) {
    if (ofSegments[i]!.runs !== runs) throw new Error('segments hold other runs than rows')
  }
  const many = `of ${(runs / 1e6).toLocaleString('en-US')} M runs`
  return [
    figure(`30 of ${days} days ${many}: CPU`, 'ms', ofSegments[0].ms, ofRows[0].ms),
    figure(`${days} days: CPU`, 'ms', ofSegments[1].ms, ofRows[1].ms),
    figure(
      'disk, which segments take beside the rows',
      'B/run',
      (stage.bytes() - rowBytes) / runs,
      rowBytes / runs,
    ),
  ]
}
