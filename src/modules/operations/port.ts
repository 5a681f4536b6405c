import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'

/** What the database refused. */
export interface DeadLetter {
  id: number
  /** The organisation's, `org_…`. */
  organisation: string
  /** When it was received, epoch milliseconds. */
  receivedAt: number
  /** Null for what is no event. */
  eventId: string | null
  kind: string
  /** What the database said. */
  reason: string
}

/**
 * `refused`: the database would not take it now either, or it is of somebody who is being erased. A
 * `duplicate` was sent again meanwhile, and stored.
 */
export const retryVerdicts = ['stored', 'duplicate', 'refused'] as const
export type RetryVerdict = (typeof retryVerdicts)[number]

/** What became of a letter that was tried again. */
export interface Retried {
  id: number
  verdict: RetryVerdict
}

/** How far a rebuild has come. */
export interface RebuildProgress {
  /** Key of the flow that was just done. */
  flow: string
  flows: number
  flowsDone: number
  events: number
}

/** `changed`: flows whose numbers were not as the events say. */
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
  /** Whether others count on it: it gives a word every few seconds, unless it is gone, or cut off. */
  isLeased: boolean
  /** Since its last word. */
  silentMs: number
  /** The last change of what management keeps that all of it knows of. */
  change: number
  /** What it alone does of all nodes. */
  jobs: readonly string[]
}

export interface NodesSeen {
  /** The last change that there is. */
  change: number
  /** By name; those that ended in an orderly way are left out. */
  nodes: readonly NodeSeen[]
}

/** Who did something to the database; storage adds what became of it. */
export type OperationAudit = Omit<AuditEntry, 'before' | 'after'>

/** What the operator asks of storage. */
export interface OperationsStore {
  /**
   * Dead letters, the oldest first; at most so many, and how many there are.
   *
   * @param orgRef those of one organisation; null for all
   */
  deadLetters(
    orgRef: OrganisationRef | null,
    most: number,
  ): Promise<{ letters: readonly DeadLetter[]; count: number }>
  /** The ids of all, with their organisations, the oldest first. */
  deadLetterIds(
    orgRef: OrganisationRef | null,
  ): Promise<readonly { id: number; orgRef: OrganisationRef }[]>
  /** Tries some of one organisation's letters, in one transaction. Those that are gone are left out. */
  retryDeadLetters(
    orgRef: OrganisationRef,
    ids: readonly number[],
    audit: OperationAudit,
  ): Promise<readonly Retried[]>
  /** Deletes some of one organisation's letters, in one transaction; how many there were. */
  dropDeadLetters(
    orgRef: OrganisationRef,
    ids: readonly number[],
    audit: OperationAudit,
  ): Promise<number>
  /** The servers that share the database; null where one alone has it. */
  nodes(): Promise<NodesSeen | null>
  /**
   * Makes all projections anew from the ledger, while others go on writing.
   *
   * @param audit a line of each organisation that has flows, once all of it is done
   * @throws AppError `rewriting_under_way`
   */
  rebuild(audit: OperationAudit, tell: (progress: RebuildProgress) => void): Promise<Rebuilt>
  /**
   * Writes the database anew, as small as it can be.
   *
   * @param audit a line of each organisation, once it is done
   * @throws AppError `server_running`, `unsupported_by_database`, `no_room`
   */
  compact(audit: OperationAudit): Promise<Compacted>
}

/** A second, between two looks at the server. */
export interface OrganisationRates {
  slug: string
  requests: number
  limited: number
  accepted: number
  duplicates: number
  rejected: number
}

/** How often something was counted: since the server began, and a second between two looks. */
export interface Counted {
  total: number
  perSecond: number
}

/** What a running server knows of itself. Times are epoch milliseconds. */
export interface ServerFigures {
  version: string
  commit: string
  startedAt: number
  /** Why it is not ready for traffic; empty where it is. */
  notReady: string[]
  /** The time that all rates and quantiles are over. */
  overSeconds: number
  /** Whether it is a node, whose database others share. */
  isShared: boolean
  requests: Counted
  /** By status; those of 400 and above that were answered. */
  refusals: (Counted & { status: number })[]
  /** By bucket; those whose limit was reached. */
  limits: (Counted & { bucket: string })[]
  /** Null where limits are counted in memory. */
  limitsServer: { isAway: boolean; decidedAlone: number } | null
  /** Upper bounds; null where nothing was answered, and infinite beyond the last bound. */
  answers: { p50Seconds: number | null; p99Seconds: number | null }
  /** Events by what became of them. */
  events: (Counted & { verdict: string })[]
  commits: Counted & { p50Seconds: number | null; p99Seconds: number | null }
  queue: {
    events: number
    limitEvents: number
    bytes: number
    limitBytes: number
    isRefusing: boolean
  }
  /** Null where the file system does not say. */
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
  threads: {
    configured: number
    restarts: number
    /** For how long each has not turned. */
    all: { name: string; silentSeconds: number }[]
  }
  backups: {
    /** 0 where none are scheduled. */
    everySeconds: number
    overdueSeconds: number
    nextAt: number | null
    last: { at: number; bytes: number; durationSeconds: number | null } | null
    failures: number
    isFailing: boolean
  }
  retention: { days: number; deletedEvents: number; oldestEventAt: number | null }
  /** The busiest first; silent ones are left out. */
  organisations: OrganisationRates[]
}

/** Tells how the server of this process is doing. */
export interface ServerWatch {
  look(): Promise<ServerFigures>
}
