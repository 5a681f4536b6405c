import { type Static, Type } from '@sinclair/typebox'
import { flowKinds } from '../../core/flow/flow.ts'
import { closed, text } from '../../core/flow/values.ts'
import {
  Count,
  FlowId,
  Instant,
  InstantOrNull,
  ListLimit,
  OneOf,
  OrganisationNames,
  OrNull,
  Text,
} from '../../core/shapes.ts'
import { LoggedEvent } from '../../storage/interfaces/events.ts'
import type { Erasure as StoredErasure } from '../../storage/interfaces/people.ts'
import { HistoryFields } from '../flows/schema.ts'

const ids = {
  userId: Type.Optional(
    text(1, 128, { description: 'Your ID of the signed-in user.', examples: ['ann'] }),
  ),
  anonymousId: Type.Optional(
    text(1, 128, { description: 'ID of an anonymous visitor, instead of `userId`.' }),
  ),
}

export const PersonQuery = Type.Object(ids)

export const ErasureQuery = Type.Object({
  ...ids,
  compact: Type.Optional(
    Type.Literal('true', {
      description:
        'Rewrite a large database at once. All writes wait for it. Default: at the next start. Only for the operator, and not with several servers.',
    }),
  ),
})

export const PersonBody = closed(ids)

/** How many people a page has by default. */
export const defaultPeople = 50

const filters = {
  segment: Type.Optional(
    text(1, 64, {
      description: 'ID of a segment: only people who meet its filter.',
      examples: ['segment_3pNw7sQk1XvLt5Zb8d'],
    }),
  ),
  search: Type.Optional(
    text(1, 128, { description: 'Part of a user ID or anonymous ID. Case does not count.' }),
  ),
  filter: Type.Optional(
    Type.String({
      maxLength: 4_000,
      description: 'JSON of a `PeopleFilter`: rules on listed traits, and conditions on flows.',
      examples: ['{"flows":[{"flow":"welcome","outcome":"completed"}]}'],
    }),
  ),
}

export const CountQuery = Type.Object(filters)
export type CountQuery = Static<typeof CountQuery>

const indexed = OneOf(['lastSeen', 'firstSeen', 'id'])
const direction = OneOf(['asc', 'desc'], {
  description: 'Default: `desc`, and `asc` for `id` and traits.',
})

export const PeopleFileQuery = Type.Object({
  ...filters,
  sort: Type.Optional(indexed),
  order: Type.Optional(direction),
  bom: Type.Optional(
    Type.Literal('1', { description: 'Begin with a byte order mark, for some spreadsheets.' }),
  ),
})

export const PeopleQuery = Type.Object({
  ...filters,
  sort: Type.Optional(
    Type.String({
      maxLength: 80,
      pattern: '^(lastSeen|firstSeen|id|flows|trait:.+)$',
      mustBe: 'lastSeen, firstSeen, id, flows, or trait: and the name of a listed trait',
      description:
        '`lastSeen` (default), `firstSeen`, `id`, `flows` (flows seen) or `trait:plan`. The last two look at everybody.',
    }),
  ),
  order: Type.Optional(direction),
  after: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{1,1000}$',
      mustBe: 'a cursor of this list',
      description: '`next` of the previous page. Default: the first page.',
    }),
  ),
  limit: ListLimit(defaultPeople, 'people'),
})

const PersonIds = {
  userId: Type.Union([Type.String(), Type.Null()], { examples: ['ann'] }),
  anonymousId: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
}

/** What stored events say of a person. */
const Seen = {
  firstSeenAt: Instant('Time of their first event.'),
  lastSeenAt: Instant('Time of their latest event.'),
  traits: Type.Record(Type.String(), Type.String(), {
    description: 'Listed traits as last reported, as text. One that was never reported is missing.',
    examples: [{ plan: 'pro' }],
  }),
}

const met = 'Flows seen, each with the best outcome of all runs.'

export const People = Type.Object(
  {
    traits: Type.Array(Type.String(), {
      description: 'The traits that the organisation lists.',
      examples: [['plan']],
    }),
    people: Type.Array(
      Type.Object({
        ...PersonIds,
        ...Seen,
        flows: Type.Object(
          {
            seen: Count('Flows of which the person has a run.', 3),
            completed: Count('Of these, completed.', 1),
            dismissed: Count('Of these, dismissed and never completed.', 1),
            inProgress: Count('Of these, neither.', 1),
          },
          { description: met },
        ),
      }),
    ),
    next: Type.Union([Type.String(), Type.Null()], {
      description: 'Send it as `after` to get the next page. Null on the last page.',
      examples: ['WzE3OTAwMDAwMDAwMDAsInVhbm4iXQ'],
    }),
  },
  { title: 'People' },
)

export const PeopleCount = Type.Object(
  { people: Count('People who meet the conditions.', 1204), all: Count('All people.', 20_311) },
  { title: 'PeopleCount' },
)

/** How many events a response has by default. */
export const defaultEvents = 50

export const HistoryQuery = Type.Object({
  ...ids,
  before: Type.Optional(
    Type.String({
      pattern: '^[0-9a-z]{1,10}$',
      mustBe: 'a cursor of this list',
      description:
        'The `next` of the previous response, to get earlier events. Default: the latest.',
    }),
  ),
  limit: ListLimit(defaultEvents, 'events'),
})

const NameOrNull = (description: string, example: string) =>
  OrNull(Type.String(), description, example)

/** An event of a person's history. */
export const PersonEvent = Type.Object({
  ...LoggedEvent.properties,
  flowName: NameOrNull('Name of its flow.', 'Welcome tour'),
  stepTitle: NameOrNull('Title of its step. Null if it has none.', 'Create a project'),
  itemTitle: NameOrNull('Title of its checklist item.', 'Invite your team'),
  answer: NameOrNull(
    'An answer in words: the rating, the labels of choices, or the text.',
    '9 of 10',
  ),
})

export const PersonHistory = Type.Object(
  {
    person: Type.Object(PersonIds),
    profile: Type.Union(
      [
        Type.Object({
          ...Seen,
          pages: Type.Array(
            Type.Object({
              url: Text('Without query and fragment.', 'https://app.example.com/projects'),
              lastSeenAt: Instant('Time of their latest event there.'),
            }),
            { description: 'Pages of their latest events, latest first. At most 8.' },
          ),
        }),
        Type.Null(),
      ],
      { description: 'Null if no event of the person is stored.' },
    ),
    flows: Type.Array(
      Type.Object({
        flowId: FlowId,
        flowKey: Type.String({ examples: ['welcome'] }),
        name: Type.String({ examples: ['Welcome tour'] }),
        kind: OneOf(flowKinds),
        ...HistoryFields,
        inProgress: Type.Boolean({
          description: 'Whether the latest run is neither completed nor dismissed.',
        }),
        flowCompletedAt: InstantOrNull(
          'When the person first completed the flow, in a run or reported alone.',
        ),
        items: Type.Array(
          Type.Object({
            key: Type.String({ examples: ['invite-team'] }),
            title: Type.String({ examples: ['Invite your team'] }),
            completedAt: InstantOrNull('When the item was ticked. Null if it is not.'),
          }),
          { description: 'Checklist items of the newest version. Empty if it has no checklist.' },
        ),
      }),
      { description: 'Flows that the person has seen, the latest start first.' },
    ),
    events: Type.Array(PersonEvent, {
      description:
        'In order of arrival, latest first. One request searches a limited part of all events, so it ' +
        'may return fewer than `limit`, or none, and still a `next`.',
    }),
    next: Type.Union([Type.String(), Type.Null()], {
      description: 'Send it as `before` to get earlier events. Null if there are none.',
      examples: ['2h4c'],
    }),
  },
  { title: 'PersonHistory' },
)
export type PersonHistory = Static<typeof PersonHistory>

const Rows = (description: string) =>
  Type.Array(Type.Record(Type.String(), Type.Unknown()), { description })

export const PersonData = Type.Object(
  {
    organisation: Type.Object(OrganisationNames),
    person: Type.Object({
      userId: Type.Optional(Type.String({ examples: ['ann'] })),
      anonymousId: Type.Optional(Type.String()),
    }),
    exportedAt: Instant('When the data was read.'),
    profile: Rows('When they were seen, their traits as last reported, and their latest pages.'),
    events: Rows('Events of the person, or from a browser with their anonymous ID.'),
    runs: Rows('Runs of flows.'),
    completions: Rows('Flows that the person has completed.'),
    ticks: Rows('Checklist items that the person ticked, and when.'),
    progress: Rows('Progress of each checklist.'),
    looseFacts: Rows('Facts that belong to no run yet.'),
    checklistCompletions: Rows('When the person completed checklists.'),
    sharedRuns: Rows(
      'Runs of other people in which the person took part, and both IDs of events that name two.',
    ),
    causedEvents: Rows('When the person last caused the events that published flows wait for.'),
    heldOut: Rows('Flows from which the person was held out, by version.'),
    goals: Rows('When the person last reached the goals of flows.'),
    stepReports: Rows('Reports of their pages about the health of steps.'),
    deadLetters: Rows('Reports that the database rejected.'),
  },
  { title: 'PersonData' },
)

export type Erasure = Static<typeof StoredErasure>
