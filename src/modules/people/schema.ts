import { type Static, Type } from '@sinclair/typebox'
import { closed, text } from '../../core/flow/values.ts'
import { FlowId, Instant, InstantOrNull, OneOf, OrganisationNames } from '../../core/shapes.ts'
import type { Erasure as StoredErasure } from '../../storage/interfaces/people.ts'
import { ToldEvent } from '../events/schema.ts'
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

/** The most events per response, and the default. */
export const maxEvents = 200
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
  limit: Type.Optional(
    Type.String({
      pattern: '^([1-9]\\d?|1\\d\\d|200)$',
      mustBe: `a number from 1 to ${maxEvents}`,
      description: `Maximum number of events, 1 to ${maxEvents}. Default: ${defaultEvents}.`,
    }),
  ),
})

export const PersonHistory = Type.Object(
  {
    person: Type.Object({
      userId: Type.Union([Type.String(), Type.Null()], { examples: ['ann'] }),
      anonymousId: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
    }),
    flows: Type.Array(
      Type.Object({
        flowId: FlowId,
        flowKey: Type.String({ examples: ['welcome'] }),
        name: Type.String({ examples: ['Welcome tour'] }),
        kind: OneOf(['tour', 'checklist', 'announcement']),
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
    events: Type.Array(ToldEvent, {
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
