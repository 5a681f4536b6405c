import { type Static, type StaticDecode, Type } from '@sinclair/typebox'
import type { Traits } from '../../core/event/traits.ts'
import { maxTraitLength, maxTraits } from '../../core/event/traits.ts'
import { Flow, flowStatuses } from '../../core/flow/flow.ts'
import { Theme } from '../../core/flow/theme.ts'
import { closed, text } from '../../core/flow/values.ts'
import {
  Count,
  FlowId,
  Instant,
  InstantOrNull,
  OneOf,
  OrNull,
  PersonFields,
  Text,
} from '../../core/shapes.ts'

export const FlowListQuery = Type.Object(PersonFields)

/** What a person has done with a flow. */
export const HistoryFields = {
  runs: Count('Number of runs, counted among the latest thousand.', 2),
  startedAt: InstantOrNull('When the latest run started.'),
  completedAt: InstantOrNull('When a run was last completed.'),
  dismissedAt: InstantOrNull('When a run that was never completed was last dismissed.'),
  openRunId: OrNull(
    Type.String({ examples: ['run-1'] }),
    'The `runId` of the latest run if it is neither completed nor dismissed, so that another browser can continue it. Null if its events have none.',
  ),
}

export const History = Type.Object(HistoryFields, { title: 'History' })

/** Everything that a page may show. */
export const FlowList = Type.Object(
  {
    flows: Type.Array(Flow),
    version: Text('Changes whenever anything in this list does.', '2v8k0m1c7d'),
    history: Type.Optional(
      Type.Record(Type.String(), History, {
        description:
          'Only if you name a person: what they have done with each flow, by its id. Contains at most 200 flows, those of the highest priority, and none without a run or whose steps are shown `always`.',
      }),
    ),
    events: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Array(
          Type.Object({
            at: Instant('When, to the minute.'),
            mark: Type.String({
              description:
                'A hash of the id of the event, so that a page does not count its own events twice.',
              examples: ['1x8f3k0'],
            }),
          }),
        ),
        {
          description:
            'Only if you name a person and a published flow waits for events: when they last caused each, by its name.',
        },
      ),
    ),
    throttle: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Only with a frequency cap: how many tours and announcements a person sees in 24 hours at most. Flows that the page starts do not count.',
        examples: [3],
      }),
    ),
    honoursDoNotTrack: Type.Optional(
      Type.Literal(true, {
        description:
          'Only if the organisation honours "Do Not Track" and Global Privacy Control: visitors who ask for them see flows, and nothing about them is reported.',
      }),
    ),
    theme: Type.Optional(
      Type.Unsafe<Theme>({
        ...Theme,
        description:
          "Only if the organisation has a theme. A flow's own theme overrides it field by field.",
        examples: [{ accent: '#0b7285', background: null, text: null, radius: 10 }],
      }),
    ),
    traits: Type.Optional(
      Type.Array(Type.String({ maxLength: maxTraitLength }), {
        maxItems: maxTraits,
        description:
          'Only if the organisation counts runs by traits: the names of those that `flow_started` may send. Others stay in the browser.',
        examples: [['plan']],
      }),
    ),
  },
  { title: 'FlowList' },
)
export type FlowList = Static<typeof FlowList>

export const exampleFlow: Flow = {
  id: 'flow_8dPqM2xKc5VnTs1Ya0',
  version: 3,
  publishedAt: '2026-11-20T09:30:00.000Z',
  key: 'welcome',
  name: 'Welcome tour',
  title: 'Welcome to Harbor',
  kind: 'tour',
  priority: 0,
  frequency: 'until_completed',
  targeting: {
    urls: [{ match: 'prefix', pattern: 'https://app.example.com/projects' }],
    audience: { match: 'all', rules: [{ attribute: 'plan', op: 'neq', value: 'free' }] },
  },
  theme: null,
  steps: [
    {
      id: 'step_oS7uAWwXw1gOJgTNdr',
      position: 0,
      key: 'create',
      kind: 'tooltip',
      title: 'Start a project',
      body: 'Everything begins **here**.',
      target: {
        selector: '[data-test=new-project]',
        text: null,
        nth: null,
        waitMs: 3_000,
        required: true,
        onMissing: 'skip',
      },
      placement: { side: 'bottom', align: 'center' },
      advance: { on: 'button', event: null },
      buttons: [{ label: 'Next', action: 'next', href: null }],
    },
  ],
  checklist: {
    order: 'any',
    items: [
      {
        id: 'item_Zt3kYv0Qb2nRfLx8Pw',
        position: 0,
        key: 'invite-team',
        title: 'Invite your team',
        description: null,
        completeOn: { event: 'member_invited' },
        href: '/settings/team',
      },
    ],
  },
}

export const exampleFlowList: FlowList = {
  flows: [exampleFlow],
  version: '2v8k0m1c7d',
  history: {
    [exampleFlow.id]: {
      runs: 2,
      startedAt: '2026-11-20T09:30:00.000Z',
      completedAt: null,
      dismissedAt: '2026-11-18T16:05:00.000Z',
      openRunId: 'run-1',
    },
  },
}

const { userId, anonymousId } = PersonFields

export const ExplainBody = closed({
  flow: text(1, 64, { description: 'Key or id of the flow.', examples: ['welcome'] }),
  url: text(1, 2_048, {
    description: 'Address of the page.',
    examples: ['https://app.example.com/projects'],
  }),
  userId,
  anonymousId,
  traits: Type.Optional(
    Type.Unsafe<Traits>(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'Attributes of the person, as the page would send them. Default: the listed traits that the person last reported.',
        examples: [{ plan: 'pro' }],
      }),
    ),
  ),
})

const Holds = OrNull(Type.Boolean(), 'Null if only the browser can tell.')
const Why = Type.String({ examples: ['on every page'] })

export const Explanation = Type.Object(
  {
    shown: Type.Boolean({ description: 'Whether the person sees the flow on the page.' }),
    flow: Type.Object({
      id: FlowId,
      key: Type.String({ examples: ['welcome'] }),
      status: OneOf(flowStatuses),
      version: OrNull(Type.Integer(), 'The newest published version. Null if never published.', 3),
      hasDraft: Type.Boolean({
        description: 'Whether the draft is newer than the newest version.',
      }),
    }),
    person: Type.Object({
      userId: Type.Union([Type.String(), Type.Null()], { examples: ['ann'] }),
      anonymousId: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
      history: Type.Object({
        ...HistoryFields,
        inProgress: Type.Boolean({
          description: 'Whether the latest run is neither completed nor dismissed.',
        }),
      }),
    }),
    url: Type.String({ examples: ['https://app.example.com/projects'] }),
    traits: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The attributes that were compared.',
      examples: [{ plan: 'pro' }],
    }),
    unreported: Type.Array(Type.String(), {
      description:
        'Traits that decide it and that the person never reported. If there are any, the condition on the audience is null, and `shown` is false.',
      examples: [[]],
    }),
    rules: Type.Array(
      Type.Object({
        rule: OneOf([
          'key',
          'origin',
          'published',
          'url',
          'audience',
          'schedule',
          'rollout',
          'after',
          'event',
          'delay',
          'trigger',
          'throttle',
          'element',
          'frequency',
          'priority',
          'target',
          'identify',
        ]),
        holds: Holds,
        why: Why,
        parts: Type.Array(Type.Object({ holds: Type.Boolean(), why: Why }), {
          description: 'The parts of a condition, such as each rule of an audience.',
        }),
      }),
      { description: 'Every condition, in the order in which they are checked.' },
    ),
    instead: OrNull(Type.String(), 'Key of the flow that is shown instead. Null if none is.', null),
  },
  { title: 'Explanation' },
)
export type Explanation = Static<typeof Explanation>
/** The same in code. */
export type ExplainedFlow = StaticDecode<typeof Explanation>
