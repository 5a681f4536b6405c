import { type Static, Type } from '@sinclair/typebox'
import { promotionStates } from '../../core/flow/promotion.ts'
import { closed, text } from '../../core/flow/values.ts'
import { Instant, OneOf, OrganisationNames, OrNull, Text } from '../../core/shapes.ts'
import { DiffAnswer, Note } from '../authoring/schema.ts'

const Linked = Type.Object(
  { ...OrganisationNames, linkedAt: Instant('When they were linked.') },
  { title: 'LinkedOrganisation' },
)

export const EnvironmentsAnswer = Type.Object(
  {
    production: OrNull(Linked, 'The organisation that flows of this one are promoted to.'),
    staging: Type.Array(Linked, { description: 'Those that try flows for this one, by slug.' }),
  },
  { title: 'Environments' },
)
export type EnvironmentsAnswer = Static<typeof EnvironmentsAnswer>

export const LinkBody = closed(
  {
    organisation: Type.Optional(
      text(1, 100, {
        description: 'By the operator alone: the id or slug of the organisation that tries flows.',
      }),
    ),
    token: Type.Optional(
      text(1, 100, {
        description:
          'In its place a management token of that organisation with the scope settings:write: who holds it owns both.',
      }),
    ),
  },
  { examples: [{ token: 'crn_…' }] },
)

const version = OrNull(Type.Integer(), 'The newest published version; null where none was.', 3)
const isLocked = Type.Boolean({ description: 'Whether it is changed in its repository alone.' })
const hasDraft = Type.Boolean({ description: 'Whether a draft is newer.', examples: [false] })
const status = OneOf(['draft', 'published', 'archived'])
const Side = OneOf(['published', 'draft'], {
  description: 'Whether its newest version is promoted, or its draft.',
})
const state = OneOf(promotionStates, {
  description:
    'As against what this organisation wrote last: `missing` is what the other has not, or has archived.',
  examples: ['changed'],
})

const There = Type.Object({ side: Side, version, hasDraft, status })
const Here = Type.Object({ version, hasDraft, status, isLocked })

export const StagedFlows = Type.Object(
  {
    organisation: Linked,
    flows: Type.Array(
      Type.Object({
        key: Text('The key of the flow.', 'welcome'),
        name: Text('What it is called.', 'Welcome tour'),
        state,
        staging: OrNull(There, 'What the other organisation has of it.'),
        production: OrNull(Here, 'What this one has of it.'),
      }),
      { description: 'By key; what is archived here and there is left out.' },
    ),
  },
  { title: 'StagedFlows' },
)
export type StagedFlows = Static<typeof StagedFlows>

export const PromotionQuery = Type.Object({
  side: Type.Optional(
    OneOf(['published', 'draft'], {
      description: 'The version that was published last, unless given; its draft where none was.',
    }),
  ),
})

export const PromotionAnswer = Type.Object(
  {
    ...DiffAnswer.properties,
    key: Text('The key of the flow.', 'welcome'),
    state,
    staging: Type.Object({
      ...There.properties,
      etag: Text('What `stagingEtag` takes when it is promoted.', '"1f0k3q9z2m"'),
    }),
    production: OrNull(
      Type.Object({
        ...Here.properties,
        etag: Text('What `If-Match` takes when it is promoted.', '"1f0k3q9z2m"'),
      }),
      'What this organisation has of it; null where it is new: then promoting takes `If-None-Match: *`.',
    ),
    foreignOrigins: Type.Array(Type.String(), {
      description:
        'Origins that the flow names and that are those of the other organisation alone: change them there first, or here after.',
      examples: [['https://staging.example.com']],
    }),
  },
  { title: 'Promotion' },
)
export type PromotionAnswer = Static<typeof PromotionAnswer>

export const PromoteBody = closed({
  stagingEtag: text(1, 100, {
    description:
      'The `etag` of `staging` that the difference has told: what was read is promoted. `*` for whatever it is.',
    examples: ['"1f0k3q9z2m"'],
  }),
  side: Type.Optional(OneOf(['published', 'draft'], { description: 'As for the difference.' })),
  publish: Type.Optional(Type.Boolean({ description: 'Publish it at once.' })),
  note: Note,
})
