import { type Static, Type } from '@sinclair/typebox'
import { runOutcomes, stepOutcomes } from '../../core/run/outcome.ts'
import { FlowId, Instant, InstantOrNull, OneOf, OrNull, StepId } from '../../core/shapes.ts'

/** How many runs are read for one page. A filter may leave few of them. */
export const maxScanned = 5_000

export const maxRuns = 200
export const defaultRuns = 50

export const RunQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: '^-?[0-9a-z]{1,10}\\.[0-9a-z]{1,10}$',
      mustBe: 'a cursor of this list',
      description: '`next` of the previous page. Default: the first page.',
    }),
  ),
  limit: Type.Optional(
    Type.String({
      pattern: '^([1-9]\\d?|1\\d\\d|200)$',
      mustBe: `a number from 1 to ${maxRuns}`,
      description: `Maximum number of runs, 1 to ${maxRuns}. Default: ${defaultRuns}.`,
    }),
  ),
  outcome: Type.Optional(OneOf(runOutcomes, { description: 'Only runs with this outcome.' })),
  version: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{0,8}$',
      mustBe: 'the number of a version',
      description: 'Only runs of this version of the flow.',
    }),
  ),
  from: Type.Optional(
    Type.String({
      description:
        'First day of starts, YYYY-MM-DD. Default: all runs without `to`, else 29 days before `to`.',
      examples: ['2026-07-01'],
    }),
  ),
  to: Type.Optional(
    Type.String({
      description: 'Last day of starts, YYYY-MM-DD. Default: today.',
      examples: ['2026-07-31'],
    }),
  ),
  timezone: Type.Optional(
    Type.String({
      description: 'IANA time zone of the days. Default: UTC.',
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
  runId: OrNull(
    Type.String(),
    'ID that the events of the run name. Null if they name none.',
    'run-1',
  ),
  userId: Type.Union([Type.String(), Type.Null()], { examples: ['ann'] }),
  anonymousId: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
  version: Type.Integer({ examples: [3] }),
  outcome: OneOf(runOutcomes),
  startedAt: Instant('Time of the first event of the run.'),
  lastAt: Instant('Time of the last event of the run.'),
  completedAt: InstantOrNull('When the run was completed. Null if it was not.'),
  dismissedAt: InstantOrNull('When the run was first dismissed. Null if it was not.'),
  secondsToComplete: Seconds(
    'From start to completion. Null if the run has only one event or is not completed.',
  ),
  lastStep: OrNull(Step, 'The furthest step that was viewed.'),
  steps: Type.Array(
    Type.Object({
      ...Step.properties,
      outcome: OneOf(stepOutcomes),
      seconds: Seconds('Time on the step, as in analytics. Null if unknown.'),
    }),
    { description: 'Steps of the run, in the order of the flow.' },
  ),
})

export const RunList = Type.Object(
  {
    flowId: FlowId,
    flowKey: Type.String({ examples: ['welcome'] }),
    runs: Type.Array(RunOfList, { description: 'Latest start first.' }),
    next: OrNull(
      Type.String(),
      'Send it as `after` to get earlier runs. Null on the last page. A filtered page may have few runs ' +
        `or none, because at most ${maxScanned} are read for it.`,
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
    description: 'Key of the step with the question.',
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
          'ID that the events of the run name. Null if they name none.',
          'run-1',
        ),
        userId: Type.Union([Type.String(), Type.Null()], { examples: ['ann'] }),
        anonymousId: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
        version: Type.Integer({ examples: [3] }),
        answeredAt: Instant('When the question was last answered in the run.'),
        text: OrNull(
          Type.String(),
          'Text of the answer. Null if its event was deleted or the person was erased.',
          'I could not find the import.',
        ),
      }),
      { description: 'Latest run first.' },
    ),
    next: OrNull(
      Type.String(),
      'Send it as `after` to get earlier answers. Null on the last page.',
      null,
    ),
  },
  { title: 'AnswerList' },
)
export type AnswerList = Static<typeof AnswerList>
