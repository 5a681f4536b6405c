import type { Ledger, Torture } from './ledger.ts'
import { backup } from './parts/backup.ts'
import { clocks } from './parts/clocks.ts'
import { litestream } from './parts/litestream.ts'
import { powercut } from './parts/powercut.ts'

/** A part of the kit. */
interface Part {
  /** What is done to the server, in half a sentence. */
  what: string
  torture(options: Torture): Promise<Ledger>
  /** How long it takes on two cores that are its own, seconds. */
  seconds: { short: number; long: number }
}

/** What is tried, in this order. */
export const parts: Record<string, Part> = {
  powercut: {
    what: 'the power goes, and the disk keeps what was synced, or parts of the rest',
    torture: powercut,
    seconds: { short: 15, long: 300 },
  },
  clocks: {
    what: 'the wall clock is set by hours and a leap second, and days have 23 to 25 hours',
    torture: clocks,
    seconds: { short: 15, long: 360 },
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
}

export const partNames = Object.keys(parts)
