import type { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SeededRandom } from '../../../src/cli/demo/random.ts'
import { databaseFile } from '../../../src/storage/sqlite/database/database.ts'
import { progress } from '../../report/progress.ts'
import { type Fault, faults } from '../disk-faults.ts'
import { DiskStage, eventually } from '../disk-stage.ts'
import { syncsIn } from '../failed-syncs.ts'
import { canTrace, FaultyCalls } from '../faulty-calls.ts'
import { Findings } from '../findings.ts'
import { type Entry, type Ledger, none, type Torture } from '../ledger.ts'
import { Scene } from '../scene.ts'
import { canMount, SmallDisk } from '../small-disk.ts'

/** How long a fault lasts, milliseconds. */
const lasting = { short: 300, long: 5_000 }

/** How many times everything is tried in the long form, each time with data of its own. */
const longRounds = 10

/** Items that are acknowledged while no checkpoint passes. */
const itemsMeanwhile = 200

/** Room for everything that is written here. */
const diskMebibytes = 96

/** Why this part cannot be tried here; null if it can. */
export function whyNoDisk(): string | null {
  if (!canTrace()) return 'needs strace, and root, to make system calls fail'
  return canMount() ? null : 'needs to mount a tmpfs'
}

/** Each fault strikes the same busy server, and is then removed. */
async function atWork(stage: DiskStage): Promise<void> {
  const server = await stage.start()
  for (const { name, isTotal, strike } of faults) {
    progress(name)
    const clients = stage.scene.work(server, { clients: 2 })
    await Bun.sleep(200)
    const struckAt = performance.now()
    const heal = await strike(stage, server)
    try {
      await eventually(`${name}: 503`, async () => !(await stage.takesWrites(server)))
      await eventually(`${name}: not ready`, async () => !(await stage.isReady(server)))
      const toldMs = performance.now() - struckAt
      // An answer that was sent before may still be on its way to its client.
      await Bun.sleep(100)
      const { acknowledged } = stage.tenant.diary
      const { failed } = await stage.read(server, stage.lastingMs)
      stage.entries.push(
        { what: `${name}: 503 and not ready after, ms`, value: Math.round(toldMs) },
        none(`${name}: reads that failed meanwhile`, failed),
      )
      const taken = stage.tenant.diary.acknowledged - acknowledged
      if (isTotal) stage.entries.push(none(`${name}: writes acknowledged meanwhile`, taken))
    } finally {
      await heal()
    }
    const healedAt = performance.now()
    await eventually(`${name}: ready`, () => stage.isReady(server))
    await eventually(`${name}: 202`, () => stage.takesWrites(server))
    const backMs = Math.round(performance.now() - healedAt)
    stage.entries.push({ what: `${name}: 202 and ready again after, ms`, value: backMs })
    for (const each of clients) await each.stop()
  }
  stage.scene.check()
  await server.end()
}

/** Syncs of half a second: everything is stored, and readers do not have to wait. */
async function onSlowDisk(stage: DiskStage): Promise<void> {
  progress('slow syncs')
  const server = await stage.start()
  const slow = { calls: 'fsync,fdatasync', fault: 'delay_exit=500000' }
  const faulty = await FaultyCalls.in(server.child.pid, slow)
  const before = stage.tenant.diary.acknowledged
  const clients = stage.scene.work(server, { clients: 4 })
  const { failed, slowestMs } = await stage.read(server, Math.max(1_000, stage.lastingMs))
  for (const each of clients) await each.stop()
  stage.entries.push(
    { what: 'syncs of 500 ms: items stored', value: stage.tenant.diary.acknowledged - before },
    none('syncs of 500 ms: reads that failed', failed),
    { what: 'syncs of 500 ms: the slowest read, ms', value: Math.round(slowestMs) },
  )
  await faulty.heal()
  await server.end()
  stage.scene.check()
}

/** A start on a disk that cannot be written says so and ends. The next one, on a good disk, serves. */
async function atStart(stage: DiskStage): Promise<void> {
  const { disk, scene } = stage
  for (const [name, strike, heal, word] of [
    ['disk full', () => disk.fill(), () => disk.free(), 'full'],
    ['read-only', () => disk.remount('ro'), () => disk.remount('rw'), 'read-only'],
  ] as const) {
    progress(`start: ${name}`)
    strike()
    const { status, stderr } = await scene.place.run(['serve', '--port', '0'])
    heal()
    const said = status === 1 && stderr.includes(word) && stderr.split('\n').length === 2
    const what = `start, ${name}: ends with 1 and a line that says so`
    stage.entries.push({ what, value: said ? 'yes' : stderr, isGood: said })
  }
  const server = await stage.start()
  await eventually('a start after it serves', () => stage.takesWrites(server))
  await server.end()
}

/** A stop while nothing can be written waits, because acknowledged events still have to be written. */
async function atStop(stage: DiskStage, { name, strike }: Fault): Promise<void> {
  progress(`stop: ${name}`)
  const { scene } = stage
  const server = await stage.start('--ack', 'buffer', '--flush-every-ms', '1000')
  const clients = scene.work(server, { ack: 'buffer' })
  const heal = await strike(stage, server)
  await Bun.sleep(300)
  server.child.kill('SIGTERM')
  for (const each of clients) await each.stop()
  await Bun.sleep(stage.lastingMs)
  await heal()
  const status = await server.child.exited
  const { lostFromBufferMs } = scene.found
  const before = { buffered: scene.found.buffered, lost: lostFromBufferMs.length }
  // Finds out how much of the buffer is missing.
  const next = await stage.start()
  stage.entries.push(
    none(`stop, ${name}: exit status, once it is over`, status),
    {
      what: `stop, ${name}: events acknowledged ahead of their commit`,
      value: scene.found.buffered - before.buffered,
    },
    none(`stop, ${name}: of these not there afterwards`, lostFromBufferMs.length - before.lost),
  )
  scene.check()
  await next.end()
}

/** Column segments are made in the background: a fault there is reported too, and costs no run. */
async function whileSealing(stage: DiskStage, { name, strike }: Fault): Promise<void> {
  progress(`sealing: ${name}`)
  const server = await stage.start()
  await stage.sendOldRuns(server)
  const heal = await strike(stage, server)
  // Whichever comes first: a segment that cannot be written, or the proof that nothing can be.
  const isTold = () =>
    /housekeeping failed|a commit failed|projections cannot be written/.test(server.stdout)
  await eventually('background work fails', isTold)
  await eventually('not ready, with no caller', async () => !(await stage.isReady(server)))
  await heal()
  await eventually('ready again', () => stage.isReady(server))
  const { changed } = await stage.scene.place.json<{ changed: number }>(['rebuild'])
  stage.entries.push(none(`sealing, ${name}: flows that a rebuild changed`, changed))
  stage.scene.check()
  await server.end()
}

/** More than may wait before the server reports that it cannot be written back: 3,000 frames of the log. */
const longLogBytes = 3_000 * 4_120

/**
 * Lets the log grow past the size that the server does not mention, which would take long if each commit tried
 * a traced checkpoint. Nothing is written back until the reader is closed.
 */
async function longLog({ scene, dataDir }: DiskStage): Promise<Database> {
  const reader = scene.place.reading()
  reader.run('begin')
  reader.query('select count(*) from event_batches').get()
  const log = `${databaseFile(dataDir)}-wal`
  await eventually('the log has grown', () => statSync(log).size > longLogBytes)
  return reader
}

/** Checkpoints fail, but commits do not: everything stays in the log, also through a kill. */
async function whileCheckpointing(stage: DiskStage): Promise<void> {
  const database = databaseFile(stage.dataDir)
  for (const [name, injected] of [
    ['writes', { calls: 'pwrite64', fault: 'error=EIO' }],
    ['syncs', { calls: 'fsync,fdatasync', fault: 'error=EIO' }],
  ] as const) {
    progress(`checkpoint: ${name} fail`)
    const server = await stage.start()
    const clients = stage.scene.work(server)
    const reader = await longLog(stage)
    const faulty = await FaultyCalls.in(server.child.pid, { ...injected, path: database })
    reader.close()
    await eventually('the log says so', () => server.stdout.includes('cannot be written back'))
    await stage.scene.until(itemsMeanwhile)
    if (name === 'writes') {
      await stage.scene.kill(server, clients)
      await faulty.heal()
    } else {
      await faulty.heal()
      for (const each of clients) await each.stop()
      await server.end()
    }
    const next = await stage.start()
    stage.scene.check()
    await next.end()
    const left = statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0
    stage.entries.push(none(`checkpoint, ${name} fail: bytes left in the log after a stop`, left))
  }
}

/** After a failed sync, nothing is acknowledged that the disk may not hold. */
async function afterFailedSyncs(stage: DiskStage): Promise<void> {
  progress('failed syncs')
  const record = join(stage.scene.place.folder, 'calls')
  const server = await stage.start()
  const faulty = await FaultyCalls.in(server.child.pid, {
    calls: 'fsync,fdatasync',
    fault: 'error=EIO:when=1+3',
    path: `${databaseFile(stage.dataDir)}-wal`,
    record: { file: record, others: 'pwrite64' },
  })
  const clients = stage.scene.work(server)
  await Bun.sleep(Math.max(1_000, stage.lastingMs))
  for (const each of clients) await each.stop()
  await faulty.heal()
  const { syncs, failed, hollow } = syncsIn(await readFile(record, 'utf8'))
  stage.entries.push(
    { what: 'every third sync of the log fails: syncs', value: syncs },
    { what: 'every third sync of the log fails: those that failed', value: failed },
    none('syncs trusted before what a failed one may have dropped was written again', hollow),
  )
  stage.scene.check()
  await server.end()
}

/** Merges the entries of several rounds: sums the violations of a promise, and takes the most of the rest. */
function gathered(entries: readonly Entry[]): Entry[] {
  const byName = new Map<string, Entry>()
  for (const entry of entries) {
    const { what, value, isGood } = entry
    const before = byName.get(what)
    if (!before) {
      byName.set(what, entry)
    } else if (typeof before.value === 'number' && typeof value === 'number') {
      const isPromise = isGood !== undefined
      const both = isPromise ? before.value + value : Math.max(before.value, value)
      byName.set(what, { what, value: both, ...(isPromise && { isGood: isGood && before.isGood }) })
    } else if (before.isGood !== false) byName.set(what, entry)
  }
  return [...byName.values()]
}

/** Makes the disk full, read-only, faulty and slow, and takes the database away, in each phase. */
export async function disk({ isLong, seed }: Torture): Promise<Ledger> {
  const title = 'A disk that is full, read-only, faulty, slow or gone'
  const why = whyNoDisk()
  if (why !== null) return { title, entries: [], notes: [`Not tried: ${why}.`] }
  const found = new Findings()
  const entries: Entry[] = []
  for (let round = 0; round < (isLong ? longRounds : 1); round++) {
    await using scene = await Scene.open(new SeededRandom(`disk ${seed} ${round}`), found)
    using small = new SmallDisk(scene.place.dataDir, diskMebibytes)
    const stage = new DiskStage(scene, small, isLong ? lasting.long : lasting.short)
    await stage.admitAnalyst()
    const total = faults.filter(({ isTotal }) => isTotal)
    const chosen = isLong ? total : total.filter(({ name }) => name.startsWith('writes'))
    await atWork(stage)
    await onSlowDisk(stage)
    await atStart(stage)
    for (const fault of chosen) await atStop(stage, fault)
    for (const fault of chosen) await whileSealing(stage, fault)
    await whileCheckpointing(stage)
    await afterFailedSyncs(stage)
    const server = await stage.start()
    await scene.checkProjections(server)
    await server.end()
    entries.push(...stage.entries)
  }
  return { title, entries: [...gathered(entries), ...found.entries(false)] }
}
