import { SeededRandom } from '../../../src/cli/demo/random.ts'
import type { Failpoint } from '../../../src/failpoints.ts'
import { progress } from '../../report/progress.ts'
import { Findings } from '../findings.ts'
import type { Entry, Ledger, Torture } from '../ledger.ts'
import { interrupt } from '../operation.ts'
import { operations } from '../operations.ts'
import { Scene } from '../scene.ts'

/** How many times the server is killed at work, and how long it usually lives at most. */
const kills = { short: 12, long: 1_000 }
const lifeMs = { short: 200, long: 400 }
/** A scene has data of its own, all of which is read after each kill. */
const killsOfScene = 50
/** How many times each operation is interrupted. */
const interruptions = { short: 1, long: 50 }

/** Where a commit is sometimes slowed down, so that kills hit it there. */
const slowPoints: readonly Failpoint[] = [
  'before_begin',
  'between_rows',
  'before_commit',
  'after_commit',
]

/** One life of the server: started, checked, put to work, killed at some moment. */
async function live(scene: Scene, longestMs: number): Promise<void> {
  const { random } = scene
  const ack = random.chance(0.2) ? 'buffer' : 'commit'
  const slow = random.chance(0.2) ? `${random.pick(slowPoints)}=delay:20` : ''
  const server = await scene.start(['--ack', ack], { CAIRN_FAILPOINTS: slow })
  scene.check()
  const clients = scene.work(server, { ack })
  // A few live long enough for housekeeping, such as column segments.
  const isLong = random.chance(0.05)
  await Bun.sleep(isLong ? random.between(2_000, 4_000) : random.between(0, longestMs))
  await scene.kill(server, clients)
}

async function killAtWork(
  random: SeededRandom,
  found: Findings,
  { count, longestMs }: { count: number; longestMs: number },
): Promise<void> {
  for (let done = 0; done < count; ) {
    await using scene = await Scene.open(random, found)
    const end = Math.min(count, done + killsOfScene)
    for (; done < end; done++) {
      await live(scene, longestMs)
      progress(`${done + 1} of ${count} kills`)
    }
    const server = await scene.start()
    scene.check()
    await scene.checkProjections(server)
    if ((await server.end()) !== 0) found.contradictions.push('a stop did not end with status 0')
  }
}

async function killOperations(random: SeededRandom, found: Findings, times: number) {
  await using scene = await Scene.open(random, found)
  const entries: Entry[] = []
  for (const each of operations) {
    await using operation = await each(scene)
    progress(operation.what)
    entries.push(await interrupt(operation, times, random))
  }
  return entries
}

/** Kills the server under load, over and over, and each operation in the middle of its work. */
export async function kill({ isLong, seed }: Torture): Promise<Ledger> {
  const form = isLong ? 'long' : 'short'
  const random = new SeededRandom(`kill ${seed}`)
  const found = new Findings()
  await killAtWork(random, found, { count: kills[form], longestMs: lifeMs[form] })
  const entries = await killOperations(random, found, interruptions[form])
  return {
    title: `Killed ${kills[form]} times at work`,
    entries: [...found.entries(isLong), ...entries],
  }
}
