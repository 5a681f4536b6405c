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
    runId: Maybe(RunId('ID of the run that is completed.')),
    completedAt: MaybeTime('When it was completed. Default: now.'),
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
    id: Maybe(Type.String({ description: 'ID of the item.' })),
    key: Maybe(Type.String({ description: 'Key of the item in the newest version.' })),
    completed: Type.Boolean({ description: 'True ticks the item, false unticks it.' }),
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
    runId: Maybe(RunId('ID of the run that the ticks belong to.')),
    sessionId: Maybe(RunId('Identifies the run if there is no `runId`.', 's1')),
  },
  {
    title: 'Ticks',
    ...namesPerson,
    examples: [{ userId: 'ann', items: [{ key: 'invite-team', completed: true }] }],
  },
)
export type ProgressBody = Static<typeof ProgressBody>

const Named = {
  userId: Type.Optional(Type.String({ description: 'As sent.', examples: ['ann'] })),
  anonymousId: Type.Optional(Type.String({ description: 'As sent.' })),
}

export const Completion = Type.Object(
  {
    flowId: FlowId,
    ...Named,
    status: Type.Literal('completed'),
    completedAt: Instant('The earliest reported time.'),
    alreadyCompleted: Type.Boolean({
      description: 'True if a completion was reported before.',
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
  completedAt: InstantOrNull('When the item was ticked. Null if it is not.'),
})

export const Progress = Type.Object(
  {
    flowId: FlowId,
    ...Named,
    items: Type.Array(ItemProgress, {
      description: 'Items of the checklist. Empty if the flow has none.',
    }),
    completed: Count('Number of ticked items.', 1),
    total: Count('Number of items.', 1),
    percent: Type.Integer({ minimum: 0, maximum: 100, examples: [100] }),
    completedAt: InstantOrNull('When the person first completed the flow. Null if they did not.'),
  },
  { title: 'Progress' },
)
export type Progress = Static<typeof Progress>
