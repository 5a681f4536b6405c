import { type Static, Type } from '@sinclair/typebox'
import { runOutcomes, stepOutcomes } from '../../core/run/outcome.ts'
import { FlowId, Instant, InstantOrNull, OneOf, OrNull, StepId } from '../../core/shapes.ts'

/** The most runs that are looked at for one answer. A filter may leave few of them. */
export const maxLookedAt = 5_000

/** The most runs of one answer, and how many if the caller does not say. */
export const maxRuns = 200
export const defaultRuns = 50

export const RunQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: '^-?[0-9a-z]{1,10}\\.[0-9a-z]{1,10}$',
      mustBe: 'a cursor of this list',
      description: 'The `next` of the page before; without it the latest.',
    }),
  ),
  limit: Type.Optional(
    Type.String({
      pattern: '^([1-9]\\d?|1\\d\\d|200)$',
      mustBe: `a number from 1 to ${maxRuns}`,
      description: `The most runs, 1 to ${maxRuns}; ${defaultRuns} without it.`,
    }),
  ),
  outcome: Type.Optional(OneOf(runOutcomes, { description: 'Those alone that ended so.' })),
  version: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{0,8}$',
      mustBe: 'the number of a version',
      description: 'Those of one version alone.',
    }),
  ),
  from: Type.Optional(
    Type.String({
      description:
        'The first day of starts, YYYY-MM-DD; without it and `to` all runs, else 29 days before `to`.',
      examples: ['2026-07-01'],
    }),
  ),
  to: Type.Optional(
    Type.String({
      description: 'The last day, likewise; today without it.',
      examples: ['2026-07-31'],
    }),
  ),
  timezone: Type.Optional(
    Type.String({
      description: 'IANA name of the zone whose days they are; UTC without it.',
      examples: ['Europe/Berlin'],
    }),
  ),
})
export type RunQuery = Static<typeof RunQuery>

const Seconds = (description: string) => OrNull(Type.Number({ minimum: 0 }), description, 42.5)

const Step = Type.Object({
  stepId: StepId,
  key: Type.String({ examples: ['create'] }),
  title: Type.String({ examples: ['Create a project'] }),
})

const RunOfList = Type.Object({
  runId: OrNull(Type.String(), 'The id that its events name; null where they name none.', 'run-1'),
  userId: Type.Union([Type.String(), Type.Null()], { examples: ['ann'] }),
  anonymousId: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
  version: Type.Integer({ examples: [3] }),
  outcome: OneOf(runOutcomes),
  startedAt: Instant('When it was first heard of.'),
  lastAt: Instant('When it was last heard of.'),
  completedAt: InstantOrNull('When it was completed.'),
  dismissedAt: InstantOrNull('When it was first dismissed, if it ever was.'),
  secondsToComplete: Seconds('From its start; null where its only report completed it.'),
  lastStep: OrNull(Step, 'The furthest step that was seen.'),
  steps: Type.Array(
    Type.Object({
      ...Step.properties,
      outcome: OneOf(stepOutcomes),
      seconds: Seconds(
        'From its first view on, as analytics count it; null where that is unknown.',
      ),
    }),
    { description: "What it met, in the flow's order." },
  ),
})

export const RunList = Type.Object(
  {
    flowId: FlowId,
    flowKey: Type.String({ examples: ['welcome'] }),
    runs: Type.Array(RunOfList, { description: 'The latest start first.' }),
    next: OrNull(
      Type.String(),
      'Send it as `after` for earlier runs; null where there are none. Of a filtered list it may ' +
        `come with few runs or none: ${maxLookedAt} are looked at for one answer.`,
      'mi7lnk8g.2h4c',
    ),
  },
  { title: 'RunList' },
)
export type RunList = Static<typeof RunList>

const { outcome: _, ...shared } = RunQuery.properties

export const AnswerQuery = Type.Object({
  ...shared,
  step: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The key of the step that asks.',
    examples: ['why'],
  }),
})
export type AnswerQuery = Static<typeof AnswerQuery>

export const AnswerList = Type.Object(
  {
    flowId: FlowId,
    flowKey: Type.String({ examples: ['welcome'] }),
    stepKey: Type.String({ examples: ['why'] }),
    answers: Type.Array(
      Type.Object({
        runId: OrNull(
          Type.String(),
          'The id that its events name; null where they name none.',
          'run-1',
        ),
        userId: Type.Union([Type.String(), Type.Null()], { examples: ['ann'] }),
        anonymousId: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
        version: Type.Integer({ examples: [3] }),
        answeredAt: Instant('When the run last answered.'),
        text: OrNull(
          Type.String(),
          'What was written; null once the event is deleted, or the person was erased.',
          'I could not find the import.',
        ),
      }),
      { description: 'Of the latest runs first.' },
    ),
    next: OrNull(
      Type.String(),
      'Send it as `after` for earlier ones; null where there are none.',
      null,
    ),
  },
  { title: 'AnswerList' },
)
export type AnswerList = Static<typeof AnswerList>
