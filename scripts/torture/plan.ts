import type { Ledger, Torture } from './ledger.ts'
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
    seconds: { short: 20, long: 600 },
  },
}

export const partNames = Object.keys(parts)
