import { type Static, Type } from '@sinclair/typebox'
import { longestTrait, mostTraits } from '../../core/event/traits.ts'
import { Count, FlowId, Instant, ItemId, OneOf, OrNull, StepId, Told } from '../../http/shapes.ts'
import { StepStateShape } from '../steps/index.ts'
import { askedDefinitions, cohortNames, definitions, groupDefinitions } from './definitions.ts'
import { binEdges } from './distribution.ts'
import { intervals } from './periods.ts'

/** Any text is accepted here; `resolveRange` validates the date, because it knows which dates exist. */
const Day = (description: string, example: string) =>
  Type.Optional(
    Told(Type.String(), Type.String({ format: 'date', description, examples: [example] })),
  )

const Range = {
  from: Day('The first day; 29 days before the last where absent.', '2026-11-01'),
  to: Day('The last day, inclusive; today where absent. At most 400 days.', '2026-11-30'),
  timezone: Type.Optional(
    Type.String({
      description: 'The IANA zone that days are of; UTC where absent.',
      examples: ['Europe/Berlin'],
    }),
  ),
  version: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,8}$',
      mustBe: 'the number of a version',
      description: 'Count only runs of this version.',
      examples: ['1'],
    }),
  ),
}

const Asked = {
  distribution: Type.Optional(
    OneOf(['0', '1'], {
      description: '1: with how long completed runs took, in bins that are the same everywhere.',
    }),
  ),
  interval: Type.Optional(
    OneOf(intervals, {
      description:
        'With the days put together: `periods`. Weeks begin on Monday; the range may cut the first and the last.',
    }),
  ),
  segment: Type.Optional(
    Type.Array(Type.String({ maxLength: 2 * longestTrait + 1 }), {
      maxItems: mostTraits + 1,
      description:
        'By what pages said of people when runs started, of traits that the organisation lists. `plan:pro` counts only ' +
        'those runs (`plan:` those of which it was not said); given for several traits, those that all of them keep. ' +
        '`plan` tells the runs apart by it: `segments`.',
    }),
  ),
  late: Type.Optional(
    Type.String({
      pattern: '^.{1,64}:[1-9][0-9]{0,4}[mhd]$',
      mustBe: "a step's key, a colon, and a number of minutes, hours or days, such as invite:24h",
      description:
        'Tell apart runs that saw this step later than so long after their start: `late`. Every row is read, so that takes longer.',
    }),
  ),
}

const AskedWays = {
  ways: Type.Optional(
    OneOf(['0', '1'], {
      description:
        '1: with the ways that runs took from step to step, and how many went past each step: `ways`, `steps[].leftOut`. Every row is read, so that takes longer.',
    }),
  ),
}

export const AnalyticsQuery = Type.Object({ ...Range, ...Asked, ...AskedWays })
export type AnalyticsQuery = Static<typeof AnalyticsQuery>

const { version: _, ...Days } = Range

export const SummaryQuery = Type.Object(Days)
export type SummaryQuery = Static<typeof SummaryQuery>

export const ExportQuery = Type.Object({
  ...Range,
  ...Asked,
  ...AskedWays,
  bom: Type.Optional(
    OneOf(['0', '1'], { description: '1: begin with a byte order mark, for spreadsheets.' }),
  ),
  rows: Type.Optional(
    OneOf(['runs', 'events'], {
      description: 'Raw rows in place of the numbers: a row a run, or a row an event.',
    }),
  ),
})
export type ExportQuery = Static<typeof ExportQuery>

/** The meaning of a number is written once, in the definitions of the answer. */
const counted = (field: keyof typeof definitions, example: number) =>
  Count(definitions[field], example)

const Rate = (description: string, example: number) =>
  Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
    description,
    examples: [example],
  })

const Seconds = (description: string, example: number) =>
  Type.Union([Type.Number({ minimum: 0 }), Type.Null()], { description, examples: [example] })

const Complete = (description: string) => Type.Boolean({ description, examples: [true] })

const CalendarDay = (description: string, example: string) =>
  Type.String({ format: 'date', description, examples: [example] })

const Key = (example: string) =>
  Type.String({ description: "The author's own name for it.", examples: [example] })

const Title = (example: string) =>
  Type.String({ description: 'As it was last published.', examples: [example] })

const Totals = Type.Object({
  starts: counted('starts', 412),
  uniqueUsers: counted('uniqueUsers', 390),
  completions: counted('completions', 268),
  uniqueCompleters: counted('uniqueCompleters', 261),
  dismissals: counted('dismissals', 97),
  inProgress: counted('inProgress', 47),
  completionRate: Rate(definitions.completionRate, 0.6505),
})

const QuestionNumbers = Type.Object(
  {
    type: OneOf(['rating', 'choice', 'text'], {
      description: 'How it is answered.',
      examples: ['rating'],
    }),
    answers: counted('question.answers', 120),
    average: OrNull(Type.Number(), definitions['question.average'], 8.12),
    median: OrNull(Type.Number(), definitions['question.median'], 9),
    nps: Type.Union(
      [
        Type.Object({
          score: OrNull(Type.Number({ minimum: -100, maximum: 100 }), definitions.nps, 45.8),
          promoters: Count('Runs that gave 9 or 10.', 71),
          passives: Count('Runs that gave 7 or 8.', 33),
          detractors: Count('Runs that gave 6 or less.', 16),
        }),
        Type.Null(),
      ],
      { description: definitions.nps },
    ),
    distribution: Type.Array(
      Type.Object({
        value: Type.Union([Type.Number(), Type.String()], {
          description: 'The number, or the key of the choice.',
          examples: [10],
        }),
        label: OrNull(Type.String(), 'What visitors read beside it.', 'Very likely'),
        count: Count('Runs that answered it.', 48),
        share: Rate('count divided by answers.', 0.4),
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
    leftOut: Type.Optional(Count(`With \`ways=1\`. ${askedDefinitions.ways['steps.leftOut']}`, 12)),
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
  date: CalendarDay('A day of the asked zone.', '2026-11-01'),
  starts: counted('starts', 14),
  uniqueUsers: counted('uniqueUsers', 14),
  completions: counted('completions', 9),
  dismissals: counted('dismissals', 3),
  complete: Complete(definitions['daily.complete']),
})

const { uniqueUsers: __, ...DayOfSummary } = DayNumbers.properties

const PeriodNumbers = Type.Object({
  from: CalendarDay('Its first day in the range.', '2026-11-02'),
  to: CalendarDay('Its last day in the range, inclusive.', '2026-11-08'),
  whole: Complete(askedDefinitions.interval['periods.whole']),
  starts: counted('starts', 96),
  uniqueUsers: counted('uniqueUsers', 93),
  completions: counted('completions', 61),
  dismissals: counted('dismissals', 22),
  complete: Complete(askedDefinitions.interval['periods.complete']),
})

const DurationBin = Type.Object({
  fromSeconds: Type.Number({
    minimum: 0,
    description: askedDefinitions.distribution.fromSeconds,
    examples: [20],
  }),
  toSeconds: Type.Union([Type.Number({ minimum: 1 }), Type.Null()], {
    description: askedDefinitions.distribution.toSeconds,
    examples: [60],
  }),
  count: Count(askedDefinitions.distribution['distribution.count'], 119),
})

const edges = `The bins end at ${binEdges.join(', ')} seconds.`

const VersionNumbers = Type.Object({
  version: Type.Integer({ minimum: 1, description: 'Counted from 1.', examples: [1] }),
  publishedAt: Instant(definitions.publishedAt, '2026-10-12T08:00:00.000Z'),
  starts: counted('starts', 412),
  completions: counted('completions', 268),
  completionRate: Rate(definitions.completionRate, 0.6505),
  distribution: Type.Optional(
    Type.Array(Count('Runs in the bin.', 119), {
      description: `With \`distribution=1\`. ${askedDefinitions.distribution['versions.distribution']}`,
    }),
  ),
})

const TimeToComplete = {
  count: counted('timeToComplete.count', 261),
  medianSeconds: Seconds(definitions.medianSeconds, 41.5),
  p90Seconds: Seconds(definitions.p90Seconds, 120.25),
  untimed: counted('untimed', 7),
}

const share = { minimum: 0, maximum: 1 }

const GroupFields = {
  ...Totals.properties,
  interval: Type.Union(
    [
      Type.Object({
        low: Type.Number({ ...share, description: groupDefinitions.low, examples: [0.61] }),
        high: Type.Number({ ...share, description: groupDefinitions.high, examples: [0.69] }),
      }),
      Type.Null(),
    ],
    { description: groupDefinitions.interval },
  ),
  timeToComplete: Type.Object(TimeToComplete, { description: definitions.timeToComplete }),
}

const SegmentNumbers = Type.Object(
  {
    trait: Type.String({ description: 'The trait that was asked for.', examples: ['plan'] }),
    kind: OneOf(['value', 'other', 'not_said'], {
      description: 'What the row is of.',
      examples: ['value'],
    }),
    value: OrNull(
      Type.String(),
      'As it was said, cut to 64 characters; null for other kinds.',
      'pro',
    ),
    values: Count(askedDefinitions.segments['segments.values'], 1),
    ...GroupFields,
  },
  { title: 'SegmentNumbers' },
)

const LateNumbers = Type.Object(
  {
    stepId: StepId,
    key: Key('invite'),
    title: Title('Invite your team'),
    afterSeconds: Type.Integer({
      minimum: 60,
      description: askedDefinitions.late['late.afterSeconds'],
      examples: [86_400],
    }),
    cohorts: Type.Array(
      Type.Object({
        cohort: OneOf(cohortNames, {
          description: 'When the runs first saw the step.',
          examples: ['late'],
        }),
        ...GroupFields,
      }),
    ),
  },
  { description: `With \`late\`. ${askedDefinitions.late.late}` },
)

const ofExperiment = askedDefinitions.experiment

const ExperimentGroup = Type.Object({
  people: Count(ofExperiment['experiment.people'], 380),
  achieved: Count(ofExperiment['experiment.achieved'], 152),
  rate: Rate(ofExperiment['experiment.rate'], 0.4),
})

const difference = { minimum: -1, maximum: 1 }

const Experiment = Type.Object(
  {
    goal: Type.String({
      description: 'The event by which the goal is reached.',
      examples: ['project_created'],
    }),
    shown: ExperimentGroup,
    heldOut: ExperimentGroup,
    difference: Type.Union([Type.Number(difference), Type.Null()], {
      description: ofExperiment['experiment.difference'],
      examples: [0.08],
    }),
    interval: Type.Union(
      [
        Type.Object({
          low: Type.Number({ ...difference, description: 'The lower end.', examples: [0.01] }),
          high: Type.Number({ ...difference, description: 'The upper end.', examples: [0.15] }),
        }),
        Type.Null(),
      ],
      { description: ofExperiment['experiment.interval'] },
    ),
  },
  { title: 'Experiment' },
)

const WayNumbers = Type.Object(
  {
    from: OrNull(Type.String(), askedDefinitions.ways['ways.from'], 'step_oS7uAWwXw1gOJgTNdr'),
    to: OrNull(Type.String(), askedDefinitions.ways['ways.to'], 'completed'),
    runs: Count(askedDefinitions.ways['ways.runs'], 261),
  },
  { title: 'WayNumbers' },
)

const described = { description: definitions.timeToComplete }

export const Analytics = Type.Object(
  {
    flowId: FlowId,
    flowKey: Key('welcome'),
    flowName: Type.String({ description: "The flow's name.", examples: ['Welcome tour'] }),
    range: Type.Object(
      {
        from: CalendarDay('The first day.', '2026-11-01'),
        to: CalendarDay('The last day, inclusive.', '2026-11-30'),
        timezone: Type.String({
          description: 'The IANA zone that days are of.',
          examples: ['Europe/Berlin'],
        }),
        complete: Complete(definitions['range.complete']),
      },
      { description: definitions.range },
    ),
    filters: Type.Object({
      version: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
        description: definitions['filters.version'],
        examples: [null],
      }),
      segment: Type.Optional(
        Type.Array(
          Type.Object({
            trait: Type.String({ description: 'Its name.', examples: ['plan'] }),
            value: OrNull(Type.String(), 'Null where it was not said.', 'pro'),
          }),
          {
            description: `With \`segment=<trait>:<value>\`. ${askedDefinitions.segments['filters.segment']}`,
          },
        ),
      ),
    }),
    ignored: Type.Array(Type.String({ description: 'A name, as it was sent.' }), {
      description: definitions.ignored,
      examples: [[]],
    }),
    generatedAt: Instant(definitions.generatedAt),
    totals: Totals,
    timeToComplete: Type.Object(
      {
        ...TimeToComplete,
        distribution: Type.Optional(
          Type.Array(DurationBin, {
            description: `With \`distribution=1\`. ${edges} ${askedDefinitions.distribution['timeToComplete.distribution']}`,
          }),
        ),
      },
      described,
    ),
    steps: Type.Array(StepNumbers, {
      description: definitions.steps,
    }),
    checklist: Type.Union([Checklist, Type.Null()], {
      description: 'Null for a flow without a checklist.',
    }),
    daily: Type.Array(DayNumbers, {
      description: `Every day of the range. ${definitions.daily}`,
    }),
    periods: Type.Optional(
      Type.Array(PeriodNumbers, {
        description: `With \`interval\`. ${askedDefinitions.interval.periods}`,
      }),
    ),
    versions: Type.Array(VersionNumbers, { description: definitions.versions }),
    segments: Type.Optional(
      Type.Array(SegmentNumbers, {
        description: `With \`segment=<trait>\`. ${askedDefinitions.segments.segments}`,
      }),
    ),
    late: Type.Optional(LateNumbers),
    experiment: Type.Optional(
      Type.Union([Experiment, Type.Null()], {
        description: `There for a flow that has a goal and holds people back. ${ofExperiment.experiment}`,
      }),
    ),
    ways: Type.Optional(
      Type.Array(WayNumbers, {
        description: `With \`ways=1\`. ${askedDefinitions.ways.ways}`,
      }),
    ),
    definitions: Type.Record(Type.String(), Type.String(), {
      description: 'What each number means, in one sentence.',
      examples: [{ starts: definitions.starts }],
    }),
  },
  { title: 'Analytics' },
)
export type Analytics = Static<typeof Analytics>

export const Summary = Type.Object(
  {
    range: Analytics.properties.range,
    flows: Type.Array(
      Type.Object({
        flowId: FlowId,
        flowKey: Key('welcome'),
        totals: Totals,
        timeToComplete: Type.Object(TimeToComplete, described),
        daily: Type.Array(Type.Object(DayOfSummary), {
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
    'RFC 4180 with CRLF, UTF-8, one header row. A rate or time that there is not is an empty cell. ' +
    "A text that a spreadsheet would take for a formula has a `'` in front, and one that holds a `;` is quoted.",
})
