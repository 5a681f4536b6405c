/**
 * The state of this node among the others. A server alone leaves it as it is made: it may answer for ever, and
 * counts as one node. Moments are by the monotonic clock.
 */
export class NodeState {
  /** Until when it may answer from what it knows of the catalogue. */
  answersUntil = Number.POSITIVE_INFINITY
  /** Until when its lease runs. */
  leasedUntil = 0
  /** How many nodes are running, this one included. */
  nodes = 1
  /** The last change of the catalogue that it knows about. */
  tookUp = 0
  /** When it last found that it knows all changes. */
  followedAt = 0
  /** How many connections the database's server has, whoever's they are. */
  connections = 0
  /** How large the database was when it was last measured; null before that. */
  databaseBytes: number | null = null
  /** How far this machine's clock is ahead of PostgreSQL's, milliseconds; null if nobody has looked. */
  clockAhead: number | null = null
}
