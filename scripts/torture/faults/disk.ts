import { statSync } from 'node:fs'
import { mkdir, rename, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { apiOf, type Server, sessionToken } from '../../support/binary.ts'
import { until } from '../../support/until.ts'
import { newItem, send, tourOf } from '../load.ts'
import { analyticsOf, type Site } from '../site.ts'
import { FaultyCalls } from '../tools/faulty-calls.ts'
import { SmallDisk } from '../tools/small-disk.ts'
import { type Check, none, noProblem } from '../verdict.ts'

/** How long a disk stays faulty, milliseconds. */
const lasting = { short: 300, long: 5_000 }

/** Room for everything that is written here. */
const diskMebibytes = 96

/** More than may wait in the log before the server reports that it cannot be written back: 3,000 frames. */
const longLogBytes = 3_000 * 4_120

type Heal = () => unknown

interface DiskFault {
  name: string
  /** Whether no commit can pass while it lasts. */
  isTotal: boolean
  begin(server: Server, disk: SmallDisk, dataDir: string): Promise<Heal>
}

const failing = (calls: string, error: string) => async (server: Server) => {
  const faulty = await FaultyCalls.in(server.child.pid, { calls, fault: `error=${error}` })
  return () => faulty.heal()
}

/** Takes the database's files out of their place. */
async function moveAway(_: Server, _disk: SmallDisk, dataDir: string): Promise<Heal> {
  const away = join(dataDir, 'away')
  const names = ['cairn.db', 'cairn.db-wal', 'cairn.db-shm']
  await mkdir(away)
  for (const name of names) await rename(join(dataDir, name), join(away, name))
  return async () => {
    for (const name of names) await rename(join(away, name), join(dataDir, name))
    await rmdir(away)
  }
}

const diskFaults: readonly DiskFault[] = [
  {
    name: 'disk full',
    // The disk space that the log had taken before can still be written.
    isTotal: false,
    async begin(_, disk) {
      disk.fill()
      return () => disk.free()
    },
  },
  { name: 'read-only', isTotal: true, begin: failing('pwrite64,ftruncate', 'EROFS') },
  { name: 'writes fail', isTotal: true, begin: failing('pwrite64', 'EIO') },
  { name: 'database moved away', isTotal: true, begin: moveAway },
]

const quiet = ['--log-level', 'warn']

/** Waits for something that must happen, however slow the machine is. */
const eventually = (what: string, condition: () => boolean | Promise<boolean>) =>
  until(condition).catch(() => {
    throw new Error(`This never happened: ${what}`)
  })

const isReady = async ({ managementUrl }: Server) => (await fetch(`${managementUrl}/readyz`)).ok

/** Whether a write is acknowledged. */
async function takesWrites({ tenants }: Site, server: Server): Promise<boolean> {
  const { journal, snippetKey } = tenants[0]!
  const ask = apiOf(server, snippetKey)
  const request = newItem('health report', journal, await tourOf(ask))
  return (await send(journal, ask, request))?.status === 202
}

/** Reads what a snippet and an analyst read, and counts the responses that are not 200. */
async function failedReads({ tenants }: Site, server: Server, token: string, forMs: number) {
  const snippet = apiOf(server, tenants[0]!.snippetKey)
  const { flowId } = await tourOf(snippet)
  let failed = 0
  const end = performance.now() + forMs
  do {
    if (!(await snippet('GET', '/flows')).ok) failed++
    await analyticsOf(server, { token, flowId }).catch(() => failed++)
    await Bun.sleep(20)
  } while (performance.now() < end)
  return failed
}

/** A site on a disk of its own. */
interface Stage {
  site: Site
  disk: SmallDisk
  token: string
  lastingMs: number
}

/** Each fault hits the same busy server, and then ends. */
async function atWork({ site, disk, token, lastingMs }: Stage): Promise<Check[]> {
  const { dataDir } = site.place
  const checks: Check[] = []
  const server = await site.start(quiet)
  for (const { name, isTotal, begin } of diskFaults) {
    const start = () => site.load(server, { clients: 2, isPublishing: true })
    let load = start()
    await site.until(50)
    const heal = await begin(server, disk, dataDir)
    try {
      await eventually(`${name}: 503`, async () => !(await takesWrites(site, server)))
      await eventually(`${name}: not ready`, async () => !(await isReady(server)))
      // A response that was sent before may still be on its way to its client.
      await load.stop()
      const { acknowledged } = site
      load = start()
      const failed = await failedReads(site, server, token, lastingMs)
      checks.push(none(`${name}: reads that failed`, failed))
      const written = site.acknowledged - acknowledged
      if (isTotal) checks.push(none(`${name}: writes acknowledged`, written))
    } finally {
      await heal()
    }
    await eventually(`${name}, healed: ready`, () => isReady(server))
    await eventually(`${name}, healed: 202`, () => takesWrites(site, server))
    await load.stop()
  }
  site.compare()
  await server.end()
  return checks
}

/** A start on a disk that cannot be written says so and ends. The next one, on a good disk, serves. */
async function atStart({ site, disk }: Stage): Promise<Check[]> {
  const problems: string[] = []
  for (const [word, begin, heal] of [
    ['full', () => disk.fill(), () => disk.free()],
    ['read-only', () => disk.remount('ro'), () => disk.remount('rw')],
  ] as const) {
    begin()
    const { status, stderr } = await site.place.run(['serve', '--port', '0'])
    heal()
    const isClear = status === 1 && stderr.includes(word) && stderr.split('\n').length === 2
    if (!isClear) problems.push(`${word}: status ${status}, ${stderr}`)
  }
  const server = await site.start(quiet)
  await eventually('a start after it serves', () => takesWrites(site, server))
  await server.end()
  return [noProblem('starts on a bad disk that do not end with 1 and one clear line', problems)]
}

/** A stop while nothing can be written waits, because acknowledged events still have to be written. */
async function atStop({ site, disk, lastingMs }: Stage, { name, begin }: DiskFault) {
  const server = await site.start([...quiet, '--ack', 'buffer', '--flush-every-ms', '1000'])
  const load = site.load(server, { ack: 'buffer' })
  await site.until(20)
  const heal = await begin(server, disk, site.place.dataDir)
  await Bun.sleep(300)
  server.child.kill('SIGTERM')
  await load.stop()
  await Bun.sleep(lastingMs)
  await heal()
  const status = await server.child.exited
  const before = site.lostBuffered
  // Finds out how much of the buffer is missing.
  const next = await site.start(quiet)
  site.compare()
  await next.end()
  return [
    none(`stop, ${name}: exit status, once it ends`, status),
    none(
      `stop, ${name}: buffered events that are not there afterwards`,
      site.lostBuffered - before,
    ),
  ]
}

/** A fault in background work, with no caller, makes the server not ready, and loses no run. */
async function inBackground({ site, disk }: Stage, { name, begin }: DiskFault) {
  const server = await site.start(quiet)
  await site.sendOldRuns(server)
  const heal = await begin(server, disk, site.place.dataDir)
  await eventually(`${name}: not ready, with no caller`, async () => !(await isReady(server)))
  await heal()
  await eventually(`${name}, healed: ready`, () => isReady(server))
  const { changed } = await site.place.json<{ changed: number }>(['rebuild'])
  site.compare()
  await server.end()
  return [none(`background work, ${name}: flows that a rebuild changed`, changed)]
}

/** Checkpoints fail, but commits do not: everything stays in the log, also through a kill. */
async function atCheckpoints({ site }: Stage): Promise<Check[]> {
  const database = join(site.place.dataDir, 'cairn.db')
  let left = 0
  for (const calls of ['pwrite64', 'fsync,fdatasync']) {
    const server = await site.start(quiet)
    // The log must not fill the disk before the fault has begun.
    const load = site.load(server, { clients: 1, restMs: 10 })
    // Nothing is written back while a reader is in the log, which so grows past what is not reported.
    const reader = site.place.reading()
    reader.run('begin')
    reader.query('select count(*) from event_batches').get()
    await eventually('the log has grown', () => statSync(`${database}-wal`).size > longLogBytes)
    const fault = { calls, fault: 'error=EIO', path: database }
    const faulty = await FaultyCalls.in(server.child.pid, fault)
    reader.close()
    await eventually('the log says so', () => server.stdout.includes('cannot be checkpointed'))
    await site.until(200)
    if (calls === 'pwrite64') await site.kill(server, load)
    await faulty.heal()
    await load.stop()
    await server.end()
    const next = await site.start(quiet)
    site.compare()
    await next.end()
    left += statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0
  }
  return [none('failed checkpoints: bytes left in the log after the next stop', left)]
}

/** A failed sync ends the server, and the next one begins the log anew, because it may have a gap on the disk. */
async function afterFailedSyncs({ site }: Stage): Promise<Check[]> {
  const log = join(site.place.dataDir, 'cairn.db-wal')
  const server = await site.start(quiet)
  const load = site.load(server)
  await site.until(50)
  const faulty = await FaultyCalls.in(server.child.pid, {
    calls: 'fsync,fdatasync',
    fault: 'error=EIO:when=5',
    path: log,
  })
  const status = await server.child.exited
  await load.stop()
  await faulty.heal()
  const next = await site.start(quiet)
  const after = statSync(log).size
  site.compare()
  await next.end()
  return [
    { what: 'a sync fails: exit status', value: status, isOk: status === 1 },
    { what: 'bytes in the log after the next start', value: after, isOk: after < 65_536 },
  ]
}

export async function disk(site: Site, isLong: boolean): Promise<Check[]> {
  const token = await sessionToken(site.place, site.tenants[0]!.slug)
  using small = new SmallDisk(site.place.dataDir, diskMebibytes)
  const stage = { site, disk: small, token, lastingMs: lasting[isLong ? 'long' : 'short'] }
  const total = diskFaults.filter(({ isTotal }) => isTotal)
  const chosen = isLong ? total : total.filter(({ name }) => name === 'writes fail')
  const checks: Check[] = []
  for (const one of [atWork, atStart, atCheckpoints, afterFailedSyncs]) {
    checks.push(...(await one(stage)))
  }
  for (const fault of chosen) {
    checks.push(...(await atStop(stage, fault)), ...(await inBackground(stage, fault)))
  }
  return [...checks, ...(await site.finish())]
}
