import type { Ledger, Torture } from './ledger.ts'
import { backup } from './parts/backup.ts'
import { clocks } from './parts/clocks.ts'
import { cluster } from './parts/cluster.ts'
import { disk } from './parts/disk.ts'
import { failpoints } from './parts/failpoints.ts'
import { hostile } from './parts/hostile.ts'
import { kill } from './parts/kill.ts'
import { litestream } from './parts/litestream.ts'
import { poison } from './parts/poison.ts'
import { powercut } from './parts/powercut.ts'
import { pressure } from './parts/pressure.ts'
import { publish } from './parts/publish.ts'
import { retention } from './parts/retention.ts'
import { soak } from './parts/soak.ts'

/** A part of the kit. */
interface Part {
  /** What happens to the server, in half a sentence. */
  what: string
  torture(options: Torture): Promise<Ledger>
  /** How long it takes on two cores of its own, seconds. */
  seconds: { short: number; long: number }
}

/** What is tried, in this order. */
export const parts: Record<string, Part> = {
  kill: {
    what: 'killed at random moments at work, and in every operation',
    torture: kill,
    seconds: { short: 20, long: 1_200 },
  },
  failpoints: {
    what: 'made to fail at every moment of a write, a checkpoint, a publication and a start',
    torture: failpoints,
    seconds: { short: 15, long: 40 },
  },
  publish: {
    what: 'killed while flows are published, over HTTP and through the socket',
    torture: publish,
    seconds: { short: 10, long: 300 },
  },
  powercut: {
    what: 'the power goes, and the disk keeps what was synced, or parts of the rest',
    torture: powercut,
    seconds: { short: 15, long: 300 },
  },
  disk: {
    what: 'a disk that is full, read-only, faulty, slow or gone',
    torture: disk,
    seconds: { short: 20, long: 1_200 },
  },
  poison: {
    what: 'rows that the database refuses, in the midst of others',
    torture: poison,
    seconds: { short: 10, long: 60 },
  },
  pressure: {
    what: 'ten times the load that storage takes',
    torture: pressure,
    seconds: { short: 15, long: 60 },
  },
  clocks: {
    what: 'the wall clock is set by hours and a leap second, and days have 23 to 25 hours',
    torture: clocks,
    seconds: { short: 15, long: 360 },
  },
  retention: {
    what: 'old events go while new ones come, with a kill in the middle',
    torture: retention,
    seconds: { short: 10, long: 600 },
  },
  backup: {
    what: 'backups and restores killed at random moments and at each call of theirs',
    torture: backup,
    seconds: { short: 15, long: 900 },
  },
  litestream: {
    what: 'killed together with Litestream, which replicates it, and restored',
    torture: litestream,
    seconds: { short: 15, long: 700 },
  },
  hostile: {
    what: 'slow, huge, half-closed and made-up requests, while others are served',
    torture: hostile,
    seconds: { short: 20, long: 400 },
  },
  cluster: {
    what: 'nodes over PostgreSQL: killed, stopped, cut off, also in the middle of a commit',
    torture: cluster,
    seconds: { short: 130, long: 2_300 },
  },
  soak: {
    what: 'half load, with everything that Cairn does beside it',
    torture: soak,
    seconds: { short: 15, long: 1_900 },
  },
}

export const partNames = Object.keys(parts)
