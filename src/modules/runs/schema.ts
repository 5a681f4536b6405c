import { type Static, Type } from '@sinclair/typebox'
import { maxTraitLength, maxTraits } from '../../core/event/traits.ts'
import { runOutcomes, stepOutcomes } from '../../core/run/outcome.ts'
import {
  FlowId,
  Instant,
  InstantOrNull,
  ListLimit,
  OneOf,
  OrNull,
  StepId,
} from '../../core/shapes.ts'

/** How many runs are read for one page. A filter may leave few of them. */
export const maxScanned = 20_000

export const defaultRuns = 50

/** The outcomes that runs can be filtered by: those of runs, and those that depend on the time. */
export const filteredOutcomes = [...runOutcomes, 'active', 'stalled', 'left'] as const

const Paging = {
  after: Type.Optional(
    Type.String({
      pattern: '^-?[0-9a-z]{1,10}\\.[0-9a-z]{1,10}$',
      mustBe: 'a cursor of this list',
      description: '`next` of the previous page. Default: the first page.',
    }),
  ),
  limit: ListLimit(defaultRuns, 'runs'),
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
}

const SharedFilters = {
  version: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{0,8}$',
      mustBe: 'the number of a version',
      description: 'Only runs of this version of the flow.',
    }),
  ),
  segment: Type.Optional(
    Type.Array(Type.String({ maxLength: 2 * maxTraitLength + 1 }), {
      maxItems: maxTraits,
      description:
        'Only runs whose person had this value of a listed trait when the run started: `plan:pro`. Or the ID of a saved segment, whose rules the traits must meet. Several must all match.',
    }),
  ),
}

const Filters = {
  ...SharedFilters,
  outcome: Type.Optional(
    OneOf(filteredOutcomes, {
      description:
        'Only runs with this outcome. Of the unfinished runs (`in_progress`), `stalled` had no event in the last 7 days, `active` had one. `left` is dismissed or stalled.',
    }),
  ),
  furthest: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Key of a step. Only runs that viewed it and no later step.',
      examples: ['create'],
    }),
  ),
  step: Type.Optional(
    Type.String({
      pattern: '^[^:]{1,64}(:(viewed|completed|skipped|target_missing))?$',
      mustBe: 'the key of a step, such as create or create:skipped',
      description:
        'Only runs that viewed a step (`create`), or did something else there (`create:skipped`).',
      examples: ['create:skipped'],
    }),
  ),
  answer: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Only runs that answered the question of a step (`score`), or gave one answer: a number (`score:9`), a range (`score:0-6`), or the key of a choice (`why:price`). Needs people:read, too.',
      examples: ['score:0-6'],
    }),
  ),
  seconds: Type.Optional(
    Type.String({
      pattern: '^\\d{1,9}-(\\d{1,9})?$',
      mustBe: 'a range of seconds, such as 20-60 or 60-',
      description: 'Only completed runs that took at least so long, and less than so long.',
      examples: ['20-60'],
    }),
  ),
}

export const RunQuery = Type.Object({ ...Paging, ...Filters })
export type RunQuery = Static<typeof RunQuery>
export type RunFilters = Omit<RunQuery, keyof typeof Paging>

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
  stalled: Type.Boolean({
    description: 'Whether the run is unfinished and had no event in the last 7 days.',
    examples: [false],
  }),
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

export const AnswerQuery = Type.Object({
  ...Paging,
  ...SharedFilters,
  step: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'Key of the step with the question.',
    examples: ['why'],
  }),
  value: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Only this answer: a number (`9`), a range (`0-6`), or the key of a choice.',
      examples: ['0-6'],
    }),
  ),
  contains: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'Only runs in which a written answer contains this text, whatever its case. At most 1,000 answered runs are searched for a page.',
      examples: ['import'],
    }),
  ),
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
        answer: Type.Union([Type.Number(), Type.String(), Type.Array(Type.String()), Type.Null()], {
          description:
            'The number, or the key of the choice or choices. Null for an answer in words.',
          examples: [4],
        }),
        text: OrNull(
          Type.String(),
          'Text of the answer. Null if it is not in words, its event was deleted or the person was erased.',
          'I could not find the import.',
        ),
        written: Type.Array(Type.Object({ ...Step.properties, text: Type.String() }), {
          description: 'What the person wrote in answer to other questions of the run.',
        }),
        traits: Type.Record(Type.String(), Type.String(), {
          description:
            'Listed traits of the person when the run started, and what started it as `$start_reason`.',
          examples: [{ plan: 'pro' }],
        }),
      }),
      { description: 'Latest run first.' },
    ),
    next: OrNull(
      Type.String(),
      'Send it as `after` to get earlier answers. Null on the last page. A filtered page may have few answers or none.',
      null,
    ),
  },
  { title: 'AnswerList' },
)
export type AnswerList = Static<typeof AnswerList>
