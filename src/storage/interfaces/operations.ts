import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'

/** A report that the database refused. */
export interface DeadLetter {
  id: number
  /** The organisation's, `org_…`. */
  organisation: string
  /** When it was received, epoch milliseconds. */
  receivedAt: number
  /** Null if it is not an event. */
  eventId: string | null
  kind: string
  /** The database's error. */
  reason: string
}

/**
 * `refused`: the database still refuses it, or its person is being erased. `duplicate`: it was sent again
 * and stored meanwhile.
 */
export const retryVerdicts = ['stored', 'duplicate', 'refused'] as const
export type RetryVerdict = (typeof retryVerdicts)[number]

/** The result of a dead letter that was retried. */
export interface Retried {
  id: number
  verdict: RetryVerdict
}

/** How far a rebuild has got. */
export interface RebuildProgress {
  /** Key of the flow that was just finished. */
  flow: string
  flows: number
  flowsDone: number
  events: number
}

/** `changed`: flows whose numbers did not match their events. */
export interface Rebuilt {
  flows: number
  events: number
  changed: number
}

/** How large the database was, and is. */
export interface Compacted {
  bytesBefore: number
  bytesAfter: number
}

/** One of the servers that share a database. */
export interface NodeSeen {
  /** For people: host and port. */
  name: string
  release: string
  /** By its own clock, epoch milliseconds. */
  startedAt: number
  /** Whether the others rely on it. It gives a sign of life every few seconds, unless it is gone or cut off. */
  isLeased: boolean
  /** Milliseconds since its last sign of life. */
  silentMs: number
  /** The newest change to what management stores that all parts of the node know of. */
  change: number
  /** What it currently does alone for all nodes. */
  jobs: readonly string[]
}

export interface NodesSeen {
  /** The newest change that there is. */
  change: number
  /** By name; nodes that shut down in an orderly way are left out. */
  nodes: readonly NodeSeen[]
}

/** Who did something to the database. Storage adds the result. */
export type OperationAudit = Omit<AuditEntry, 'before' | 'after'>

/** What the operator's tasks need from storage. */
export interface OperationsStore {
  /**
   * Dead letters, oldest first, at most `most` of them, and how many there are in all.
   *
   * @param orgRef only those of one organisation; null for all
   */
  deadLetters(
    orgRef: OrganisationRef | null,
    most: number,
  ): Promise<{ letters: readonly DeadLetter[]; count: number }>
  /** The ids of all dead letters with their organisations, oldest first. */
  deadLetterIds(
    orgRef: OrganisationRef | null,
  ): Promise<readonly { id: number; orgRef: OrganisationRef }[]>
  /** Retries some of one organisation's letters, in one transaction. Those that no longer exist are left out. */
  retryDeadLetters(
    orgRef: OrganisationRef,
    ids: readonly number[],
    audit: OperationAudit,
  ): Promise<readonly Retried[]>
  /** Deletes some of one organisation's letters, in one transaction. Returns how many there were. */
  dropDeadLetters(
    orgRef: OrganisationRef,
    ids: readonly number[],
    audit: OperationAudit,
  ): Promise<number>
  /** The servers that share the database; null if only one server has it. */
  nodes(): Promise<NodesSeen | null>
  /**
   * Rebuilds all projections from the ledger, while others go on writing.
   *
   * @param audit becomes a line for each organisation that has flows, once everything is done
   * @throws AppError `rewriting_under_way`
   */
  rebuild(audit: OperationAudit, tell: (progress: RebuildProgress) => void): Promise<Rebuilt>
  /**
   * Rewrites the database, as small as it can be.
   *
   * @param audit becomes a line for each organisation, once it is done
   * @throws AppError `server_running`, `no_room`
   */
  compact(audit: OperationAudit): Promise<Compacted>
}

/** Per second, between two looks at the server. */
export interface OrganisationRates {
  slug: string
  requests: number
  limited: number
  accepted: number
  duplicates: number
  rejected: number
}

/** How often something was counted: since the server began, and per second between two looks. */
export interface Counted {
  total: number
  perSecond: number
}

/** What a running server knows about itself. Times are epoch milliseconds. */
export interface ServerFigures {
  version: string
  commit: string
  startedAt: number
  /** Why it is not ready for traffic; empty if it is. */
  notReady: string[]
  warnings: string[]
  /** The time span of all rates and quantiles. */
  overSeconds: number
  /** Whether it is a node, which shares its database with others. */
  isShared: boolean
  requests: Counted
  /** By status; only answers with 400 and above. */
  refusals: (Counted & { status: number })[]
  /** By bucket; only those whose limit was reached. */
  limits: (Counted & { bucket: string })[]
  /** Null if limits are counted in memory. */
  limitsServer: { isAway: boolean; decidedAlone: number } | null
  /** Upper bounds; null if nothing was answered, and infinite beyond the last bound. */
  answers: { p50Seconds: number | null; p99Seconds: number | null }
  /** Events by verdict. */
  events: (Counted & { verdict: string })[]
  commits: Counted & { p50Seconds: number | null; p99Seconds: number | null }
  queue: {
    events: number
    limitEvents: number
    bytes: number
    limitBytes: number
    isRefusing: boolean
  }
  /** Null if the file system does not say. */
  disk: {
    databaseBytes: number | null
    logBytes: number | null
    freeBytes: number | null
  }
  process: {
    cores: number
    memoryBytes: number
    openFiles: number | null
    mostFiles: number | null
  }
  backups: {
    /** 0 if none are scheduled. */
    everySeconds: number
    overdueSeconds: number
    nextAt: number | null
    last: { at: number; bytes: number; durationSeconds: number | null } | null
    failures: number
    isFailing: boolean
  }
  retention: { days: number; deletedEvents: number; oldestEventAt: number | null }
  /** Busiest first; silent ones are left out. */
  organisations: OrganisationRates[]
}

/** Reports how the server of this process is doing. */
export interface ServerWatch {
  look(): Promise<ServerFigures>
}
