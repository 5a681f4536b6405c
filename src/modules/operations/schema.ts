import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { closed } from '../../core/flow/values.ts'
import { Count, Instant, InstantOrNull, OneOf, OrganisationId, OrNull } from '../../core/shapes.ts'
import { retryVerdicts } from '../../storage/interfaces/operations.ts'

const LetterId = Type.Integer({ minimum: 1, examples: [17] })

export const DeadLetterList = Type.Object(
  {
    letters: Type.Array(
      Type.Object({
        id: LetterId,
        organisation: OrganisationId,
        eventId: OrNull(Type.String(), "The event's id; null for a report that came alone."),
        kind: Type.String({ examples: ['step_viewed'] }),
        reason: Type.String({ description: "The database's error." }),
        receivedAt: Instant('When it was received.'),
      }),
    ),
    count: Count('How many there are in all.', 1),
  },
  { title: 'DeadLetterList' },
)

export const RequestedLetters = closed({
  ids: Type.Optional(
    Type.Array(LetterId, { minItems: 1, maxItems: 1_000, description: 'Some of them.' }),
  ),
  all: Type.Optional(Type.Literal(true, { description: 'Select all instead of `ids`.' })),
})

export const RetriedLetters = Type.Object(
  {
    letters: Type.Array(Type.Object({ id: LetterId, verdict: OneOf(retryVerdicts) }), {
      description: 'The outcome for each. Those that are rejected again stay.',
    }),
  },
  { title: 'RetriedLetters' },
)

export const DroppedLetters = Type.Object(
  { dropped: Count('How many were deleted.', 2) },
  { title: 'DroppedLetters' },
)

/** The states of a node in `GET /manage/nodes`. */
const nodeStates = ['running', 'behind', 'silent', 'gone'] as const

export const NodeList = Type.Object(
  {
    isShared: Type.Boolean({
      description:
        'Whether servers share a database. Where one alone has its data, there is no node.',
    }),
    change: Count('Number of the last change of what management keeps.', 1_042),
    nodes: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Host and port.', examples: ['cairn-1:8080'] }),
        release: Type.String({ examples: ['1.0.0'] }),
        startedAt: Instant('When it began, by its own clock.'),
        state: OneOf(nodeStates, {
          description:
            'One that runs and has not taken up the last change yet is `behind`, for moments after each. One that has given no word in time is `silent`: it has lost the database, hangs or was killed; after a minute it is `gone`.',
        }),
        silentSeconds: Type.Number({
          minimum: 0,
          description: 'Since its last word, which it gives every few seconds.',
          examples: [2.1],
        }),
        change: Count('Number of the last change that all of it knows of.', 1_042),
        jobs: Type.Array(Type.String(), {
          description: 'What one node alone does at a time, and this one does now.',
          examples: [['retention']],
        }),
      }),
      { description: 'By name. One that ended in an orderly way is left out.' },
    ),
  },
  { title: 'NodeList' },
)
export type NodeList = Static<typeof NodeList>

export const Rebuilt = Type.Object(
  {
    flows: Count('Flows, of all organisations.', 12),
    events: Count('Events that they were computed from.', 4_000),
    changed: Count('Flows whose numbers were wrong before.', 0),
  },
  { title: 'Rebuilt' },
)

export const Compacted = Type.Object(
  {
    bytesBefore: Count('How large the database was.', 5_300_000),
    bytesAfter: Count('How large it is.', 410_000),
  },
  { title: 'Compacted' },
)

export type DeadLetterList = Static<typeof DeadLetterList>
export type RetriedLetters = Static<typeof RetriedLetters>

const Amount = (description: string, example: number) =>
  Type.Number({ minimum: 0, description, examples: [example] })

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const Seconds = (description: string, example: number) => Amount(`${description} Seconds.`, example)

const quantiles = {
  p50Seconds: orNull(
    Seconds(
      'Half took at most this; null where nothing was, or it took longer than is measured.',
      0.0005,
    ),
  ),
  p99Seconds: orNull(Seconds('99 of 100 took at most this; null likewise.', 0.005)),
}

const counted = {
  total: Count('Since the server began.', 4_000),
  perSecond: Amount('Per second, recently.', 12.5),
}

const Bytes = (description: string) => orNull(Count(description, 5_300_000))

export const Server = Type.Object(
  {
    version: Type.String({ examples: ['1.0.0'] }),
    commit: Type.String({ examples: ['0123abc'] }),
    startedAt: Instant('When the process began.'),
    notReady: Type.Array(Type.String(), {
      description: 'Why it is not ready for traffic; empty where it is.',
      examples: [[]],
    }),
    warnings: Type.Array(Type.String(), {
      description: 'What is wrong although it is ready, such as a database that is away.',
      examples: [[]],
    }),
    overSeconds: Seconds('The time that rates and quantiles are over.', 5),
    isShared: Type.Boolean({
      description: 'Whether it is one of several that may share a database: a node.',
      examples: [false],
    }),
    requests: Type.Object(counted),
    refusals: Type.Array(Type.Object({ status: Count('400 or above.', 429), ...counted })),
    limits: Type.Array(Type.Object({ bucket: Type.String({ examples: ['events'] }), ...counted }), {
      description: 'Limits that were reached.',
    }),
    limitsServer: orNull(
      Type.Object(
        {
          isAway: Type.Boolean({ description: 'Whether requests cannot be counted there.' }),
          decidedAlone: Count('Requests that were decided without it since the server began.', 0),
        },
        { description: 'The server that counts requests; null where they are counted in memory.' },
      ),
    ),
    answers: Type.Object(quantiles),
    events: Type.Array(
      Type.Object({ verdict: Type.String({ examples: ['accepted'] }), ...counted }),
    ),
    commits: Type.Object({ ...counted, ...quantiles }),
    queue: Type.Object({
      events: Count('Events that wait for their commit.', 0),
      limitEvents: Count('Events that may wait.', 50_000),
      bytes: Count('Bytes that wait.', 0),
      limitBytes: Count('Bytes that may wait.', 268_435_456),
      isRefusing: Type.Boolean({ description: 'Whether storage refuses writes.' }),
    }),
    disk: Type.Object({
      databaseBytes: Bytes('Size of the database.'),
      logBytes: Bytes('Size of the write-ahead log.'),
      freeBytes: Bytes('Room on the disk of the data.'),
    }),
    process: Type.Object({
      cores: Amount('Processor cores in use.', 0.2),
      memoryBytes: Count('Resident memory.', 180_000_000),
      openFiles: orNull(Count('Open file descriptors.', 40)),
      mostFiles: orNull(Count('Those that it may have.', 1_024)),
    }),
    backups: Type.Object({
      everySeconds: Seconds('How often one is to be made; 0 for never.', 86_400),
      overdueSeconds: Seconds('For how long one has been due.', 0),
      nextAt: InstantOrNull('When the next is due.'),
      last: orNull(
        Type.Object({
          at: Instant('When the newest was begun.'),
          bytes: Count('Its size.', 5_300_000),
          durationSeconds: orNull(
            Seconds('How long it took; null where an earlier run of the server made it.', 0.4),
          ),
        }),
      ),
      failures: Count('Those that failed since the server began.', 0),
      isFailing: Type.Boolean({ description: 'Whether the latest failed.' }),
    }),
    retention: Type.Object({
      days: Count('Days that raw events are kept where an organisation sets none.', 90),
      deletedEvents: Count('Raw events that were old enough and deleted.', 0),
      oldestEventAt: InstantOrNull('When the oldest raw event was received, as last seen.'),
    }),
    organisations: Type.Array(
      Type.Object({
        slug: Type.String({ examples: ['harbor-inc'] }),
        requests: Amount('Requests a second.', 4),
        limited: Amount('Of them over a limit.', 0),
        accepted: Amount('Events accepted a second.', 20),
        duplicates: Amount('Events sent again.', 0),
        rejected: Amount('Events refused.', 0),
      }),
      { description: 'The busiest first; silent ones are left out.' },
    ),
  },
  { title: 'Server' },
)
export type Server = Static<typeof Server>
