import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { maxTraitLength, maxTraits } from '../../core/event/traits.ts'
import {
  Count,
  DocumentedAs,
  FlowId,
  Instant,
  ItemId,
  OneOf,
  OrNull,
  StepId,
} from '../../core/shapes.ts'
import { StepStateShape } from '../steps/schema.ts'
import { definitions, groupDefinitions, requestedDefinitions } from './definitions.ts'
import { binEdges } from './distribution.ts'
import { intervals } from './periods.ts'

/** Any text is accepted here; `resolveRange` knows which dates exist. */
const Day = (description: string, example: string) =>
  Type.Optional(
    DocumentedAs(Type.String(), Type.String({ format: 'date', description, examples: [example] })),
  )

const Range = {
  from: Day('The first day. 29 days before the last by default.', '2026-11-01'),
  to: Day('The last day, inclusive. Today by default. At most 400 days.', '2026-11-30'),
  timezone: Type.Optional(
    Type.String({
      description: 'The IANA time zone of the days. UTC by default.',
      examples: ['Europe/Berlin'],
    }),
  ),
}

const Filters = {
  version: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,8}$',
      mustBe: 'the number of a version',
      description: 'Counts only runs of this version.',
      examples: ['1'],
    }),
  ),
  interval: Type.Optional(
    OneOf(intervals, { description: 'Returns `periods`: the days by week or month.' }),
  ),
  segment: Type.Optional(
    Type.Array(Type.String({ maxLength: 2 * maxTraitLength + 1 }), {
      maxItems: maxTraits + 2,
      description:
        'Filters or groups runs by a listed trait of their person at the start. `plan:pro` keeps runs with this value, ' +
        '`plan:` those without one; several filters must all match. `plan` returns `segments`: a group for each value. ' +
        '`$start_reason` is used like a trait: what started the run, as in `reason` of `flow_started`. ' +
        'The ID of a saved segment keeps runs whose traits at the start meet its rules.',
    }),
  ),
}

export const AnalyticsQuery = Type.Object({
  ...Range,
  ...Filters,
  distribution: Type.Optional(
    OneOf(['0', '1'], { description: '1 returns the distribution of the time to complete.' }),
  ),
  ways: Type.Optional(
    OneOf(['0', '1'], {
      description: '1 returns the paths of runs: `ways` and `steps[].leftOut`. Takes longer.',
    }),
  ),
  answers: Type.Optional(
    OneOf(['0', '1'], {
      description:
        '1 returns `steps[].question.trend`, and with `segment=<trait>` `steps[].question.segments`.',
    }),
  ),
  left: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        'Key of a step. Returns `leavers`: what runs that left there have in common, beside those that went on.',
      examples: ['create'],
    }),
  ),
})
export type AnalyticsQuery = Static<typeof AnalyticsQuery>

export const SummaryQuery = Type.Object(Range)

export const ExportQuery = Type.Object({
  ...Range,
  ...Filters,
  bom: Type.Optional(
    OneOf(['0', '1'], { description: '1 adds a byte order mark, for spreadsheets.' }),
  ),
  rows: Type.Optional(
    OneOf(['runs', 'events'], {
      description: 'Exports a row for each run or event instead of the analytics.',
    }),
  ),
})
export type ExportQuery = Static<typeof ExportQuery>

const counted = (field: keyof typeof definitions, example: number) =>
  Count(definitions[field], example)

const Rate = (description: string, example: number) =>
  OrNull(Type.Number({ minimum: 0, maximum: 1 }), description, example)

const Seconds = (description: string, example: number) =>
  OrNull(Type.Number({ minimum: 0 }), description, example)

const Complete = (description: string) => Type.Boolean({ description, examples: [true] })

const Text = (description: string, example: string) =>
  Type.String({ description, examples: [example] })

const CalendarDay = (description: string, example: string) =>
  Type.String({ format: 'date', description, examples: [example] })

const Interval = (minimum: number, description: string, [low, high]: [number, number]) => {
  const end = (description: string, example: number) =>
    Type.Number({ minimum, maximum: 1, description, examples: [example] })
  return OrNull(
    Type.Object({ low: end(groupDefinitions.low, low), high: end(groupDefinitions.high, high) }),
    description,
  )
}

/** A field that depends on a parameter. */
const With = <T extends TSchema>(parameter: string, schema: T, description: string) =>
  Type.Optional({ ...schema, description: `With \`${parameter}\`. ${description}` })

const Key = (example: string) => Text('Its key.', example)

const Title = (example: string) => Text('Its title in the newest version that has it.', example)

const Totals = Type.Object({
  starts: counted('starts', 412),
  uniqueUsers: counted('uniqueUsers', 390),
  completions: counted('completions', 268),
  uniqueCompleters: counted('uniqueCompleters', 261),
  dismissals: counted('dismissals', 97),
  inProgress: counted('inProgress', 47),
  stalled: Type.Optional(counted('stalled', 31)),
  completionRate: Rate(definitions.completionRate, 0.6505),
})

const ofAnswers = requestedDefinitions.answers

const AnswerNumbers = {
  answers: counted('question.answers', 120),
  average: OrNull(Type.Number(), definitions['question.average'], 8.12),
  nps: OrNull(
    Type.Object({
      score: OrNull(Type.Number({ minimum: -100, maximum: 100 }), definitions['nps.score'], 45.8),
      promoters: counted('nps.promoters', 71),
      passives: counted('nps.passives', 33),
      detractors: counted('nps.detractors', 16),
    }),
    definitions.nps,
  ),
}

const AnswersOfPeriod = Type.Object({
  from: CalendarDay('The first day of the period in the range.', '2026-11-02'),
  to: CalendarDay('The last day of the period in the range, inclusive.', '2026-11-08'),
  ...AnswerNumbers,
})

const AnswersOfSegment = Type.Object({
  kind: OneOf(['value', 'other', 'not_said'], {
    description: 'One value, the rarer values together, or unknown.',
  }),
  value: OrNull(Type.String(), 'Cut to 64 characters. Null for other kinds.', 'pro'),
  ...AnswerNumbers,
})

const QuestionNumbers = Type.Object(
  {
    type: OneOf(['rating', 'choice', 'text'], { description: 'The type of the question.' }),
    ...AnswerNumbers,
    median: OrNull(Type.Number(), definitions['question.median'], 9),
    trend: With('answers=1', Type.Array(AnswersOfPeriod), ofAnswers['question.trend']),
    segments: With(
      'answers=1&segment=<trait>',
      Type.Array(AnswersOfSegment),
      ofAnswers['question.segments'],
    ),
    distribution: Type.Array(
      Type.Object({
        value: Type.Union([Type.Number(), Type.String()], {
          description: 'The number, or the key of the choice.',
          examples: [10],
        }),
        label: OrNull(Type.String(), 'The label that visitors see.', 'Very likely'),
        count: Count('Runs with this answer.', 48),
        share: Rate(definitions['distribution.share'], 0.4),
      }),
      { description: definitions['question.distribution'] },
    ),
  },
  { title: 'QuestionNumbers', description: definitions.question },
)

const StepNumbers = Type.Object(
  {
    stepId: StepId,
    key: Key('create'),
    position: counted('position', 0),
    title: Title('Start a project'),
    reached: counted('reached', 412),
    uniqueUsers: counted('uniqueUsers', 390),
    completed: counted('completed', 340),
    skipped: counted('skipped', 21),
    targetMissing: counted('targetMissing', 3),
    droppedHere: counted('droppedHere', 51),
    stillHere: counted('stillHere', 4),
    activeHere: Type.Optional(counted('activeHere', 9)),
    leftOut: With('ways=1', Count('', 12), requestedDefinitions.ways['steps.leftOut']),
    dropOffRate: Rate(definitions.dropOffRate, 0.1238),
    medianSeconds: Seconds(definitions.stepSeconds, 6.2),
    p90Seconds: Seconds(definitions.stepSeconds, 19.8),
    question: Type.Optional(QuestionNumbers),
    health: Type.Object(
      {
        state: StepStateShape,
        okRate: Rate(definitions['health.okRate'], 0.9917),
        reports: counted('health.reports', 121),
      },
      { description: definitions.health },
    ),
  },
  { title: 'StepNumbers' },
)

const Checklist = Type.Object({
  items: Type.Array(
    Type.Object({
      itemId: ItemId,
      key: Key('invite-team'),
      title: Title('Invite your team'),
      completions: counted('checklist.completions', 88),
    }),
  ),
  completedAll: counted('checklist.completedAll', 61),
})

const DayNumbers = Type.Object({
  date: CalendarDay('The day.', '2026-11-01'),
  starts: counted('starts', 14),
  uniqueUsers: counted('uniqueUsers', 14),
  completions: counted('completions', 9),
  dismissals: counted('dismissals', 3),
  complete: Complete(definitions['daily.complete']),
})

const PeriodNumbers = Type.Object({
  ...Type.Omit(DayNumbers, ['date']).properties,
  from: CalendarDay('Its first day in the range.', '2026-11-02'),
  to: CalendarDay('Its last day in the range, inclusive.', '2026-11-08'),
  whole: Complete(requestedDefinitions.interval['periods.whole']),
  complete: Complete(requestedDefinitions.interval['periods.complete']),
})

const ofDistribution = requestedDefinitions.distribution

const DurationBin = Type.Object({
  fromSeconds: Type.Number({ minimum: 0, description: ofDistribution.fromSeconds }),
  toSeconds: OrNull(Type.Number({ minimum: 1 }), ofDistribution.toSeconds, 1),
  count: Count(ofDistribution['distribution.count'], 119),
})

const VersionNumbers = Type.Object({
  version: Type.Integer({ minimum: 1, description: "The version's number.", examples: [1] }),
  publishedAt: Instant(definitions.publishedAt, '2026-10-12T08:00:00.000Z'),
  starts: counted('starts', 412),
  completions: counted('completions', 268),
  completionRate: Rate(definitions.completionRate, 0.6505),
  distribution: With(
    'distribution=1',
    Type.Array(Count('Runs in the bin.', 119)),
    ofDistribution['versions.distribution'],
  ),
})

const TimeToComplete = Type.Object(
  {
    count: counted('timeToComplete.count', 261),
    medianSeconds: Seconds(definitions.medianSeconds, 41.5),
    p90Seconds: Seconds(definitions.p90Seconds, 120.25),
    untimed: counted('untimed', 7),
  },
  { description: definitions.timeToComplete },
)

const { stalled: _, ...OutcomesOfGroup } = Totals.properties

const Group = {
  ...OutcomesOfGroup,
  interval: Interval(0, groupDefinitions.interval, [0.61, 0.69]),
  timeToComplete: TimeToComplete,
}

const SegmentNumbers = Type.Object(
  {
    trait: Text('The trait.', 'plan'),
    kind: OneOf(['value', 'other', 'not_said'], {
      description: 'One value, the rarer values together, or unknown.',
    }),
    value: OrNull(Type.String(), 'Cut to 64 characters. Null for other kinds.', 'pro'),
    values: Count(requestedDefinitions.segments['segments.values'], 1),
    ...Group,
  },
  { title: 'SegmentNumbers' },
)

const ofExperiment = requestedDefinitions.experiment

const ExperimentGroup = Type.Object({
  people: Count(ofExperiment['experiment.people'], 380),
  achieved: Count(ofExperiment['experiment.achieved'], 152),
  rate: Rate(ofExperiment['experiment.rate'], 0.4),
})

const Experiment = Type.Object(
  {
    goal: Text("The goal's event.", 'project_created'),
    shown: ExperimentGroup,
    heldOut: ExperimentGroup,
    difference: OrNull(
      Type.Number({ minimum: -1, maximum: 1 }),
      ofExperiment['experiment.difference'],
      0.08,
    ),
    interval: Interval(-1, ofExperiment['experiment.interval'], [0.01, 0.15]),
  },
  { title: 'Experiment' },
)

const PathNumbers = Type.Object(
  {
    from: OrNull(Type.String(), requestedDefinitions.ways['ways.from'], 'step_oS7uAWwXw1gOJgTNdr'),
    to: OrNull(Type.String(), requestedDefinitions.ways['ways.to'], 'completed'),
    runs: Count(requestedDefinitions.ways['ways.runs'], 261),
  },
  { title: 'PathNumbers' },
)

const ofLeavers = requestedDefinitions.leavers

const Leavers = Type.Object(
  {
    step: Text('Key of the step.', 'create'),
    left: Count(ofLeavers['leavers.left'], 27),
    wentOn: Count(ofLeavers['leavers.wentOn'], 80),
    common: Type.Array(
      Type.Object({
        kind: OneOf(['trait', 'version', 'element_missing']),
        trait: OrNull(Type.String(), 'Name of the trait. Null for other kinds.', 'plan'),
        value: Text(
          'Value of the trait, number of the version, or key of the step whose element was missing.',
          'free',
        ),
        left: Count(ofLeavers['common.left'], 20),
        wentOn: Count(ofLeavers['common.wentOn'], 12),
        difference: Type.Object(
          {
            low: Type.Number({ minimum: -1, maximum: 1, examples: [0.24] }),
            high: Type.Number({ minimum: -1, maximum: 1, examples: [0.81] }),
          },
          { description: ofLeavers['common.difference'] },
        ),
      }),
      { description: ofLeavers['leavers.common'] },
    ),
  },
  { title: 'Leavers' },
)

export const Analytics = Type.Object(
  {
    flowId: FlowId,
    flowKey: Text("The flow's key.", 'welcome'),
    flowName: Text("The flow's name.", 'Welcome tour'),
    range: Type.Object(
      {
        from: CalendarDay('The first day.', '2026-11-01'),
        to: CalendarDay('The last day, inclusive.', '2026-11-30'),
        timezone: Text('The IANA time zone of the days.', 'Europe/Berlin'),
        complete: Complete(definitions['range.complete']),
      },
      { description: definitions.range },
    ),
    filters: Type.Object({
      version: OrNull(Type.Integer({ minimum: 1 }), definitions['filters.version'], null),
      segment: With(
        'segment=<trait>:<value>',
        Type.Array(
          Type.Object({
            trait: Text('The trait.', 'plan'),
            value: OrNull(Type.String(), 'Null if unknown.', 'pro'),
          }),
        ),
        requestedDefinitions.segments['filters.segment'],
      ),
      saved: With(
        'segment=<ID>',
        Type.Array(
          Type.Object({
            id: Text('ID of the segment.', 'segment_3pNw7sQk1XvLt5Zb8d'),
            name: Text('Its name.', 'Admins on Pro'),
          }),
        ),
        requestedDefinitions.segments['filters.saved'],
      ),
    }),
    ignored: Type.Array(Type.String(), { description: definitions.ignored, examples: [[]] }),
    generatedAt: Instant(definitions.generatedAt),
    totals: Totals,
    timeToComplete: Type.Object(
      {
        ...TimeToComplete.properties,
        distribution: With(
          'distribution=1',
          Type.Array(DurationBin),
          `${ofDistribution['timeToComplete.distribution']} The bins end at ${binEdges.join(', ')} seconds.`,
        ),
      },
      { description: definitions.timeToComplete },
    ),
    steps: Type.Array(StepNumbers, { description: definitions.steps }),
    checklist: OrNull(Checklist, 'Null for a flow without a checklist.'),
    daily: Type.Array(DayNumbers, { description: `Every day of the range. ${definitions.daily}` }),
    periods: With('interval', Type.Array(PeriodNumbers), requestedDefinitions.interval.periods),
    versions: Type.Array(VersionNumbers, { description: definitions.versions }),
    segments: With(
      'segment=<trait>',
      Type.Array(SegmentNumbers),
      requestedDefinitions.segments.segments,
    ),
    experiment: Type.Optional(
      OrNull(Experiment, `For a flow with a goal and a hold-out. ${ofExperiment.experiment}`),
    ),
    ways: With('ways=1', Type.Array(PathNumbers), requestedDefinitions.ways.ways),
    leavers: With('left', Leavers, ofLeavers.leavers),
    definitions: Type.Record(Type.String(), Type.String(), {
      description: 'What each number means.',
      examples: [{ starts: definitions.starts }],
    }),
  },
  { title: 'Analytics' },
)
export type Analytics = Static<typeof Analytics>

const WorstStep = Type.Object({
  stepId: StepId,
  key: Key('create'),
  title: Title('Start a project'),
  position: counted('position', 0),
  reached: counted('reached', 412),
  left: Count(
    'Runs not completed that viewed no later step, without those that had an event in the last 7 days and are not dismissed.',
    51,
  ),
})

export const Summary = Type.Object(
  {
    range: Analytics.properties.range,
    flows: Type.Array(
      Type.Object({
        flowId: FlowId,
        flowKey: Text("The flow's key.", 'welcome'),
        totals: Totals,
        timeToComplete: TimeToComplete,
        stalled: Type.Optional(
          Type.Boolean({
            description:
              'Whether the flow has been published for 7 days, and no run of it started in the last 7 days.',
            examples: [false],
          }),
        ),
        worstSteps: Type.Optional(
          Type.Array(WorstStep, {
            maxItems: 3,
            description: 'The steps at which runs left, most first, at most three.',
          }),
        ),
        daily: Type.Array(Type.Omit(DayNumbers, ['uniqueUsers']), {
          description: `Every day of the range. ${definitions.daily}`,
        }),
      }),
      { description: 'All flows of the organisation, by key.' },
    ),
    definitions: Analytics.properties.definitions,
  },
  { title: 'Summary' },
)
export type Summary = Static<typeof Summary>

export const AnalyticsCsv = Type.String({
  description:
    'RFC 4180 with CRLF, in UTF-8, with a header row. A null is an empty cell. ' +
    "A text that a spreadsheet would run as a formula begins with `'`. A cell with a `;` is quoted.",
})
