/** What a pool is for. Each purpose has its own pool, so that nothing quick waits behind something slow. */
export interface PoolOptions {
  /** The most connections. Statements on one connection wait for each other. */
  most: number
  /**
   * How long an answer may take, milliseconds. The server ends a statement that takes longer. If it fails to do
   * even that, all connections are closed, and whatever was under way may or may not have been done.
   */
  answersWithinMs?: number
  /**
   * How long a transaction may wait for its node, milliseconds. A node that is stopped in the middle of one
   * holds up all others until the server ends the transaction.
   */
  continuesWithinMs?: number
  /**
   * Plans each statement for its own values, which takes some tenths of a millisecond; for lists and long reads.
   * A plan for any values assumes an average organisation, and would sort all remaining rows of a large one for
   * each page.
   */
  plansAnew?: boolean
  /**
   * Makes every statement find rows by key and in key order. Otherwise a plan made while a table is new, as each
   * day's table of events is, scans and sorts the whole table until PostgreSQL has analysed it. That takes
   * minutes, in which one page of a download takes as long as all of it.
   */
  readsByKeys?: boolean
  /** For work that occupies a connection for long: others queue for a free one, and not behind that work. */
  isInTurns?: boolean
  /** Makes the error that callers get while the database is down; without it, they get the error itself. */
  whileAway?(cause: unknown): Error
}

/** The pools of a node's storage thread. */
export const storagePools = {
  /** Groups of events and reports. */
  writing: { most: 2, answersWithinMs: 5_000, continuesWithinMs: 5_000, readsByKeys: true },
  /** Changes by management, and periodic work. */
  changes: {
    ...{ most: 2, answersWithinMs: 5_000, continuesWithinMs: 5_000 },
    ...{ readsByKeys: true, isInTurns: true },
  },
  /** The node's lease, changes by others, and the outcome of commits: they wait behind nothing else. */
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
  /** For all that is stored of one person. No index leads to it, so all events of the organisation are read. */
  people: { most: 1, answersWithinMs: 240_000, readsByKeys: true, isInTurns: true },
} satisfies Record<string, PoolOptions>

const connectionsOf = (pools: Readonly<Record<string, PoolOptions>>) =>
  Object.values(pools).reduce((sum, { most }) => sum + most, 0)

/** The most connections of a node. Each of its HTTP threads reads, and so does the thread for alerts. */
export const mostConnectionsOfNode = (httpThreads: number) =>
  connectionsOf(storagePools) + (httpThreads + 1) * connectionsOf(readingPools)

/** How the server is to treat the statements of a pool. */
export const settingsOf = (options: PoolOptions): Record<string, string> => {
  const { answersWithinMs, continuesWithinMs, plansAnew, readsByKeys } = options
  return {
    // Compiling a plan takes longer than it would save on any statement here.
    jit: 'off',
    ...(answersWithinMs && { statement_timeout: `${answersWithinMs}` }),
    ...(continuesWithinMs && { idle_in_transaction_session_timeout: `${continuesWithinMs}` }),
    // Statements that are not prepared are planned anew anyway.
    ...(plansAnew && { plan_cache_mode: 'force_custom_plan' }),
    ...(readsByKeys && { enable_seqscan: 'off', enable_bitmapscan: 'off', enable_sort: 'off' }),
  }
}
