import { type StaticDecode, type TInteger, Type } from '@sinclair/typebox'
import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { OrganisationRef, StepRef } from '../../core/reference.ts'
import { Count, Instant, InstantOrNull, OneOf, OrNull, Share } from '../../core/shapes.ts'
import { signalWeights } from '../../core/step/comparison.ts'
import { Fingerprint } from '../../core/step/fingerprint.ts'
import { type HealthCounts, type HealthOutcome, healthOutcomes } from '../../core/step/health.ts'
import type { StepBaseline } from './authoring.ts'

const countFields = Object.fromEntries(
  healthOutcomes.map(outcome => [outcome, Type.Integer({ minimum: 0, examples: [0] })]),
) as Record<HealthOutcome, TInteger>

export const CountsByOutcome = (description: string) => Type.Object(countFields, { description })

export const Selector = Type.String({ examples: ['#new-project'] })

const LatestFingerprint = Type.Object({
  status: OneOf(['match', 'drift', 'gone']),
  score: Share('How similar the element is to the baseline.', 0.92),
  at: Instant('When it was reported.'),
  fingerprint: OrNull(Fingerprint, 'What the element was like. Null if it was not found.'),
})
export type LatestFingerprint = StaticDecode<typeof LatestFingerprint>

const fingerprintFields = {
  baselineAt: InstantOrNull('When the baseline was taken.'),
  baseline: OrNull(Fingerprint, 'What the element was like when the baseline was taken.'),
  match: Count('Fingerprints similar to the baseline.', 12),
  drift: Count('Fingerprints that differ from the baseline.', 1),
  gone: Count('Fingerprints without the element.', 3),
  latest: OrNull(LatestFingerprint, 'The latest fingerprint, not counting the baseline.'),
}

const Suggestion = OrNull(
  Type.Object({
    selector: Selector,
    times: Count('How many of the latest fingerprints suggest it.', 3),
    of: Count('How many of the latest fingerprints call for another selector.', 3),
  }),
  'The selector that would find the element.',
)

/** The evidence for a step's state: the last 24 hours of one version. */
export const StepEvidence = Type.Object({
  people: CountsByOutcome('People of the last 24 hours, each by their latest report.'),
  reports: CountsByOutcome('All reports, including those without a person.'),
  lastFindAt: InstantOrNull('When the element was last found.'),
  lastMissAt: InstantOrNull('When the element was last missed.'),
  missesSince: InstantOrNull(
    'Since when misses are as frequent as now, at most a week. Null if they are rare.',
  ),
  fallbackSince: InstantOrNull('The same for finds by something other than its selector.'),
  pages: Type.Array(
    Type.Object({
      page: OrNull(Type.String(), 'URL without query and fragment. Null if unknown.'),
      reports: Count('Reports from this page.', 15),
      misses: Count('Reports that missed the element.', 3),
      fallback: Count('Reports that found it by something other than its selector.', 0),
    }),
    { description: 'Pages with the most misses first.' },
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
    Type.Object({ selector: Selector, reports: Count('Reports that found it by this.', 2) }),
    'The alternate selector that found the element most often when its own did not.',
  ),
  fingerprints: Type.Object(fingerprintFields),
  suggestion: Suggestion,
})
export type StepEvidence = StaticDecode<typeof StepEvidence>

/** What fingerprints say about a step's element. */
const FingerprintEvidence = Type.Object({ ...fingerprintFields, suggestion: Suggestion })
export type FingerprintEvidence = StaticDecode<typeof FingerprintEvidence>

/** What was reported about a step within a period. */
export interface StepDay {
  /** People, each by their latest report in that period, whatever its version. */
  people: HealthCounts
  /** The versions of those reports, in order. */
  versions: number[]
}

/** What a check of steps needs from storage. */
export interface StepEvidenceStore {
  /** The evidence for the state of one version of a step. */
  evidence(
    orgRef: OrganisationRef,
    stepRef: StepRef,
    version: number,
    now: number,
  ): Promise<StepEvidence>
  /** What was reported from one moment (inclusive) to another (exclusive), unless it has expired. */
  between(
    orgRef: OrganisationRef,
    stepRef: StepRef,
    startMs: number,
    endMs: number,
  ): Promise<StepDay>
  baseline(orgRef: OrganisationRef, stepRef: StepRef): Promise<StepBaseline | null>
}

/** What reports about steps need from storage. */
export interface StepStores {
  catalogue(): Catalogue
  steps: StepBook
}

export interface HealthReport {
  orgRef: OrganisationRef
  stepRef: StepRef
  version: number
  person: string | null
  outcome: HealthOutcome
  at: number
  url: string | null
  selector: string | null
  matchCount: number | null
  waitMs: number | null
  snippetVersion: string | null
  message: string | null
}

export interface FingerprintReport {
  orgRef: OrganisationRef
  stepRef: StepRef
  version: number
  /** Whether this version is the published one, so that a first fingerprint becomes the baseline. */
  isCurrent: boolean
  /**
   * JSON of the step's target, because a baseline belongs to one target. Null if the newest version has no
   * such step: then the fingerprint is compared with a baseline, but never becomes one.
   */
  target: string | null
  fingerprint: Fingerprint | null
  candidates: readonly Fingerprint[]
  at: number
  url: string | null
  locale: string | null
  snippetVersion: string | null
}

export const FingerprintVerdict = Type.Object({
  status: OneOf(['baseline', 'match', 'drift', 'gone'], {
    description:
      'How similar the element is to its baseline. `baseline` if it has become the baseline.',
    examples: ['match'],
  }),
  score: Share('Weighted mean of the signals, 0 to 1, with four decimals.', 0.9625),
  signals: Type.Object(
    Object.fromEntries(
      Object.entries(signalWeights).map(([signal, weight]) => [
        signal,
        Type.Optional(Share(`Weight ${weight}.`, 1)),
      ]),
    ),
    {
      description: 'The parts that could be compared, each 0 to 1.',
      examples: [{ testId: 1, tag: 1, text: 0.75 }],
    },
  ),
  baselineAt: InstantOrNull('When the baseline was taken.'),
  suggestedSelector: OrNull(
    Type.String(),
    'Selector of the only candidate that is certainly the element.',
    null,
  ),
})
export type FingerprintVerdict = StaticDecode<typeof FingerprintVerdict>

export interface StepBook {
  recordHealth(report: HealthReport): Promise<void>
  recordFingerprint(report: FingerprintReport): Promise<FingerprintVerdict>
  /** How many people there are by the outcome of their latest report since a moment. */
  healthCounts(
    orgRef: OrganisationRef,
    stepRef: StepRef,
    version: number,
    sinceMs: number,
  ): Promise<HealthCounts>
}
