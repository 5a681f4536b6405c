import { Type } from '@sinclair/typebox'
import { closed, text } from '../../core/flow/values.ts'
import {
  Instant,
  InstantOrNull,
  OrganisationId,
  OrganisationNames,
  Text,
} from '../../http/shapes.ts'

const ids = {
  userId: Type.Optional(
    text(1, 128, { description: 'Who it is, by your own name for them.', examples: ['ann'] }),
  ),
  anonymousId: Type.Optional(
    text(1, 128, { description: 'Who it is, where nobody has signed in; in place of `userId`.' }),
  ),
}

export const PersonQuery = Type.Object(ids)

export const ErasureQuery = Type.Object({
  ...ids,
  compact: Type.Optional(
    Type.Literal('true', {
      description:
        'For the operator: a large database is written anew at once, for which all writes wait; left out, that waits for the next start.',
    }),
  ),
})

export const PersonBody = closed(ids)

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
    sharedRuns: Rows('Runs of others in which they took part.'),
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
    askedAt: Instant('When it was asked for.'),
    finishedAt: InstantOrNull('When no file held anything of theirs any more.'),
    erased: Type.Record(Type.String(), Type.Integer(), {
      description: 'How many of what, by kind.',
      examples: [{ events: 12, runs: 3 }],
    }),
    unfinished: Type.Union([Type.Literal('unused_parts'), Type.Literal('log'), Type.Null()], {
      description:
        'What may still hold bytes of theirs, though nobody can read them: `unused_parts` of a large ' +
        'database, until the next start; or its `log`, which a long download reads as of before: ask ' +
        'again later.',
    }),
    copies: Type.Array(Type.String(), {
      description:
        "Copies of the database in the server's data directory, which hold them until they are deleted.",
    }),
  },
  { title: 'Erasure' },
)
