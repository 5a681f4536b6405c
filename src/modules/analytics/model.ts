import { type Static, Type } from '@sinclair/typebox'
import { Count, FlowId, Instant, ItemId, OneOf, StepId, Told } from '../../http/shapes.ts'
import { StepStateShape } from '../steps/index.ts'
import { definitions } from './definitions.ts'

/** Dates are judged by `resolveRange`, which knows which of them there are. */
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

export const AnalyticsQuery = Type.Object(Range)
export type AnalyticsQuery = Static<typeof AnalyticsQuery>

export const ExportQuery = Type.Object({
  ...Range,
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

/** What a number means is said once, in the answer's own definitions. */
const counted = (field: keyof typeof definitions, example: number) =>
  Count(definitions[field], example)

const Rate = (description: string, example: number) =>
  Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
    description,
    examples: [example],
  })

const Seconds = (description: string, example: number) =>
  Type.Union([Type.Number({ minimum: 0 }), Type.Null()], { description, examples: [example] })

const CalendarDay = (example: string) => Type.String({ format: 'date', examples: [example] })

const Totals = Type.Object({
  starts: counted('starts', 412),
  uniqueUsers: counted('uniqueUsers', 390),
  completions: counted('completions', 268),
  uniqueCompleters: counted('uniqueCompleters', 261),
  dismissals: counted('dismissals', 97),
  inProgress: counted('inProgress', 47),
  completionRate: Rate(definitions.completionRate, 0.6505),
})

const StepNumbers = Type.Object(
  {
    stepId: StepId,
    key: Type.String({ examples: ['create'] }),
    position: Count('Counted from 0.', 0),
    title: Type.String({ examples: ['Start a project'] }),
    reached: counted('reached', 412),
    uniqueUsers: counted('uniqueUsers', 390),
    completed: counted('completed', 340),
    skipped: counted('skipped', 21),
    targetMissing: counted('targetMissing', 3),
    droppedHere: counted('droppedHere', 51),
    dropOffRate: Rate(definitions.dropOffRate, 0.1238),
    medianSeconds: Seconds(definitions.stepSeconds, 6.2),
    p90Seconds: Seconds(definitions.stepSeconds, 19.8),
    health: Type.Object(
      {
        state: StepStateShape,
        okRate: Rate('Reports that found the target, of all that are counted.', 0.9917),
        reports: Count('People counted.', 121),
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
      key: Type.String({ examples: ['invite-team'] }),
      title: Type.String({ examples: ['Invite your team'] }),
      completions: counted('checklist.completions', 88),
    }),
  ),
  completedAll: counted('checklist.completedAll', 61),
})

const DayNumbers = Type.Object({
  date: CalendarDay('2026-11-01'),
  starts: counted('starts', 14),
  uniqueUsers: counted('uniqueUsers', 14),
  completions: counted('completions', 9),
  dismissals: counted('dismissals', 3),
})

const VersionNumbers = Type.Object({
  version: Type.Integer({ minimum: 1, examples: [3] }),
  publishedAt: Instant('When it was published.', '2026-10-12T08:00:00.000Z'),
  starts: counted('starts', 412),
  completions: counted('completions', 268),
  completionRate: Rate(definitions.completionRate, 0.6505),
})

export const Analytics = Type.Object(
  {
    flowId: FlowId,
    flowKey: Type.String({ examples: ['welcome'] }),
    flowName: Type.String({ examples: ['Welcome tour'] }),
    range: Type.Object({
      from: CalendarDay('2026-11-01'),
      to: CalendarDay('2026-11-30'),
      timezone: Type.String({ examples: ['Europe/Berlin'] }),
    }),
    filters: Type.Object({
      version: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
        description: 'Null: all versions.',
        examples: [null],
      }),
    }),
    generatedAt: Instant('When this was worked out.'),
    totals: Totals,
    timeToComplete: Type.Object(
      {
        count: Count('Runs that were timed.', 268),
        medianSeconds: Seconds('The median.', 41.5),
        p90Seconds: Seconds('The 90th percentile.', 120.25),
      },
      { description: definitions.timeToComplete },
    ),
    steps: Type.Array(StepNumbers, {
      description:
        'Steps of the newest version in order, then those of older versions that runs have seen.',
    }),
    checklist: Type.Union([Checklist, Type.Null()], {
      description: 'Null for a flow without a checklist.',
    }),
    daily: Type.Array(DayNumbers, {
      description: `Every day of the range. ${definitions.daily}`,
    }),
    versions: Type.Array(VersionNumbers, { description: definitions.versions }),
    definitions: Type.Record(Type.String(), Type.String(), {
      description: 'What each number means, in one sentence.',
      examples: [{ starts: definitions.starts }],
    }),
  },
  { title: 'Analytics' },
)
export type Analytics = Static<typeof Analytics>

export const AnalyticsCsv = Type.String({
  description:
    'RFC 4180 with CRLF, UTF-8. The first column says what a row is: `total`, `day`, `step`, ' +
    "`item` or `version`. A text that a spreadsheet would take for a formula has a `'` in front.",
})
