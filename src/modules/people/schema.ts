import { type Static, Type } from '@sinclair/typebox'
import { closed, text } from '../../core/flow/values.ts'
import {
  FlowId,
  Instant,
  InstantOrNull,
  OneOf,
  OrganisationId,
  OrganisationNames,
  Text,
} from '../../core/shapes.ts'
import { ToldEvent } from '../events/schema.ts'
import { HistoryFields } from '../flows/schema.ts'

const ids = {
  userId: Type.Optional(
    text(1, 128, { description: 'Your id of the signed-in user.', examples: ['ann'] }),
  ),
  anonymousId: Type.Optional(
    text(1, 128, { description: 'Id of an anonymous visitor; in place of `userId`.' }),
  ),
}

export const PersonQuery = Type.Object(ids)

export const ErasureQuery = Type.Object({
  ...ids,
  compact: Type.Optional(
    Type.Literal('true', {
      description:
        'For the operator: a large database is written anew at once, for which all writes wait; left out, that waits for the next start. One of several servers rejects it.',
    }),
  ),
})

export const PersonBody = closed(ids)

/** The most events of one answer, and how many if the caller does not say. */
export const maxEvents = 200
export const defaultEvents = 50

export const HistoryQuery = Type.Object({
  ...ids,
  before: Type.Optional(
    Type.String({
      pattern: '^[0-9a-z]{1,10}$',
      mustBe: 'a cursor of this list',
      description: 'The `next` of the answer before, for earlier events; without it the latest.',
    }),
  ),
  limit: Type.Optional(
    Type.String({
      pattern: '^([1-9]\\d?|1\\d\\d|200)$',
      mustBe: `a number from 1 to ${maxEvents}`,
      description: `The most events, 1 to ${maxEvents}; ${defaultEvents} without it.`,
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
        flowCompletedAt: InstantOrNull('When they first completed it, in a run or reported alone.'),
        items: Type.Array(
          Type.Object({
            key: Type.String({ examples: ['invite-team'] }),
            title: Type.String({ examples: ['Invite your team'] }),
            completedAt: InstantOrNull('Since when it is ticked; null where it is not.'),
          }),
          { description: 'The checklist of the newest version; empty where it has none.' },
        ),
      }),
      { description: 'Flows that they have met, the latest start first.' },
    ),
    events: Type.Array(ToldEvent, {
      description:
        'The latest arrival first. One answer looks through a bounded part of all events, so it may ' +
        'have fewer than asked for, or none, and still a `next`.',
    }),
    next: Type.Union([Type.String(), Type.Null()], {
      description: 'Send it as `before` for earlier events; null where there are none.',
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
    exportedAt: Instant('When this was read.'),
    events: Rows('What was reported of them, or from a browser that went by their anonymous id.'),
    runs: Rows('Their passes through flows.'),
    completions: Rows('Flows that they have completed.'),
    ticks: Rows('Items of checklists that they ticked, and when.'),
    progress: Rows('How far they have come with each checklist.'),
    looseFacts: Rows('What belongs to no run of theirs yet.'),
    checklistCompletions: Rows('When they completed checklists.'),
    sharedRuns: Rows(
      'Runs of others in which they took part, and the two ids of events that name two.',
    ),
    causedEvents: Rows('When they last caused the events that published flows wait for.'),
    heldOut: Rows('Flows from which they were held back, by version.'),
    goals: Rows('When they last reached the goals of flows.'),
    stepReports: Rows("What their pages told of steps' health."),
    deadLetters: Rows('What the database refused.'),
  },
  { title: 'PersonData' },
)

export const Erasure = Type.Object(
  {
    id: Text('Names the erasure in the audit log.', 'erasure_4f0c2a9b7d1e3856fa'),
    organisation: OrganisationId,
    person: Text(
      'A hash, which only who has the key and the name can tell to be theirs.',
      '5f1d7a84a2c9d3b0e6f71c2d3e4f5a6b',
    ),
    askedAt: Instant('When it was requested.'),
    finishedAt: InstantOrNull("When all files were free of the person's data."),
    erased: Type.Record(Type.String(), Type.Integer(), {
      description: 'How many of what, by kind.',
      examples: [{ events: 12, runs: 3 }],
    }),
    unfinished: Type.Union([Type.Literal('unused_parts'), Type.Literal('log'), Type.Null()], {
      description:
        'What may still hold bytes of theirs, though nobody can read them: `unused_parts` of a large ' +
        'database, until it is compacted; or its `log`, which a long download reads as of before: ask ' +
        'again later.',
    }),
    copies: Type.Array(Type.String(), {
      description:
        "Copies of the database in the server's data directory, which hold them until they are deleted.",
    }),
  },
  { title: 'Erasure' },
)
export type Erasure = Static<typeof Erasure>
