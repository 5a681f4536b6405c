import { type Static, Type } from '@sinclair/typebox'
import { Maybe, PersonFields, Time } from '../../http/shapes.ts'

export const CompleteBody = Type.Object({
  ...PersonFields,
  runId: Maybe(Type.String({ minLength: 1, maxLength: 64 })),
  completedAt: Maybe(Time),
})

export const ProgressQuery = Type.Object(PersonFields)

export const ProgressBody = Type.Object({
  ...PersonFields,
  items: Type.Array(
    Type.Object({
      id: Maybe(Type.String()),
      key: Maybe(Type.String()),
      completed: Type.Boolean(),
    }),
    { minItems: 1, maxItems: 100 },
  ),
})
export type ProgressBody = Static<typeof ProgressBody>
