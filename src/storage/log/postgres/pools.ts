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
}

/** The pools of a node. */
export const pools = {
  /** The one transaction that appends to the log. */
  writing: { most: 1, answersWithinMs: 5_000, continuesWithinMs: 5_000 },
  /** What others have appended, the node's lease, and the outcome of commits: they wait behind nothing else. */
  following: { most: 3, answersWithinMs: 5_000 },
  /** Snapshots, and what is overwritten or deleted in the log. */
  longWork: { most: 1, answersWithinMs: 60_000 },
} satisfies Record<string, PoolOptions>

/** How the server is to treat the statements of a pool. */
export const settingsOf = ({
  answersWithinMs,
  continuesWithinMs,
}: PoolOptions): Record<string, string> => ({
  // Compiling a plan takes longer than it would save on any statement here.
  jit: 'off',
  ...(answersWithinMs && { statement_timeout: `${answersWithinMs}` }),
  ...(continuesWithinMs && { idle_in_transaction_session_timeout: `${continuesWithinMs}` }),
})
