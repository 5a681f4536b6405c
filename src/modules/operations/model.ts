import { Type } from '@sinclair/typebox'
import { closed } from '../../core/flow/values.ts'
import { Count, Instant, OneOf, OrganisationId, OrNull } from '../../http/shapes.ts'
import { retryVerdicts } from './port.ts'

const LetterId = Type.Integer({ minimum: 1, examples: [17] })

export const DeadLetterList = Type.Object(
  {
    letters: Type.Array(
      Type.Object({
        id: LetterId,
        organisation: OrganisationId,
        eventId: OrNull(Type.String(), "The event's id; null for a report that came alone."),
        kind: Type.String({ examples: ['step_viewed'] }),
        reason: Type.String({ description: 'What the database said.' }),
        receivedAt: Instant('When it was received.'),
      }),
    ),
    count: Count('How many there are in all.', 1),
  },
  { title: 'DeadLetterList' },
)

export const LettersAsked = closed({
  ids: Type.Optional(
    Type.Array(LetterId, { minItems: 1, maxItems: 1_000, description: 'Some of them.' }),
  ),
  all: Type.Optional(Type.Literal(true, { description: 'All of them, in place of `ids`.' })),
})

export const RetriedLetters = Type.Object(
  {
    letters: Type.Array(Type.Object({ id: LetterId, verdict: OneOf(retryVerdicts) }), {
      description: 'What became of each; one that is refused again stays.',
    }),
  },
  { title: 'RetriedLetters' },
)

export const DroppedLetters = Type.Object(
  { dropped: Count('How many were deleted.', 2) },
  { title: 'DroppedLetters' },
)

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
