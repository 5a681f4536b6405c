import type { Failpoint } from '../../../src/failpoints.ts'
import type { Server } from '../../support/binary.ts'
import type { Site } from '../site.ts'
import { type Check, noProblem, some } from '../verdict.ts'

/** How many times the server is killed at work, and how long it usually lives at most. */
const kills = { short: 12, long: 50 }
const maxLifeMs = { short: 200, long: 400 }
/** How many times each operation is interrupted. */
const interruptions = { short: 1, long: 5 }

/** Where a transaction is sometimes slowed down, so that kills hit it there. */
const slowPoints: readonly Failpoint[] = [
  'before_begin',
  'between_rows',
  'before_commit',
  'after_commit',
  'during_publish',
]

/** One life of the server: started, put to work, killed at some moment or within a publication, compared. */
async function live(site: Site, lifeMs: number, publicationsCut: number): Promise<number> {
  const { random } = site
  const ack = random.chance(0.2) ? 'buffer' : 'commit'
  const exits = random.chance(0.2) || publicationsCut === 0
  const pass = Math.ceil(random.between(1, 20))
  const armed = exits ? `during_publish=exit@${pass}` : `${random.pick(slowPoints)}=delay:20`
  const isArmed = exits || random.chance(0.3)
  const server = await site.start(['--ack', ack], { CAIRN_FAILPOINTS: isArmed ? armed : '' })
  site.compare()
  const load = site.load(server, { ack, isPublishing: true })
  // A few live long enough for housekeeping, such as blocks of runs.
  const ms = random.chance(0.05) ? random.between(2_000, 4_000) : random.between(0, lifeMs)
  const ended = await Promise.race([server.child.exited, Bun.sleep(exits ? 10 * lifeMs : ms)])
  await site.kill(server, load)
  return ended === undefined ? 0 : 1
}

/** Something that may be interrupted at any moment. */
interface Operation {
  what: string
  /** Starts it at a running server. */
  start(server: Server): Promise<{ kill(): void; exited: Promise<unknown> }>
  /** Runs at the next server; returns what is wrong, or null. */
  problem?(server: Server): Promise<string | null>
}

const stop: Operation = {
  what: 'a stop with requests in flight',
  async start({ child }) {
    child.kill('SIGTERM')
    return { kill() {}, exited: child.exited }
  },
}

const rebuild = (site: Site): Operation => ({
  what: 'a rebuild',
  async start() {
    const child = await site.place.command(['rebuild'])
    return { kill: () => child.kill('SIGKILL'), exited: child.exited }
  },
  async problem() {
    const { changed } = await site.place.json<{ changed: number }>(['rebuild'])
    return changed === 0 ? null : `the next rebuild changed ${changed} flows`
  },
})

/** Interrupts an operation, with the server at work, each time at another moment; once it runs to its end. */
async function interrupt(site: Site, operation: Operation, count: number): Promise<string[]> {
  const problems: string[] = []
  let lastsMs = 0
  for (let i = 0; i <= count; i++) {
    const server = await site.start()
    // Few clients, because the command that is interrupted must not starve beside them.
    const load = site.load(server, { clients: 2, restMs: 5 })
    await site.until(20)
    const { kill, exited } = await operation.start(server)
    const startedAt = performance.now()
    await (i === 0 ? exited : Bun.sleep(site.random.between(0, lastsMs)))
    lastsMs ||= performance.now() - startedAt
    kill()
    await site.kill(server, load)
    await exited
    const next = await site.start()
    problems.push((await operation.problem?.(next)) ?? '')
    if (!site.compare()) problems.push('what is stored is not what was acknowledged')
    await site.kill(next)
  }
  return problems.filter(Boolean).map(problem => `${operation.what}: ${problem}`)
}

export async function kill(site: Site, isLong: boolean): Promise<Check[]> {
  const form = isLong ? 'long' : 'short'
  let cut = 0
  for (let i = 0; i < kills[form]; i++) cut += await live(site, maxLifeMs[form], cut)
  const problems: string[] = []
  for (const operation of [stop, rebuild(site)]) {
    problems.push(...(await interrupt(site, operation, interruptions[form])))
  }
  for (let i = 0; i < 2 * interruptions[form]; i++) {
    const server = await site.place.start()
    await Bun.sleep(site.random.between(0, 300))
    await server.end('SIGKILL')
  }
  return [
    { what: 'kills at work', value: kills[form] },
    some('ends within a publication', cut),
    noProblem('interrupted operations that leave something wrong', problems),
    ...(await site.finish()),
  ]
}
