/** How much is put into one measurement. */
export interface Effort {
  rounds: number
  /** Length of the load in a round. */
  seconds: number
  /** Length of the load before it, which is not counted. */
  warmSeconds: number
  /** Runs of each of the two flows of the stored history, at ten events a run; see history.ts. */
  storedRuns: number
  /** Requests for one percentile of slow answers, and how long they may take together. */
  questions: number
  questionSeconds: number
  /** How many organisations a part uses that needs many; growth makes ten runs for each. */
  mostOrganisations: number
}

export const usualEffort: Effort = {
  rounds: 3,
  seconds: 3,
  warmSeconds: 1,
  storedRuns: 1_000_000,
  questions: 300,
  questionSeconds: 15,
  mostOrganisations: 10_000,
}

/** Shows whether the bench works, and little more. */
export const quickEffort: Effort = {
  rounds: 1,
  seconds: 1,
  warmSeconds: 1,
  storedRuns: 10_000,
  questions: 20,
  questionSeconds: 2,
  mostOrganisations: 1_000,
}
