import { SeededRandom } from '../../../src/cli/demo/random.ts'
import { progress } from '../../report/progress.ts'
import { Findings } from '../findings.ts'
import type { Ledger, Torture } from '../ledger.ts'
import { Scene } from '../scene.ts'

/** How often the server is killed at work; data of its own for so many, to be read whole after each. */
const kills = { short: 20, long: 1_000 }
const killsOfScene = 100

/** One life of the server: started, checked, put to work, killed at some moment. */
async function live(scene: Scene): Promise<void> {
  const { random } = scene
  const ack = random.chance(0.2) ? 'buffer' : 'commit'
  const server = await scene.start(['--ack', ack])
  scene.check()
  const clients = scene.work(server, { ack })
  // A few live long enough for housekeeping, such as blocks of runs.
  await Bun.sleep(random.chance(0.05) ? random.between(2_000, 4_000) : random.between(0, 400))
  await scene.kill(server, clients)
}

/** Kills the server under load, over and over, and each command in the middle of its work. */
export async function kill({ isLong, seed }: Torture): Promise<Ledger> {
  const random = new SeededRandom(`kill ${seed}`)
  const found = new Findings()
  const count = isLong ? kills.long : kills.short
  for (let done = 0; done < count; ) {
    await using scene = await Scene.open(random, found)
    const end = Math.min(count, done + killsOfScene)
    for (; done < end; done++) {
      await live(scene)
      progress(`${done + 1} of ${count} kills`)
    }
    const server = await scene.start()
    scene.check()
    await scene.checkProjections(server)
    if ((await server.end()) !== 0) found.contradictions.push('a stop did not end with status 0')
  }
  return {
    title: `Killed ${count} times at work`,
    entries: found.entries(isLong),
  }
}
