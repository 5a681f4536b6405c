import type { Ledger, Torture } from './ledger.ts'
import { hostile } from './parts/hostile.ts'
import { soak } from './parts/soak.ts'

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
  hostile: {
    what: 'slow, huge, malformed, half-closed and made-up requests, while others are served',
    torture: hostile,
    seconds: { short: 20, long: 400 },
  },
  soak: {
    what: 'half load, with everything that Cairn does beside it',
    torture: soak,
    seconds: { short: 15, long: 1_900 },
  },
}

export const partNames = Object.keys(parts)
