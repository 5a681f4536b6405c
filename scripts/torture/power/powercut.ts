import { Database } from 'bun:sqlite'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { jwtVerify } from 'jose'
import type { SeededRandom } from '../../../src/cli/demo/random.ts'
import { progress } from '../../report/progress.ts'
import { apiOf, builtBinary, sessionToken, Workplace } from '../../support/binary.ts'
import { damageIn } from '../../support/stored.ts'
import { type Items, Journal, type Kind, kinds } from '../journal.ts'
import type { Tenant } from '../load.ts'
import { Site } from '../site.ts'
import {
  addCounts,
  type Check,
  compareEvents,
  none,
  noProblem,
  type ProblemCounts,
  problemNames,
  problemsIn,
  some,
  sumOf,
} from '../verdict.ts'
import { type Cut, type CutName, cutNames, cuts, Disk } from './disk.ts'
import { Recorder } from './recorder.ts'
import type { Step, Steps } from './trace.ts'

/** How much is recorded, and at how many points the power goes; one in so many is checked more thoroughly. */
const sizes = {
  short: { servers: 2, items: 500, points: 30, goOnEvery: 5, resendEvery: 10 },
  long: { servers: 4, items: 2_000, points: 1_000, goOnEvery: 5, resendEvery: 25 },
}
type Size = (typeof sizes)['short']

/** At how many points the power goes for a disk that is read as if the log was never synced. */
const controlPoints = 5

/** By then a server has begun to make blocks of the runs that it found. */
const sealedWithinMs = 3_500

/** What a command has promised: from the moment at which it prints a text, something is there. */
interface Promised {
  what: string
  text: string
  isKept(folder: string): Promise<boolean>
}

/** What was recorded, and what was promised when. */
interface Recording extends Steps {
  root: string
  tenants: readonly Tenant[]
  /** The step at which a request's response was sent, by its id. */
  answeredAt: ReadonlyMap<string, number>
  promises: readonly (Promised & { at: number })[]
  /** Steps from which on another database may have replaced the one before, or has replaced it. */
  moments: { backup: number; restore: number; restored: number; undo: number; undone: number }
}

/** Where the power goes: after how many steps, and what the disk then keeps. */
interface Point {
  at: number
  cutName: CutName
  cut(disk: Disk): Cut
}

const secondsNow = () => Date.now() / 1_000

/** Lives through some servers with their load and commands beside it, then restores a backup and undoes that. */
async function record(random: SeededRandom, { servers, items }: Size): Promise<Recording> {
  using recorder = new Recorder()
  await using place = new Workplace(() => recorder.program())
  const site = await Site.open(random, place)
  const promises: Promised[] = []
  for (const { journal } of site.tenants) journal.acknowledgedRequests = new Map()
  let backup = { file: '', sha256: '' }
  const times = { backup: 0, restore: 0, restored: 0, undo: 0, undone: 0 }
  for (let i = 0; i < servers; i++) {
    const server = await site.start()
    const rested = Bun.sleep(sealedWithinMs)
    if (i === 0) await site.sendOldRuns(server)
    const load = site.load(server, { clients: 2, isPublishing: true, restMs: 20 })
    const token = await sessionToken(place, site.tenants[0]!.slug)
    times.backup = secondsNow()
    backup = await place.json(['backup', 'backups/'])
    const { sha256 } = backup
    promises.push(
      { what: 'a token', text: token, isKept: folder => isTokenOf(folder, token) },
      {
        what: 'a backup',
        text: sha256,
        isKept: async folder => sumsOf(folder).some(sums => sums.found === sha256),
      },
    )
    await site.until(items)
    await load.stop()
    await rested
    if (i % 2 === 0) await site.kill(server)
    else await server.end()
  }
  times.restore = secondsNow()
  const { aside } = await place.json(['restore', backup.file])
  times.restored = secondsNow()
  times.undo = secondsNow()
  await place.json(['restore', aside])
  times.undone = secondsNow()
  const recorded = await recorder.steps(place.folder)
  const from = (time: number) => recorded.times.findIndex(at => at >= time)
  const lastOutputBefore = (time: number) =>
    recorded.steps.findLastIndex(({ type }, i) => type === 'output' && recorded.times[i]! <= time)
  const { answeredAt, printedAt } = outputsIn(recorded.steps, promises)
  return {
    steps: recorded.steps,
    times: recorded.times,
    root: place.folder,
    answeredAt,
    tenants: site.tenants,
    promises: promises.map((promise, i) => ({ ...promise, at: printedAt[i]! })),
    moments: {
      backup: from(times.backup),
      restore: from(times.restore),
      restored: lastOutputBefore(times.restored),
      undo: from(times.undo),
      undone: lastOutputBefore(times.undone),
    },
  }
}

/** At which steps responses were sent, by the ids of their requests, and what commands had promised was printed. */
function outputsIn(steps: readonly Step[], promises: readonly Promised[]) {
  const answeredAt = new Map<string, number>()
  const printedAt = promises.map(() => Number.POSITIVE_INFINITY)
  for (const [at, step] of steps.entries()) {
    if (step.type !== 'output') continue
    for (const [, id] of step.text.matchAll(/X-Request-Id: (\w+)\r\n/g)) answeredAt.set(id!, at)
    for (const [i, { text }] of promises.entries()) {
      if (printedAt[i]! > at && step.text.includes(text)) printedAt[i] = at
    }
  }
  return { answeredAt, printedAt }
}

/** A tenant's journal as it was when the power went: what had been acknowledged before a step. */
function journalAt({ answeredAt }: Recording, { journal }: Tenant, before: (kind: Kind) => number) {
  const isBefore = (id: string | null, kind: Kind) =>
    (answeredAt.get(id ?? '') ?? Number.POSITIVE_INFINITY) < before(kind)
  const items = new Journal().items
  for (const kind of kinds) Object.assign(items[kind], { sent: journal.items[kind].sent })
  for (const [id, { kind, names }] of journal.acknowledgedRequests!) {
    if (isBefore(id, kind)) for (const name of names) items[kind].acknowledged.add(name)
  }
  const publications = journal.publications.map(one =>
    isBefore(one.requestId, 'completion') ? one : { ...one, version: null },
  )
  return { items: items as Record<Kind, Items>, publications }
}

/** From which moments the database may be: while it is being replaced, from either. */
function databasesAt(
  at: number,
  { backup, restore, restored, undo, undone }: Recording['moments'],
) {
  if (at <= restore || at > undone) return [at]
  if (at <= restored) return [at, backup]
  return at <= undo ? [backup] : [backup, at]
}

async function isTokenOf(folder: string, token: string): Promise<boolean> {
  const key = readFileSync(join(folder, 'cairn-data/session.key'), 'utf8').trim()
  return (await jwtVerify(token, Buffer.from(key, 'hex'))) !== null
}

/** The checksums of the backups that have their final names, as found and as written beside them. */
function sumsOf(root: string) {
  const folder = join(root, 'backups')
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter(name => /^cairn-.*\.db$/.test(name))
  return names.map(name => {
    const file = join(folder, name)
    const found = new Bun.CryptoHasher('sha256').update(readFileSync(file)).digest('hex')
    const beside = existsSync(`${file}.sha256`) ? readFileSync(`${file}.sha256`, 'utf8') : ''
    return { name, found, isRight: beside.startsWith(`${found}  `) }
  })
}

/** Opens the database as it was found, which replays its log, and compares it with what had been acknowledged. */
function compare(folder: string, recording: Recording, at: number, isResent = false) {
  const path = join(folder, 'cairn-data/cairn.db')
  using database = existsSync(path)
    ? new Database(path, { readwrite: true, create: false })
    : new Database(':memory:')
  const found = database.query("select name from sqlite_schema where name = 'run_blocks'").get()
  const candidates = databasesAt(at, recording.moments).map(moment => {
    const counts: ProblemCounts = {}
    for (const tenant of recording.tenants) {
      const before = (kind: Kind) => (isResent && kind === 'event' ? Number.MAX_VALUE : moment)
      const journal = journalAt(recording, tenant, before)
      const { id } = tenant
      addCounts(counts, found ? problemsIn(database, { id, journal }) : compareEvents([], journal))
    }
    return counts
  })
  const counts = candidates.reduce((best, one) => (sumOf(one) < sumOf(best) ? one : best))
  return { ...counts, damaged: damageIn(database) === null ? 0 : 1 }
}

/** Whether the executable goes on from there: a first start begins anew, and numbers match the ledger. */
async function goOn(folder: string, isMade: boolean): Promise<string | null> {
  const args = isMade ? ['rebuild', '--json'] : ['org', 'create', 'Second', '--json']
  const { status, stdout, stderr } = await new Workplace(builtBinary, folder).run(args)
  if (status !== 0) return `it does not go on: ${stderr}`
  const { changed = 0 } = JSON.parse(stdout) as { changed?: number }
  return changed === 0 ? null : `a rebuild changed ${changed} flows`
}

/** Starts a server there and sends all events again: what was stored is a duplicate, the rest is new. */
async function resend(folder: string, { tenants }: Recording): Promise<string | null> {
  const server = await new Workplace(builtBinary, folder).serve(['--log-level', 'warn'])
  try {
    for (const { journal, snippetKey } of tenants) {
      for (const { kind, path, body } of journal.acknowledgedRequests!.values()) {
        if (kind !== 'event') continue
        const response = await apiOf(server, snippetKey)('POST', path, body)
        if (!response.ok) return `events that are sent again: ${await response.text()}`
      }
    }
    return (await server.end()) === 0 ? null : 'it does not stop cleanly'
  } finally {
    server.child.kill('SIGKILL')
  }
}

async function checkAt(
  folder: string,
  point: Point,
  recording: Recording,
  how: Partial<Size>,
  i: number,
) {
  const { at } = point
  const counts = compare(folder, recording, at)
  const problems = sumsOf(folder)
    .filter(({ isRight }) => !isRight)
    .map(({ name }) => `${name} is another`)
  for (const { what, isKept } of recording.promises.filter(promise => promise.at < at)) {
    if (!(await isKept(folder).catch(() => false))) problems.push(`${what} is lost`)
  }
  const isMade = [...recording.answeredAt.values()].some(answer => answer < at)
  if (!isMade || (how.goOnEvery && i % how.goOnEvery === 0)) {
    problems.push((await goOn(folder, isMade)) ?? '')
  }
  if (isMade && how.resendEvery && i % how.resendEvery === how.resendEvery - 1) {
    problems.push((await resend(folder, recording)) ?? '')
    addCounts(counts, compare(folder, recording, at, true))
  }
  const where = `step ${at} of ${recording.steps.length}, ${point.cutName}`
  const found = Object.entries(counts).filter(([, count]) => count > 0)
  problems.push(...found.map(([name, count]) => `${count} ${name}`))
  return { counts, problems: problems.filter(Boolean).map(problem => `${where}: ${problem}`) }
}

/** Cuts the power at points, in their order, and checks what the disk then keeps. */
async function foundAt(points: readonly Point[], recording: Recording, how: Partial<Size> = {}) {
  const all = { counts: {} as ProblemCounts, problems: [] as string[] }
  const disk = new Disk()
  let at = 0
  for (const [i, point] of points.entries()) {
    for (; at < point.at; at++) disk.apply(recording.steps[at]!)
    const folder = mkdtempSync(join(tmpdir(), 'cairn-powercut-'))
    try {
      // A directory before what is in it.
      for (const [path, content] of [...disk.after(point.cut(disk))].sort()) {
        const place = join(folder, relative(recording.root, path))
        if (content === null) mkdirSync(place, { recursive: true, mode: 0o700 })
        else writeFileSync(place, content, { mode: 0o600 })
      }
      const { counts, problems } = await checkAt(folder, point, recording, how, i)
      addCounts(all.counts, counts)
      all.problems.push(...problems)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    if (points.length > 100 && i % 50 === 49) progress(`${i + 1} of ${points.length} points`)
  }
  return all
}

/** Whether something begins or ends at a step: a sync, a name, a checkpoint. */
const isTurning = (step: Step) =>
  step.type !== 'output' && !(step.type === 'write' && step.path.endsWith('-wal'))

/**
 * Points in their order: the strictest cut just after each promise of a command. Of the rest, a quarter is just
 * after a response, a quarter around a sync, a name or a checkpoint, a quarter anywhere, a quarter in a restore.
 */
function pointsIn(
  { steps, answeredAt, promises, moments }: Recording,
  count: number,
  random: SeededRandom,
) {
  const rare = [...promises.map(({ at }) => at), moments.restored, moments.undone]
  const places = [
    [...answeredAt.values()],
    [...steps.keys()].filter(at => isTurning(steps[at]!)),
    [...steps.keys()],
    [...steps.keys()].filter(at => at >= moments.restore && at <= moments.undone),
  ]
  const points = Array.from({ length: Math.max(count, rare.length) }, (_, i): Point => {
    const isStrict = i < rare.length
    const at = isStrict ? rare[i]! : random.pick(places[i % places.length]!)
    const cutName = isStrict
      ? 'all dropped'
      : cutNames[Math.floor(i / places.length) % cutNames.length]!
    return { at: at + 1, cutName, cut: disk => cuts[cutName](random, disk) }
  })
  return points.sort((a, b) => a.at - b.at)
}

/**
 * Records what Cairn does to its files, and cuts the power at many points of it. Of what no sync has
 * covered, the disk then keeps nothing, everything, or parts.
 */
export async function powercut(random: SeededRandom, isLong: boolean): Promise<Check[]> {
  const size = isLong ? sizes.long : sizes.short
  const recording = await record(random, size)
  const { steps, answeredAt } = recording
  const points = pointsIn(recording, size.points, random)
  const { counts, problems } = await foundAt(points, recording, size)

  // The same, read as if the log was never synced, because a verdict that cannot fail is worth nothing.
  const isOfLog = (step: Step) => step.type === 'sync_ends' && step.path.endsWith('-wal')
  const unsynced = steps.map((step): Step => (isOfLog(step) ? { type: 'output', text: '' } : step))
  const answers = [...answeredAt.values()]
  const last = answers.filter((_, i) => i % Math.ceil(answers.length / controlPoints) === 1)
  const strictest = last.map(
    (at): Point => ({ at: at + 1, cutName: 'all dropped', cut: cuts['all dropped'] }),
  )
  const control = await foundAt(strictest, { ...recording, steps: unsynced })

  const count = (type: Step['type']) => steps.filter(step => step.type === type).length
  return [
    some('writes', count('write')),
    some('syncs', count('sync_ends')),
    some('names moved', count('rename')),
    some('responses', answeredAt.size),
    { what: 'points at which the power went', value: points.length },
    ...Object.entries(problemNames).map(([name, what]) =>
      none(what, counts[name as keyof ProblemCounts] ?? 0),
    ),
    noProblem('points at which something is wrong', problems),
    some('losses found when the log is read as never synced', control.counts.lost ?? 0),
  ]
}
