import { type Static, Type } from '@sinclair/typebox'
import { Flow } from '../../core/flow.ts'
import { Count, InstantOrNull, PersonFields } from '../../http/shapes.ts'

export const FlowListQuery = Type.Object(PersonFields)

/** What a person has done with a flow. */
const History = Type.Object(
  {
    runs: Count('Runs that there are; of more than a thousand the latest are counted.', 2),
    startedAt: InstantOrNull('When the latest run started.'),
    completedAt: InstantOrNull('When a run was completed: the latest such time.'),
    dismissedAt: InstantOrNull(
      'When a run was dismissed that was never completed: the latest such time.',
    ),
    openRunId: Type.Union([Type.String({ examples: ['run-1'] }), Type.Null()], {
      description:
        'The `runId` of the latest run, where it is neither completed nor dismissed: another browser goes on with it. Null where its events name none.',
    }),
  },
  { title: 'History' },
)
export type History = Static<typeof History>

/** All that a page may show. */
export const FlowList = Type.Object(
  {
    flows: Type.Array(Flow),
    version: Type.String({
      description: 'Changes whenever anything in this list does.',
      examples: ['2v8k0m1c7d'],
    }),
    history: Type.Optional(
      Type.Record(Type.String(), History, {
        description:
          'There where a person is named: by flow id, what they have done with it. Flows that they have no run of are left out, so are flows whose steps are shown `always`, and all but the 200 of the highest priority.',
      }),
    ),
    honoursDoNotTrack: Type.Optional(
      Type.Literal(true, {
        description:
          'There where the organisation heeds "Do Not Track" and Global Privacy Control: who asks for them is shown flows, and neither told apart nor reported on.',
      }),
    ),
  },
  { title: 'FlowList' },
)
export type FlowList = Static<typeof FlowList>

/** A flow to show in the API's description. */
export const exampleFlow: Flow = {
  id: 'flow_8dPqM2xKc5VnTs1Ya0',
  version: 3,
  publishedAt: '2026-11-20T09:30:00.000Z',
  key: 'welcome',
  name: 'Welcome tour',
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
