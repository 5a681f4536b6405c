/** How much is put into one measurement. */
export interface Effort {
  rounds: number
  /** Of load in a round. */
  seconds: number
  /** Of load before it, that is not counted. */
  warmSeconds: number
}

export const usualEffort: Effort = { rounds: 3, seconds: 5, warmSeconds: 2 }

/** Tells whether it works, and little more. */
export const quickEffort: Effort = { rounds: 1, seconds: 1, warmSeconds: 1 }
