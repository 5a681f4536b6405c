import { type Static, Type } from '@sinclair/typebox'
import { closed } from '../../core/flow/values.ts'
import { Count } from '../../core/shapes.ts'
import {
  DeadLetter,
  DeadLetterId,
  Retried,
  type ServerFigures,
  type Compacted as StoredCompacted,
  type NodeList as StoredNodeList,
  type Rebuilt as StoredRebuilt,
} from '../../storage/interfaces/operations.ts'

export const DeadLetterList = Type.Object(
  { letters: Type.Array(DeadLetter), count: Count('Number of dead letters in all.', 1) },
  { title: 'DeadLetterList' },
)
export type DeadLetterList = Static<typeof DeadLetterList>

export const RequestedLetters = closed({
  ids: Type.Optional(
    Type.Array(DeadLetterId, {
      minItems: 1,
      maxItems: 1_000,
      description: 'IDs of the dead letters.',
    }),
  ),
  all: Type.Optional(Type.Literal(true, { description: 'Select all instead of `ids`.' })),
})
export type RequestedLetters = Static<typeof RequestedLetters>

export const RetriedLetters = Type.Object(
  {
    letters: Type.Array(Retried, {
      description: 'The outcome for each. Those that are rejected again stay.',
    }),
  },
  { title: 'RetriedLetters' },
)
export type RetriedLetters = Static<typeof RetriedLetters>

export const DroppedLetters = Type.Object(
  { dropped: Count('Number of deleted dead letters.', 2) },
  { title: 'DroppedLetters' },
)

export type NodeList = Static<typeof StoredNodeList>
export type Rebuilt = Static<typeof StoredRebuilt>
export type Compacted = Static<typeof StoredCompacted>
export type Server = Static<typeof ServerFigures>
