/** What a pool is for: each has its own, so that nothing quick waits behind something slow. */
export interface PoolOptions {
  /** Connections at most. Statements of one connection wait for each other. */
  most: number
  /**
   * How long an answer may take, milliseconds. The server ends a statement that takes longer; where it does not
   * even do that, all connections are closed, and what was under way may have been done or not.
   */
  answersWithinMs?: number
  /**
   * How long a transaction may wait for its node, milliseconds: one that was stopped in the middle of it holds
   * up all others until the server takes it back.
   */
  continuesWithinMs?: number
  /**
   * Has each statement planned for its values, which takes some tenths of a millisecond: for lists and
   * long reads. A plan for any values takes an organisation for an average one, and would sort all that is
   * left of a large one's rows for each page.
   */
  plansAnew?: boolean
  /**
   * Has everything found by keys, and in their order. A plan that is made while a table is new, as is each day's
   * of events, goes through all of it and sorts what it finds, until PostgreSQL has looked at the table: minutes
   * later, in which a page of a download takes as long as all of it.
   */
  readsByKeys?: boolean
  /** What takes a connection for long: others wait for one in turn, and not behind it. */
  isInTurns?: boolean
  /** What is told to whoever asks while the database is away; else the error itself. */
  whileAway?(cause: unknown): Error
}

/** The pools of a node's storage thread. */
export const storagePools = {
  /** Groups of events and reports. */
  writing: { most: 2, answersWithinMs: 5_000, continuesWithinMs: 5_000, readsByKeys: true },
  /** What management changes, and what follows from time to time. */
  changes: {
    ...{ most: 2, answersWithinMs: 5_000, continuesWithinMs: 5_000 },
    ...{ readsByKeys: true, isInTurns: true },
  },
  /** The node's lease, what others have changed, and what became of a commit: they wait for nobody. */
  following: { most: 2, answersWithinMs: 5_000 },
  /** See `LongWorkParts`. */
  longWork: { most: 3, answersWithinMs: 600_000, readsByKeys: true },
} satisfies Record<string, PoolOptions>

/** The pools of a thread that answers requests. */
export const readingPools = {
  /** For requests that somebody waits for. */
  requests: { most: 4, answersWithinMs: 8_000, readsByKeys: true },
  /** For analytics and downloads. */
  analytics: {
    ...{ most: 2, answersWithinMs: 10_000 },
    ...{ plansAnew: true, readsByKeys: true, isInTurns: true },
  },
  /** For all that is stored of one person: no index leads to it, so all of an organisation's events are read. */
  people: { most: 1, answersWithinMs: 240_000, readsByKeys: true, isInTurns: true },
} satisfies Record<string, PoolOptions>

const connectionsOf = (pools: Readonly<Record<string, PoolOptions>>) =>
  Object.values(pools).reduce((sum, { most }) => sum + most, 0)

/** How many connections a node has at most: each of its threads for HTTP reads, and the one for alerts does. */
export const mostConnectionsOfNode = (httpThreads: number) =>
  connectionsOf(storagePools) + (httpThreads + 1) * connectionsOf(readingPools)

/** How the server is to treat the statements of a pool. */
export const settingsOf = (options: PoolOptions): Record<string, string> => {
  const { answersWithinMs, continuesWithinMs, plansAnew, readsByKeys } = options
  return {
    // To compile a plan takes longer than anything here that it would make quicker.
    jit: 'off',
    ...(answersWithinMs && { statement_timeout: `${answersWithinMs}` }),
    ...(continuesWithinMs && { idle_in_transaction_session_timeout: `${continuesWithinMs}` }),
    // What is not prepared is planned anew.
    ...(plansAnew && { plan_cache_mode: 'force_custom_plan' }),
    ...(readsByKeys && { enable_seqscan: 'off', enable_bitmapscan: 'off', enable_sort: 'off' }),
  }
}
