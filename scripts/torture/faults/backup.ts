import { Database } from 'bun:sqlite'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { damageIn, storedEvents } from '../../support/stored.ts'
import type { Site } from '../site.ts'
import { type Check, noProblem } from '../verdict.ts'

/** How many backups and restores are killed. `powercut` has each step of a restore. */
const kills = { short: 5, long: 100 }

/** How many events a database has once SQLite has recovered it, or what is wrong with it. */
function contentOf(file: string): number | string {
  try {
    using database = new Database(file, { create: false, readwrite: true })
    return damageIn(database) ?? storedEvents(database).length
  } catch (error) {
    return String(error)
  }
}

export async function backup(site: Site, isLong: boolean): Promise<Check[]> {
  const { place, random } = site
  const problems: string[] = []
  const cut = { backups: 0, restores: 0 }
  const count = kills[isLong ? 'long' : 'short']
  let lastsMs = 0
  /** Runs a command and kills it at a random moment, but not the first time; returns whether it ended before. */
  const endsBeforeKill = async (args: string[]): Promise<boolean> => {
    const startedAt = performance.now()
    const child = await place.command(args)
    const isFirst = lastsMs === 0
    await (isFirst
      ? child.exited
      : Promise.race([child.exited, Bun.sleep(random.next() * lastsMs)]))
    child.kill('SIGKILL')
    const isDone = (await child.exited) === 0
    if (isDone) lastsMs = performance.now() - startedAt
    return isDone
  }

  // Whatever is named like a backup of the busy server is complete, and no other file stays.
  const server = await site.start()
  const load = site.load(server, { clients: 1, restMs: 20 })
  await site.until(500)
  mkdirSync(place.path('backups'))
  const first = 'backups/0.db'
  for (let i = 0; cut.backups < count; i++) {
    const target = `backups/${i}.db`
    const isDone = await endsBeforeKill(['backup', target])
    if (!isDone) cut.backups++
    if (!existsSync(place.path(target))) {
      if (isDone) problems.push('a backup that succeeded is not there')
      continue
    }
    const { status, stderr } = await place.run(['restore', '--check', target])
    if (status !== 0 || stderr !== '') problems.push(`a backup is not complete: ${stderr}`)
  }
  await place.json(['backup', 'backups/last.db'])
  const left = readdirSync(place.path('backups')).filter(name => name.includes('partial'))
  problems.push(...left.map(name => `${name} stays after the next backup`))
  await load.stop()
  await server.end()

  // A killed restore leaves the data from before or that of the backup, and can be undone.
  const data = place.path('data')
  const content = () => contentOf(place.path('data/cairn.db'))
  cpSync(place.dataDir, data, { recursive: true })
  const [before, restored] = [content(), contentOf(place.path(first))]
  const restore = ['restore', first, '--data', 'data']
  lastsMs = 0
  while (cut.restores < count) {
    rmSync(data, { recursive: true, force: true })
    cpSync(place.dataDir, data, { recursive: true })
    if (!(await endsBeforeKill(restore))) cut.restores++
    const found = content()
    if (found !== before && found !== restored) problems.push(`after a killed restore: ${found}`)
    // Whatever the killed one left must not get in the way.
    const { aside } = await place.json(restore)
    if (content() !== restored) problems.push('the next restore restored nothing')
    await place.json(['restore', aside, '--data', 'data'])
    if (content() !== found) problems.push('undone, it is not what it was')
    if (existsSync(place.path('data/.cairn-restore.partial'))) problems.push('a partial file stays')
  }
  return [
    { what: 'backups killed, and restores', value: `${cut.backups}, ${cut.restores}` },
    { what: 'events before, and in the backup', value: `${before}, ${restored}` },
    noProblem('killed backups and restores that leave something wrong', problems),
    ...(await site.finish()),
  ]
}
