import { type Static, type TInteger, Type } from '@sinclair/typebox'
import {
  Count,
  DocumentedAs,
  FlowId,
  FlowVersion,
  Instant,
  InstantOrNull,
  Maybe,
  OneOf,
  OrNull,
  PersonFields,
  StepId,
  Text,
  Url,
} from '../../core/shapes.ts'
import { maxCandidates, signalWeights } from '../../core/step/comparison.ts'
import { Fingerprint } from '../../core/step/fingerprint.ts'
import { type HealthOutcome, healthOutcomes, stepStates } from '../../core/step/health.ts'

const Reported = {
  url: Url,
  flowVersion: FlowVersion,
  snippetVersion: Maybe(
    Type.String({ maxLength: 64, description: "The snippet's version.", examples: ['1.4.0'] }),
  ),
}

/** Only limited as a whole here; `allowedFingerprint` keeps what may be kept. */
const Sent = DocumentedAs(
  Type.Object({ matchCount: Maybe(Type.Integer({ minimum: 0 })) }),
  Fingerprint,
)

export const FingerprintBody = Type.Object(
  {
    fingerprint: OrNull(Sent, 'Null: the element was looked for and is not there.'),
    candidates: Maybe(
      Type.Array(Sent, {
        maxItems: maxCandidates,
        description: 'Elements that might be the one, where it was not found for certain.',
      }),
    ),
    locale: Maybe(
      Type.String({
        maxLength: 64,
        description: "The page's language; texts of another are not compared.",
        examples: ['en-GB'],
      }),
    ),
    viewport: Maybe(
      Type.Object(
        {},
        { description: "The window's size; not kept.", examples: [{ width: 1280, height: 800 }] },
      ),
    ),
    ...Reported,
  },
  { title: 'FingerprintReport' },
)
export type FingerprintBody = Static<typeof FingerprintBody>

const Share = (description: string, example: number) =>
  Type.Number({ minimum: 0, maximum: 1, description, examples: [example] })

export const FingerprintVerdict = Type.Object(
  {
    stepId: StepId,
    status: OneOf(['baseline', 'match', 'drift', 'gone'], {
      description:
        'How like its baseline the element is; `baseline`: there was none to compare with.',
      examples: ['match'],
    }),
    score: Share('The signals together, by weight; four decimals.', 0.9625),
    signals: Type.Object(
      Object.fromEntries(
        Object.entries(signalWeights).map(([signal, weight]) => [
          signal,
          Type.Optional(Share(`Weight ${weight}.`, 1)),
        ]),
      ),
      {
        description: 'Those that could be compared.',
        examples: [{ testId: 1, tag: 1, text: 0.75 }],
      },
    ),
    baselineAt: InstantOrNull('When the baseline was taken.'),
    suggestedSelector: OrNull(
      Type.String(),
      'The selector of the one candidate that is the element for certain.',
      null,
    ),
  },
  { title: 'FingerprintVerdict' },
)
export type FingerprintVerdict = Static<typeof FingerprintVerdict>

export const HealthBody = Type.Object(
  {
    outcome: OneOf(healthOutcomes, { description: 'Outcome of looking for the element.' }),
    ...PersonFields,
    selector: Maybe(Type.String({ maxLength: 1_000, description: 'What found it.' })),
    matchCount: Maybe(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000_000,
        description: 'How many elements it matched.',
        examples: [1],
      }),
    ),
    waitMs: Maybe(
      Type.Number({
        minimum: 0,
        maximum: 86_400_000,
        description: 'How long it took.',
        examples: [180],
      }),
    ),
    message: Maybe(Type.String({ maxLength: 500, description: 'What went wrong.' })),
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
    'unknown: under five people; healthy: under 5 % of them missed the target; drifting: healthy, but a fifth or more of the finds were makeshift or changed; flaky: under half missed it, or more where the target is not required; broken: half or more missed it.',
  okRate:
    'People whose page found the target divided by people counted, four decimals; null where nobody reported.',
}

/** The state of a step's target on the pages that show it. */
export const StepStateShape = OneOf(stepStates, {
  description:
    "From each person's latest report of the last 24 hours; `unknown` under five people.",
  examples: ['healthy'],
})

const timezone = Type.Optional(
  Type.String({
    description: 'The IANA zone that days of the history are of; UTC where absent.',
    examples: ['Europe/Berlin'],
  }),
)

export const CheckQuery = Type.Object({
  flow: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'The key of one flow alone.' }),
  ),
  history: Type.Optional(
    OneOf(['0', '1'], {
      description: '1: with the last 30 days of each step, a day at a time; of one flow alone.',
    }),
  ),
  timezone,
})
export type CheckQuery = Static<typeof CheckQuery>

export const HistoryQuery = Type.Object({
  timezone,
  bom: Type.Optional(
    OneOf(['0', '1'], { description: '1: begin with a byte order mark, for spreadsheets.' }),
  ),
})

/** The definition of each number of a history, in one sentence. Sent if histories are asked for. */
export const historyDefinitions = {
  history:
    'The last 30 days in the asked zone of which reports are still kept; days on which nobody reported are left out.',
  'history.people': 'People counted, each by their latest report of that day, of any version.',
  'history.state':
    'The state by the people of that day alone; whether the target is required is as published now.',
  'history.versions': 'The versions that those reports are of.',
  'history.complete': 'Whether the day was over in the asked zone.',
}

const countFields = Object.fromEntries(
  healthOutcomes.map(outcome => [outcome, Type.Integer({ minimum: 0, examples: [0] })]),
) as Record<HealthOutcome, TInteger>

const counts = (description: string) => Type.Object(countFields, { description })

const HistoryDay = Type.Object(
  {
    date: Type.String({
      format: 'date',
      description: 'A day of the asked zone.',
      examples: ['2026-11-01'],
    }),
    people: counts(historyDefinitions['history.people']),
    state: OneOf(stepStates, {
      description: historyDefinitions['history.state'],
      examples: ['healthy'],
    }),
    okRate: OrNull(Type.Number({ minimum: 0, maximum: 1 }), 'The share of people who found it.'),
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
export type HistoryDay = Static<typeof HistoryDay>

const Selector = Type.String({ examples: ['#new-project'] })

const CheckedStep = Type.Object(
  {
    flow: Text("The flow's key.", 'welcome'),
    flowId: FlowId,
    version: Type.Integer({ description: 'The published version.', examples: [3] }),
    step: Text("The step's key.", 'create'),
    stepId: StepId,
    selector: Selector,
    required: Type.Boolean({ description: 'Whether it may not rightly be away.' }),
    isPinned: Type.Boolean({ description: 'Whether pages can find it by what it was like.' }),
    state: StepStateShape,
    okRate: OrNull(Type.Number({ minimum: 0, maximum: 1 }), 'The share of people who found it.'),
    people: counts('People of the last 24 hours, each by their latest report.'),
    reports: counts('All reports, those without a person too.'),
    lastFindAt: InstantOrNull('When it was found last.'),
    lastMissAt: InstantOrNull('When it was missed last.'),
    missesSince: InstantOrNull('Since when misses are as many as they are; a week at most.'),
    makeshiftSince: InstantOrNull('The same of finds by another way than its selector.'),
    pages: Type.Array(
      Type.Object({
        page: OrNull(Type.String(), 'Its address without query and fragment. Null if unknown.'),
        reports: Count('Reports from it.', 15),
        misses: Count('Of them misses.', 3),
        makeshift: Count('Of them finds by another way.', 0),
      }),
      { description: 'The pages with most misses first.' },
    ),
    messages: Type.Array(
      Type.Object({
        message: Type.String({ examples: ['no element matches'] }),
        reports: Count('Number of reports.', 3),
        lastAt: Instant('When it was last reported.'),
      }),
      { description: 'Messages from pages, latest first.' },
    ),
    alternate: OrNull(
      Type.Object({ selector: Selector, reports: Count('Reports that found it so.', 2) }),
      'The selector by which most found it where its own did not.',
    ),
    fingerprints: Type.Object({
      baselineAt: InstantOrNull('When the baseline was taken.'),
      baseline: OrNull(Fingerprint, 'What the element was like then.'),
      match: Count('Looks that were like it.', 12),
      drift: Count('Looks that had drifted away from it.', 1),
      gone: Count('Looks that did not find it.', 3),
      latest: OrNull(
        Type.Object({
          status: OneOf(['match', 'drift', 'gone']),
          score: Type.Number({ minimum: 0, maximum: 1, examples: [0.92] }),
          at: Instant('When.'),
          fingerprint: OrNull(
            Fingerprint,
            'What the element was like; null where it was looked for and was not there.',
          ),
        }),
        'The latest look.',
      ),
    }),
    suggestion: OrNull(
      Type.Object({
        selector: Selector,
        times: Count('How many of the latest looks suggest it.', 3),
        of: Count('Of how many that call for another selector.', 3),
      }),
      'The selector that would find it.',
    ),
    canBePinned: Type.Boolean({
      description: 'Whether `POST /manage/pin` would take over what its element was like.',
    }),
    history: Type.Optional(
      Type.Array(HistoryDay, {
        description: `Where it was asked for: ${historyDefinitions.history}`,
      }),
    ),
  },
  { title: 'CheckedStep' },
)
export type CheckedStep = Static<typeof CheckedStep>

export const StepCheck = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether no step is drifting, flaky or broken.' }),
    steps: Type.Array(CheckedStep, { description: 'By flow, those of highest priority first.' }),
    historyRange: Type.Optional(
      Type.Object(
        {
          from: Type.String({ format: 'date', examples: ['2026-11-01'] }),
          to: Type.String({ format: 'date', examples: ['2026-11-30'] }),
          timezone: Type.String({ examples: ['Europe/Berlin'] }),
        },
        { description: 'The days of the histories, where they were asked for.' },
      ),
    ),
    definitions: Type.Record(Type.String(), Type.String(), {
      description: 'What each of these means, in a sentence.',
    }),
  },
  { title: 'StepCheck' },
)
export type StepCheck = Static<typeof StepCheck>

/** One row per step and day. */
export const HistoryCsv = Type.String({ title: 'HealthHistoryCsv' })

export const HealthReceipt = Type.Object(
  { stepId: StepId, recorded: Type.Literal(true), state: StepStateShape },
  { title: 'HealthReceipt' },
)
export type HealthReceipt = Static<typeof HealthReceipt>
