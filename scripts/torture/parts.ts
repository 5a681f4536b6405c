import { SeededRandom } from '../../src/cli/demo/random.ts'
import { progress } from '../report/progress.ts'
import { cluster } from './cluster.ts'
import { failpoints } from './failpoints.ts'
import { backup } from './faults/backup.ts'
import { clock } from './faults/clock.ts'
import { disk } from './faults/disk.ts'
import type { Fault } from './faults/fault.ts'
import { hostile } from './faults/hostile.ts'
import { kill } from './faults/kill.ts'
import { litestream } from './faults/litestream.ts'
import { overload } from './faults/overload.ts'
import { poison } from './faults/poison.ts'
import { retention } from './faults/retention.ts'
import { soak } from './faults/soak.ts'
import { powercut } from './power/powercut.ts'
import type { Options, Result } from './result.ts'
import { Site } from './site.ts'

export interface Part {
  what: string
  /** What it needs and this machine does not have; null if it can be tried. */
  missing?(): string | null
  run(options: Options): Promise<Result>
}

/** What is done to a server under load. */
export const faults: Record<string, Fault> = {
  kill,
  disk,
  poison,
  overload,
  hostile,
  clock,
  retention,
  backup,
  litestream,
  soak,
}

/** Does it to a new site in each round, then compares what is stored with what was acknowledged. */
const partOf = (name: string, { what, missing, longRounds, run }: Fault): Part => ({
  what,
  ...(missing && { missing }),
  async run({ isLong, seed }) {
    const result = { title: what, checks: [] as Result['checks'] }
    for (let round = 0; round < (isLong ? longRounds : 1); round++) {
      await using site = await Site.open(new SeededRandom(`${name} ${seed} ${round}`))
      const checks = await run(site, isLong)
      // A failed check of an earlier round stays.
      result.checks = checks.map((check, i) =>
        result.checks[i]?.isOk === false ? result.checks[i] : check,
      )
      if (isLong) progress(`${name}: ${round + 1} of ${longRounds} rounds`)
    }
    return result
  },
})

/** All parts of the kit, in this order. */
export const parts: Record<string, Part> = {
  ...Object.fromEntries(Object.entries(faults).map(([name, fault]) => [name, partOf(name, fault)])),
  failpoints,
  powercut,
  cluster,
}
