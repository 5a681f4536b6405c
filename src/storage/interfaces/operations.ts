import { type StaticDecode, type TSchema, Type } from '@sinclair/typebox'
import type { AuditEntry } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { Count, Instant, InstantOrNull, OneOf, OrganisationId, OrNull } from '../../core/shapes.ts'

export const DeadLetterId = Type.Integer({ minimum: 1, examples: [17] })

/** A report that the database rejected. */
export const DeadLetter = Type.Object({
  id: DeadLetterId,
  organisation: OrganisationId,
  eventId: OrNull(Type.String(), 'ID of the event. Null for a report that came alone.'),
  kind: Type.String({ examples: ['step_viewed'] }),
  reason: Type.String({ description: 'Error of the database.' }),
  receivedAt: Instant('When it was received.'),
})
export type DeadLetter = StaticDecode<typeof DeadLetter>

/**
 * `refused`: the database still rejects it, or its person is being erased. `duplicate`: it was sent again
 * and stored meanwhile.
 */
export const retryVerdicts = ['stored', 'duplicate', 'refused'] as const
export type RetryVerdict = (typeof retryVerdicts)[number]

/** The result of a dead letter that was retried. */
export const Retried = Type.Object({ id: DeadLetterId, verdict: OneOf(retryVerdicts) })
export type Retried = StaticDecode<typeof Retried>

/** How far a rebuild has got. */
export interface RebuildProgress {
  /** Key of the flow that was just finished. */
  flow: string
  flows: number
  flowsDone: number
  events: number
}

export const Rebuilt = Type.Object(
  {
    flows: Count('Flows, of all organisations.', 12),
    events: Count('Events that the results were computed from.', 4_000),
    changed: Count('Flows whose results did not match their events.', 0),
  },
  { title: 'Rebuilt' },
)
export type Rebuilt = StaticDecode<typeof Rebuilt>

export const Compacted = Type.Object(
  {
    bytesBefore: Count('Size of the database before.', 5_300_000),
    bytesAfter: Count('Size of the database after.', 410_000),
  },
  { title: 'Compacted' },
)
export type Compacted = StaticDecode<typeof Compacted>

/** One of the servers that share a database. */
const Node = Type.Object({
  name: Type.String({ description: 'Host and port.', examples: ['cairn-1:8080'] }),
  release: Type.String({ examples: ['1.0.0'] }),
  startedAt: Instant('When it started, by its own clock.'),
  state: OneOf(['running', 'behind', 'silent', 'gone'], {
    description:
      '`behind`: running, but does not have the last change yet, which takes moments after each change. `silent`: has missed its sign of life, because it lost the database, hangs or was killed. `gone`: silent for over a minute.',
  }),
  silentSeconds: Type.Number({
    minimum: 0,
    description: 'Time since its last sign of life, which it gives every few seconds.',
    examples: [2.1],
  }),
  change: Count('Number of the last change that all parts of the node have.', 1_042),
  jobs: Type.Array(Type.String(), {
    description: 'Jobs that only one node does at a time, and that this one does now.',
    examples: [['retention']],
  }),
})
export type Node = StaticDecode<typeof Node>

export const NodeList = Type.Object(
  {
    isShared: Type.Boolean({
      description: 'Whether servers share the database. If not, there are no nodes.',
    }),
    change: Count('Number of the last change to what management stores.', 1_042),
    nodes: Type.Array(Node, { description: 'By name, without those that were shut down.' }),
  },
  { title: 'NodeList' },
)
export type NodeList = StaticDecode<typeof NodeList>

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
  ): Promise<{ letters: DeadLetter[]; count: number }>
  /** The ids of all dead letters with their organisations, oldest first. */
  deadLetterIds(
    orgRef: OrganisationRef | null,
  ): Promise<readonly { id: number; orgRef: OrganisationRef }[]>
  /** Retries some of one organisation's letters, in one transaction. Those that no longer exist are left out. */
  retryDeadLetters(
    orgRef: OrganisationRef,
    ids: readonly number[],
    audit: OperationAudit,
  ): Promise<Retried[]>
  /** Deletes some of one organisation's letters, in one transaction. Returns how many there were. */
  dropDeadLetters(
    orgRef: OrganisationRef,
    ids: readonly number[],
    audit: OperationAudit,
  ): Promise<number>
  /** The servers that share the database, if any do. */
  nodes(): Promise<NodeList>
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

const Amount = (description: string, example: number) =>
  Type.Number({ minimum: 0, description, examples: [example] })

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const Seconds = (description: string, example: number) => Amount(`${description} Seconds.`, example)

const Bytes = (description: string) => orNull(Count(description, 5_300_000))

/** What a running server knows about itself. */
export const ServerFigures = Type.Object(
  {
    version: Type.String({ examples: ['1.0.0'] }),
    startedAt: Instant('When the server started.'),
    notReady: Type.Array(Type.String(), {
      description: 'Why the server is not ready for traffic. Empty if it is.',
      examples: [[]],
    }),
    warnings: Type.Array(Type.String(), {
      description: 'Problems although the server is ready, such as an unreachable database.',
      examples: [[]],
    }),
    isShared: Type.Boolean({
      description: 'Whether the server is a node, one of several that can share a database.',
      examples: [false],
    }),
    limitsServer: orNull(
      Type.Object(
        { isAway: Type.Boolean({ description: 'Whether the server is unreachable.' }) },
        {
          description:
            'Valkey or Redis server that counts requests. Null if they are counted in memory.',
        },
      ),
    ),
    disk: Type.Object({
      databaseBytes: Bytes('Size of the database.'),
      freeBytes: Bytes('Free space on the disk of the data directory.'),
    }),
    backups: Type.Object({
      everySeconds: Seconds('Backup interval. 0 for never.', 86_400),
      overdueSeconds: Seconds('Time since a backup was due.', 0),
      nextAt: InstantOrNull('When the next backup is due.'),
      last: orNull(
        Type.Object({
          at: Instant('When the newest backup began.'),
          bytes: Count('Size of the backup.', 5_300_000),
        }),
      ),
      isFailing: Type.Boolean({ description: 'Whether the latest backup failed.' }),
    }),
  },
  { title: 'Server' },
)
export type ServerFigures = StaticDecode<typeof ServerFigures>
