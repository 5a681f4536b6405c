import { type Static, type StaticDecode, Type } from '@sinclair/typebox'
import { flowStatuses } from '../../core/flow/flow.ts'
import { promotionStates } from '../../core/flow/promotion.ts'
import { closed, text } from '../../core/flow/values.ts'
import { OneOf, OrNull, Text } from '../../core/shapes.ts'
import { type Environments, LinkedOrganisation } from '../../storage/interfaces/environments.ts'
import { DiffAnswer, Note } from '../authoring/schema.ts'

export type EnvironmentsAnswer = Static<typeof Environments>

export const LinkBody = closed(
  {
    organisation: Type.Optional(
      text(1, 100, {
        description: 'Id or slug of the staging organisation. Only for the operator.',
      }),
    ),
    token: Type.Optional(
      text(1, 100, {
        description:
          'A management token of the staging organisation with the scope settings:write. It shows that you own both.',
      }),
    ),
  },
  { examples: [{ token: 'crn_…' }] },
)

const version = OrNull(Type.Integer(), 'The newest published version. Null if never published.', 3)
const hasDraft = Type.Boolean({
  description: 'Whether the draft is newer than the newest version.',
  examples: [false],
})
const status = OneOf(flowStatuses)
const sides = ['published', 'draft'] as const
const state = OneOf(promotionStates, {
  description:
    'How the flow in staging compares with what this organisation wrote last. `missing` if staging does not have it, or has archived it.',
  examples: ['changed'],
})

const StagingFlow = Type.Object({
  side: OneOf(sides, { description: 'Whether its newest version or its draft is promoted.' }),
  version,
  hasDraft,
  status,
})
export type StagingFlow = Static<typeof StagingFlow>

const ProductionFlow = Type.Object({
  version,
  hasDraft,
  status,
  isLocked: Type.Boolean({ description: 'Whether it can only be changed in its repository.' }),
})
export type ProductionFlow = Static<typeof ProductionFlow>

const Compared = Type.Object({
  key: Text('Key of the flow.', 'welcome'),
  name: Text('Name of the flow.', 'Welcome tour'),
  state,
  staging: OrNull(StagingFlow, 'The flow in the staging organisation.'),
  production: OrNull(ProductionFlow, 'The flow in this organisation.'),
})
export type Compared = StaticDecode<typeof Compared>

export const StagedFlows = Type.Object(
  {
    organisation: LinkedOrganisation,
    flows: Type.Array(Compared, {
      description: 'By key, without flows that are archived on both sides.',
    }),
  },
  { title: 'StagedFlows' },
)
export type StagedFlows = Static<typeof StagedFlows>

export const PromotionQuery = Type.Object({
  side: Type.Optional(
    OneOf(sides, {
      description:
        'What to promote. Defaults to the newest version, or the draft if never published.',
    }),
  ),
})

export const PromotionAnswer = Type.Object(
  {
    ...DiffAnswer.properties,
    key: Text('Key of the flow.', 'welcome'),
    state,
    staging: Type.Object({
      ...StagingFlow.properties,
      etag: Text('To be sent as `stagingEtag` when you promote the flow.', '"1f0k3q9z2m"'),
    }),
    production: OrNull(
      Type.Object({
        ...ProductionFlow.properties,
        etag: Text('To be sent as `If-Match` when you promote the flow.', '"1f0k3q9z2m"'),
      }),
      'The flow in this organisation. Null if it is new: send `If-None-Match: *` then.',
    ),
    foreignOrigins: Type.Array(Type.String(), {
      description:
        'Origins in the flow that only the staging organisation lists. Change them there before you promote the flow, or here afterwards.',
      examples: [['https://staging.example.com']],
    }),
  },
  { title: 'Promotion' },
)
export type PromotionAnswer = Static<typeof PromotionAnswer>

export const PromoteBody = closed({
  stagingEtag: text(1, 100, {
    description: 'The `etag` of `staging` that you have read. `*` to promote whatever is there.',
    examples: ['"1f0k3q9z2m"'],
  }),
  side: PromotionQuery.properties.side,
  publish: Type.Optional(Type.Boolean({ description: 'Publish it at once.' })),
  note: Note,
})
