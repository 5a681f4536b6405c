import { type Static, Type } from '@sinclair/typebox'
import { mostCandidates, signalWeights } from '../../core/fingerprint.ts'
import { outcomes, stepStates } from '../../core/step-health.ts'
import {
  FlowVersion,
  InstantOrNull,
  Maybe,
  OneOf,
  PersonFields,
  StepId,
  Told,
  Url,
} from '../../http/shapes.ts'
import { Fingerprint } from './fingerprint-model.ts'

const Reported = {
  url: Url,
  flowVersion: FlowVersion,
  snippetVersion: Maybe(
    Type.String({ maxLength: 64, description: "The snippet's version.", examples: ['1.4.0'] }),
  ),
}

/** Bounded here only in its whole; `allowedFingerprint` keeps what may be kept of it. */
const Sent = Told(Type.Object({ matchCount: Maybe(Type.Integer({ minimum: 0 })) }), Fingerprint)

export const FingerprintBody = Type.Object(
  {
    fingerprint: Type.Union([Sent, Type.Null()], {
      description: 'Null: the element was looked for and is not there.',
    }),
    candidates: Maybe(
      Type.Array(Sent, {
        maxItems: mostCandidates,
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
    suggestedSelector: Type.Union([Type.String(), Type.Null()], {
      description: 'The selector of the one candidate that is the element for certain.',
      examples: [null],
    }),
  },
  { title: 'FingerprintVerdict' },
)
export type FingerprintVerdict = Static<typeof FingerprintVerdict>

export const HealthBody = Type.Object(
  {
    outcome: OneOf(outcomes, { description: 'What became of looking for it.' }),
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

/** How a step's target fares on the pages that show it. */
export const StepStateShape = OneOf(stepStates, {
  description:
    "From each person's latest report of the last 24 hours; `unknown` under five people.",
  examples: ['healthy'],
})

export const HealthReceipt = Type.Object(
  { stepId: StepId, recorded: Type.Literal(true), state: StepStateShape },
  { title: 'HealthReceipt' },
)
export type HealthReceipt = Static<typeof HealthReceipt>
