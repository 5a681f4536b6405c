import { SeededRandom } from '../../src/cli/demo/random.ts'
import { progress } from '../report/progress.ts'
import { fakeTimeLibrary } from '../support/fake-clock.ts'
import { backup } from './faults/backup.ts'
import { clock } from './faults/clock.ts'
import { cluster, missingForCluster } from './faults/cluster.ts'
import { disk } from './faults/disk.ts'
import { failpoints } from './faults/failpoints.ts'
import { hostile } from './faults/hostile.ts'
import { kill } from './faults/kill.ts'
import { overload } from './faults/overload.ts'
import { poison } from './faults/poison.ts'
import { retention } from './faults/retention.ts'
import { powercut } from './power/powercut.ts'
import { missingForPowercut } from './power/recorder.ts'
import { Site } from './site.ts'
import { canTrace } from './tools/faulty-calls.ts'
import { canMount } from './tools/small-disk.ts'
import type { Check } from './verdict.ts'

/** Something that is done to a server or its machine while the load goes on. */
interface Fault {
  /** What happens, in half a sentence. */
  what: string
  /** What it needs and this machine does not have; null if it can be tried. */
  missing?(): string | null
  /** How often it is repeated in the long form, each time from nothing. */
  longRounds: number
  /** Ends with the verdict: what is stored, compared with the journals. */
  run(random: SeededRandom, isLong: boolean): Promise<Check[]>
}

/** On a new site. */
const onSite =
  (run: (site: Site, isLong: boolean) => Promise<Check[]>) =>
  async (random: SeededRandom, isLong: boolean) => {
    await using site = await Site.open(random)
    return await run(site, isLong)
  }

const missingForDisk = () => {
  if (!canTrace()) return 'strace, and root, to make system calls fail'
  return canMount() ? null : 'to mount a tmpfs'
}

const missingClock = () => (fakeTimeLibrary() === null ? 'libfaketime (Debian: faketime)' : null)

/** All faults, in this order. */
export const faults: Record<string, Fault> = {
  kill: {
    what: 'killed at random moments at work, in publications and in operations',
    longRounds: 20,
    run: onSite(kill),
  },
  disk: {
    what: 'a disk that is full, read-only, failing, slow or gone',
    longRounds: 10,
    missing: missingForDisk,
    run: onSite(disk),
  },
  poison: {
    what: 'rows that the database rejects, among others',
    longRounds: 1,
    run: onSite(poison),
  },
  overload: { what: 'far more load than storage takes', longRounds: 3, run: onSite(overload) },
  hostile: {
    what: 'slow, half-closed, huge and made-up requests, while others are served',
    longRounds: 1,
    run: onSite(hostile),
  },
  clock: {
    what: 'the wall clock is set by hours and by a second, at work and in a start',
    longRounds: 1,
    missing: missingClock,
    run: onSite(clock),
  },
  retention: {
    what: 'old events are deleted while new ones come, with a kill in the middle',
    longRounds: 2,
    run: onSite(retention),
  },
  backup: {
    what: 'backups and restores killed at random moments',
    longRounds: 4,
    run: onSite(backup),
  },
  failpoints: {
    what: 'made to fail at each moment of a write, a checkpoint, a publication, a start, …',
    longRounds: 1,
    run: onSite(failpoints),
  },
  powercut: {
    what: 'the power goes, and the disk keeps what was synced, or parts of the rest',
    longRounds: 1,
    missing: missingForPowercut,
    run: powercut,
  },
  cluster: {
    what: 'nodes over PostgreSQL: killed, stopped, cut off, also in the middle of a commit',
    longRounds: 1,
    missing: missingForCluster,
    run: cluster,
  },
}

/** Tries a fault as often as the form asks. A check that failed in an earlier round stays. */
export async function tried(name: string, isLong: boolean, seed: number): Promise<Check[]> {
  const { longRounds, run } = faults[name]!
  const rounds = isLong ? longRounds : 1
  let all: Check[] = []
  for (let round = 0; round < rounds; round++) {
    const checks = await run(new SeededRandom(`${name} ${seed} ${round}`), isLong)
    all = checks.map((check, i) => (all[i]?.isOk === false ? all[i] : check))
    if (rounds > 1) progress(`${name}: ${round + 1} of ${rounds} rounds`)
  }
  return all
}
