import { type Static, Type } from '@sinclair/typebox'
import {
  Count,
  FlowId,
  Instant,
  InstantOrNull,
  ItemId,
  Maybe,
  MaybeTime,
  namesPerson,
  PersonFields,
} from '../../core/shapes.ts'

const RunId = (description: string, example = 'run-1') =>
  Type.String({ minLength: 1, maxLength: 64, description, examples: [example] })

export const CompleteBody = Type.Object(
  {
    ...PersonFields,
    runId: Maybe(RunId('The pass through the flow that is completed.')),
    completedAt: MaybeTime('When it was completed; now where absent, and never in the future.'),
  },
  {
    title: 'CompletionReport',
    ...namesPerson,
    examples: [{ userId: 'ann' }],
  },
)

export const ProgressQuery = Type.Object(PersonFields)

const ItemTick = Type.Object(
  {
    id: Maybe(Type.String({ description: "The item's id." })),
    key: Maybe(Type.String({ description: 'Or its key, in the newest version.' })),
    completed: Type.Boolean({ description: 'True ticks it, false takes the tick back.' }),
  },
  {
    anyOf: ['id', 'key'].map(name => ({
      required: [name],
      properties: { [name]: { type: 'string' } },
    })),
    examples: [{ key: 'invite-team', completed: true }],
  },
)

export const ProgressBody = Type.Object(
  {
    ...PersonFields,
    items: Type.Array(ItemTick, { minItems: 1, maxItems: 100 }),
    runId: Maybe(RunId('The pass through the checklist that the ticks belong to.')),
    sessionId: Maybe(RunId('Tells passes apart where there is no `runId`.', 's1')),
  },
  {
    title: 'Ticks',
    ...namesPerson,
    examples: [{ userId: 'ann', items: [{ key: 'invite-team', completed: true }] }],
  },
)
export type ProgressBody = Static<typeof ProgressBody>

/** The person as the caller named them: one of the two, or both. */
const Named = {
  userId: Type.Optional(Type.String({ description: 'As it was sent.', examples: ['ann'] })),
  anonymousId: Type.Optional(Type.String({ description: 'As it was sent.' })),
}

export const Completion = Type.Object(
  {
    flowId: FlowId,
    ...Named,
    status: Type.Literal('completed'),
    completedAt: Instant('The earliest that was ever reported.'),
    alreadyCompleted: Type.Boolean({
      description: 'A completion was known before.',
      examples: [false],
    }),
  },
  { title: 'Completion' },
)
export type Completion = Static<typeof Completion>

const ItemProgress = Type.Object({
  id: ItemId,
  key: Type.String({ examples: ['invite-team'] }),
  title: Type.String({ examples: ['Invite your team'] }),
  completed: Type.Boolean({ examples: [true] }),
  completedAt: InstantOrNull('When it was ticked; null where it is not.'),
})

export const Progress = Type.Object(
  {
    flowId: FlowId,
    ...Named,
    items: Type.Array(ItemProgress, { description: 'Empty for a flow without a checklist.' }),
    completed: Count('Items that are ticked.', 1),
    total: Count('Items that there are.', 1),
    percent: Type.Integer({ minimum: 0, maximum: 100, examples: [100] }),
    completedAt: InstantOrNull('When the person first completed the flow.'),
  },
  { title: 'Progress' },
)
export type Progress = Static<typeof Progress>
