import type { Bench, Found } from '../bench.ts'
import { allAnswered, type Loaded, postEvents } from '../load.ts'
import { readFlows } from '../pages.ts'
import { Folder, type Program, startCairn } from '../programs.ts'
import { writeTenants } from '../seed.ts'
import { batch, connections } from './ingest.ts'

const part = 'slow'

/** How long each disk sync takes on a slow disk, milliseconds. */
const syncMs = 20

/** Runs the tracer in a process of its own (-D), so that the program is still the child that is measured. */
const traced = (strace: string) =>
  [strace, '-D', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null'].concat([
    '-e',
    'trace=fsync,fdatasync',
    '-e',
    `inject=fsync,fdatasync:delay_exit=${syncMs * 1_000}`,
  ])

/**
 * Starts Cairn on a slow disk: strace delays each sync itself or, if strace is missing or may not trace,
 * Cairn's own failpoint delays each commit.
 */
async function startOnSlowDisk(folder: Folder): Promise<{ program: Program; how: string }> {
  const strace = Bun.which('strace')
  const runner = strace === null ? [] : traced(strace)
  if (runner.length > 0 && Bun.spawnSync([...runner, '/bin/true']).success) {
    return { program: await startCairn(folder, {}, runner), how: 'strace' }
  }
  const env = { CAIRN_FAILPOINTS: `before_commit=delay:${syncMs}` }
  return { program: await startCairn(folder, { env }), how: 'failpoint' }
}

/** How long pages wait for flows while a slow disk gets as many events as it takes. */
export async function slow({ effort, seeds }: Bench): Promise<Found> {
  const { rounds, seconds, warmSeconds } = effort
  const reads: Loaded[] = []
  const writes: Loaded[] = []
  let told = ''
  for (let round = 0; round < rounds; round++) {
    using folder = new Folder()
    const [writing, reading] = seeds.plant(folder, 40, 20)
    const { program, how } = await startOnSlowDisk(folder)
    await using cairn = program
    told = how
    const load = {
      tenants: await writeTenants(folder, [writing!]),
      batch,
      ids: 'v7',
      connections,
    } as const
    const alone = { ...load, batch: 1, connections: 1, seconds: warmSeconds }
    const { p50Ms } = await postEvents(cairn, alone)
    if (p50Ms < syncMs) throw new Error(`${how} slows no sync: an event takes ${p50Ms} ms`)
    const writesDone = postEvents(cairn, { ...load, seconds: warmSeconds + seconds + 1 })
    await Bun.sleep(warmSeconds * 1_000)
    reads.push(await readFlows(cairn, reading!, seconds))
    writes.push(await writesDone)
  }
  allAnswered(part, [...reads, ...writes])
  const p99 = reads.map(({ p99Ms }) => p99Ms)
  const events = writes.map(({ perSecond }) => perSecond * batch)
  const during = `ingest is saturated, ${syncMs} ms a disk sync (${told})`
  return {
    figures: [
      {
        part,
        what: `GET /flows, p99, ${during}`,
        unit: 'ms',
        cairn: p99,
        goal: 'at most 5',
        most: 5,
      },
      { part, what: 'ingest meanwhile', unit: 'events/s', cairn: events },
    ],
  }
}
