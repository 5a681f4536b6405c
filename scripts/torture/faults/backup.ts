import { Database } from 'bun:sqlite'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { builtBinary } from '../../support/binary.ts'
import { damageIn, storedEvents } from '../../support/stored.ts'
import { type Check, noProblem, some } from '../result.ts'
import type { Site } from '../site.ts'
import type { Fault } from './fault.ts'

/** Kills at random moments, and at the first so many calls of each system call that names or syncs files. */
const effort = { short: { moments: 3, calls: 2 }, long: { moments: 50, calls: 40 } }

/** What a process does to files that others will see, by strace's names. */
const calls = ['link', 'rename', 'unlink', 'fsync']

type Kill = { afterMs: number } | { call: string; count: number }

/** Runs a command and kills it at some moment; returns whether it had come to its end before that. */
async function killed({ place }: Site, args: string[], kill: Kill): Promise<boolean> {
  const tracer =
    'call' in kill
      ? [
          ...['strace', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null', '-e'],
          `inject=${kill.call}:signal=KILL:when=${kill.count}`,
        ]
      : []
  const child = Bun.spawn([...tracer, await builtBinary(), ...args], {
    cwd: place.folder,
    env: {},
    stdout: 'ignore',
    stderr: 'ignore',
  })
  if ('afterMs' in kill) {
    await Promise.race([child.exited, Bun.sleep(kill.afterMs)])
    child.kill('SIGKILL')
  }
  return (await child.exited) === 0
}

/** How many events a database has once SQLite has recovered it, or what is wrong with it. */
function contentOf(file: string): number | string {
  try {
    using database = new Database(file, { create: false, readwrite: true })
    return damageIn(database) ?? storedEvents(database).length
  } catch (error) {
    return String(error)
  }
}

/** Runs a command once to its end, to know how long it takes, and returns when to kill the next ones. */
async function killsOf({ place, random }: Site, args: string[], isLong: boolean): Promise<Kill[]> {
  const { moments, calls: count } = effort[isLong ? 'long' : 'short']
  const startedAt = performance.now()
  const { status, stderr } = await place.run(args)
  if (status !== 0) throw new Error(stderr)
  const wholeMs = performance.now() - startedAt
  const canTrace = Bun.which('strace') && Bun.spawnSync(['strace', '-qq', 'true']).success
  return [
    ...Array.from({ length: moments }, () => ({ afterMs: random.between(1, wholeMs) })),
    ...(canTrace ? calls : []).flatMap(call =>
      Array.from({ length: count }, (_, i) => ({ call, count: i + 1 })),
    ),
  ]
}

/** Kills backups of a busy server: whatever is named like a backup is whole, and no other file stays. */
async function killBackups(site: Site, isLong: boolean): Promise<Check[]> {
  const { place } = site
  const problems: string[] = []
  let cut = 0
  const server = await site.start()
  const load = site.load(server, { clients: 1, restMs: 20 })
  await site.until(500)
  mkdirSync(place.path('backups'))
  for (const kill of await killsOf(site, ['backup', place.path('first.db')], isLong)) {
    const target = `backups/${Bun.randomUUIDv7()}.db`
    const isWhole = await killed(site, ['backup', target], kill)
    if (!isWhole) cut++
    if (!existsSync(place.path(target))) {
      if (isWhole) problems.push('a backup that succeeded is not there')
      continue
    }
    const { status, stderr } = await place.run(['restore', '--check', target])
    if (status !== 0 || stderr !== '') problems.push(`a backup is not whole: ${stderr}`)
  }
  await place.run(['backup', 'backups/last.db'])
  const left = readdirSync(place.path('backups')).filter(name => name.includes('partial'))
  problems.push(...left.map(name => `${name} stays after the next backup`))
  await load.stop()
  await server.end()
  return [
    some('backups killed', cut),
    noProblem('backups that are not whole, or left files', problems),
  ]
}

/** Kills restores: each leaves either the data from before or that of the backup, and can be undone. */
async function killRestores(site: Site, isLong: boolean): Promise<Check[]> {
  const { place } = site
  const problems: string[] = []
  let cut = 0
  const [backup, data] = [place.path('first.db'), place.path('data')]
  const content = () => contentOf(place.path('data/cairn.db'))
  const reset = () => {
    rmSync(data, { recursive: true, force: true })
    cpSync(place.dataDir, data, { recursive: true })
  }
  reset()
  const [before, restored] = [content(), contentOf(backup)]
  const restore = ['restore', backup, '--data', 'data']
  for (const kill of await killsOf(site, restore, isLong)) {
    reset()
    if (!(await killed(site, restore, kill))) cut++
    const found = content()
    if (found !== before && found !== restored) problems.push(`after a killed restore: ${found}`)
    // Whatever the killed one left must not get in the way.
    const { status, stderr } = await place.run(restore)
    if (status !== 0) problems.push(`the next restore fails: ${stderr}`)
    if (content() !== restored) problems.push('the next restore restored nothing')
    const undone = await place.run(['restore', '--undo', '--data', 'data'])
    if (undone.status !== 0) problems.push(`it cannot be undone: ${undone.stderr}`)
    if (content() !== found) problems.push('undone, it is not what it was')
    if (existsSync(place.path('data/.cairn-restore.partial'))) problems.push('a partial file stays')
  }
  const server = await place.serve(['--data', 'data'])
  if ((await server.end()) !== 0) problems.push('a server on restored data does not stop well')
  return [
    some('restores killed', cut),
    { what: 'events before, and in the backup', value: `${before}, ${restored}` },
    noProblem('restores that left something else', problems),
  ]
}

export const backup: Fault = {
  what: 'backups and restores killed at random moments and at each of their calls',
  longRounds: 4,
  async run(site, isLong) {
    const checks = [...(await killBackups(site, isLong)), ...(await killRestores(site, isLong))]
    return [...checks, ...(await site.finish())]
  },
}
