import { type Static, type StaticDecode, Type } from '@sinclair/typebox'
import {
  DocumentedAs,
  FlowId,
  FlowVersion,
  Maybe,
  OneOf,
  OrNull,
  PersonFields,
  StepId,
  Text,
  Url,
} from '../../core/shapes.ts'
import { maxCandidates } from '../../core/step/comparison.ts'
import { Fingerprint } from '../../core/step/fingerprint.ts'
import { healthOutcomes, stepStates } from '../../core/step/health.ts'
import {
  CountsByOutcome,
  FingerprintVerdict,
  Selector,
  StepEvidence,
} from '../../storage/interfaces/steps.ts'

const Reported = {
  url: Url,
  flowVersion: FlowVersion,
  snippetVersion: Maybe(
    Type.String({ maxLength: 64, description: "The snippet's version.", examples: ['1.4.0'] }),
  ),
}

/** Loosely checked here: `allowedFingerprint` drops what does not fit. */
const Sent = DocumentedAs(
  Type.Object({ matchCount: Maybe(Type.Integer({ minimum: 0 })) }),
  Fingerprint,
)

export const FingerprintBody = Type.Object(
  {
    fingerprint: OrNull(Sent, 'Null if the element was not found.'),
    candidates: Maybe(
      Type.Array(Sent, {
        maxItems: maxCandidates,
        description: 'Elements that may be the right one, if it was not found for certain.',
      }),
    ),
    locale: Maybe(
      Type.String({
        maxLength: 64,
        description: "The page's language. Texts in different languages are not compared.",
        examples: ['en-GB'],
      }),
    ),
    viewport: Maybe(
      Type.Object(
        {},
        { description: "The window's size. Not stored.", examples: [{ width: 1280, height: 800 }] },
      ),
    ),
    ...Reported,
  },
  { title: 'FingerprintReport' },
)
export type FingerprintBody = Static<typeof FingerprintBody>

export const FingerprintResult = Type.Object(
  { stepId: StepId, ...FingerprintVerdict.properties },
  { title: 'FingerprintVerdict' },
)

export const HealthBody = Type.Object(
  {
    outcome: OneOf(healthOutcomes, { description: 'Whether and how the element was found.' }),
    ...PersonFields,
    selector: Maybe(Type.String({ maxLength: 1_000, description: 'The selector that found it.' })),
    matchCount: Maybe(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        description: 'How many elements the selector matches.',
        examples: [1],
      }),
    ),
    waitMs: Maybe(
      Type.Number({
        minimum: 0,
        maximum: 86_400_000,
        description: 'How long the page looked for it, in milliseconds.',
        examples: [180],
      }),
    ),
    message: Maybe(Type.String({ maxLength: 500, description: 'The error message.' })),
    ...Reported,
  },
  {
    title: 'HealthReport',
    examples: [{ outcome: 'found', userId: 'ann', matchCount: 1, waitMs: 180 }],
  },
)
export type HealthBody = Static<typeof HealthBody>

/** The definition of each health number, in one sentence. */
export const healthDefinitions = {
  people: 'People counted, each by their latest report.',
  state:
    'unknown: fewer than five people reported. healthy: less than 5 % of them missed the element. drifting: as healthy, but 20 % or more of the finds were by something other than the selector, or of a changed element. flaky: less than half missed it, or more if the target is not required. broken: half or more missed it.',
  okRate:
    'People whose page found the element divided by people counted, with four decimals. Null if nobody reported.',
}

export const StepStateShape = OneOf(stepStates, {
  description:
    "From each person's latest report of the last 24 hours. `unknown` for fewer than five people.",
  examples: ['healthy'],
})

const timezone = Type.Optional(
  Type.String({
    description: 'IANA time zone of the days of the history. Default: UTC.',
    examples: ['Europe/Berlin'],
  }),
)

export const CheckQuery = Type.Object({
  flow: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Return only steps of the flow with this key.',
    }),
  ),
  history: Type.Optional(
    OneOf(['0', '1'], {
      description: '`1`: include the last 30 days of each step, by day. Requires `flow`.',
    }),
  ),
  timezone,
})
export type CheckQuery = Static<typeof CheckQuery>

export const HistoryQuery = Type.Object({
  timezone,
  bom: Type.Optional(
    OneOf(['0', '1'], { description: '`1`: start with a byte order mark, for spreadsheets.' }),
  ),
})

export const historyDefinitions = {
  history:
    'The last 30 days in the requested time zone. Days without reports, or whose reports have expired, are left out.',
  'history.people': 'People counted, each by their latest report of that day on any version.',
  'history.state':
    'The state by the people of that day. Uses the `required` setting as published now.',
  'history.versions': 'The versions that were reported on.',
  'history.complete': 'Whether the day is over in the requested time zone.',
}

const HistoryDay = Type.Object(
  {
    date: Type.String({
      format: 'date',
      description: 'A day in the requested time zone.',
      examples: ['2026-11-01'],
    }),
    people: CountsByOutcome(historyDefinitions['history.people']),
    state: OneOf(stepStates, {
      description: historyDefinitions['history.state'],
      examples: ['healthy'],
    }),
    okRate: OrNull(
      Type.Number({ minimum: 0, maximum: 1 }),
      'Share of people who found it, 0 to 1. Null if nobody reported.',
    ),
    versions: Type.Array(Type.Integer({ examples: [3] }), {
      description: historyDefinitions['history.versions'],
    }),
    complete: Type.Boolean({
      description: historyDefinitions['history.complete'],
      examples: [true],
    }),
  },
  { title: 'HealthDay' },
)
export type HistoryDay = StaticDecode<typeof HistoryDay>

export const CheckedStep = Type.Object(
  {
    flow: Text("The flow's key.", 'welcome'),
    flowId: FlowId,
    version: Type.Integer({ description: 'The published version.', examples: [3] }),
    step: Text(
      "The step's key. The key of a launcher's first item stands for the element that opens it.",
      'create',
    ),
    stepId: StepId,
    selector: Selector,
    required: Type.Boolean({ description: 'Whether its absence counts as a problem.' }),
    isPinned: Type.Boolean({ description: 'Whether the flow has a fingerprint to find it by.' }),
    state: StepStateShape,
    okRate: OrNull(
      Type.Number({ minimum: 0, maximum: 1 }),
      'Share of people who found it, 0 to 1. Null if nobody reported.',
    ),
    ...StepEvidence.properties,
    title: Type.Optional(Type.String({ description: 'The title of the step, if it has one.' })),
    canBePinned: Type.Boolean({
      description: 'Whether `POST /manage/pin` would copy the baseline into the flow.',
    }),
    history: Type.Optional(
      Type.Array(HistoryDay, {
        description: `If requested. ${historyDefinitions.history}`,
      }),
    ),
  },
  { title: 'CheckedStep' },
)
export type CheckedStep = StaticDecode<typeof CheckedStep>

export const StepCheck = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether no step is drifting, flaky or broken.' }),
    steps: Type.Array(CheckedStep, { description: 'By flow, highest priority first.' }),
    historyRange: Type.Optional(
      Type.Object(
        {
          from: Type.String({ format: 'date', examples: ['2026-11-01'] }),
          to: Type.String({ format: 'date', examples: ['2026-11-30'] }),
          timezone: Type.String({ examples: ['Europe/Berlin'] }),
        },
        { description: 'The days of the histories, if requested.' },
      ),
    ),
    definitions: Type.Record(Type.String(), Type.String(), {
      description: 'What each field means, in one sentence.',
    }),
  },
  { title: 'StepCheck' },
)
export type StepCheck = Static<typeof StepCheck>

export const HistoryCsv = Type.String({ title: 'HealthHistoryCsv' })

export const HealthReceipt = Type.Object(
  { stepId: StepId, recorded: Type.Literal(true), state: StepStateShape },
  { title: 'HealthReceipt' },
)
