import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { OrganisationRef, StepRef } from '../../core/reference.ts'
import type { Comparison, Judgement } from '../../core/step/comparison.ts'
import type { Fingerprint } from '../../core/step/fingerprint.ts'
import type { HealthCounts, HealthOutcome } from '../../core/step/health.ts'
import type { StepBaseline } from './authoring.ts'

/** The evidence for a step's state: the last 24 hours of one version. Times are epoch milliseconds. */
export interface StepEvidence {
  /** People, each by their latest report. */
  people: HealthCounts
  /** All reports, including those without a person. */
  reports: HealthCounts
  lastFindAt: number | null
  lastMissAt: number | null
  /** Since when misses, or makeshift finds, have been as frequent as now; null if they are few. */
  missesSince: number | null
  makeshiftSince: number | null
  /** The pages with the most misses first, then those with the most reports. */
  pages: readonly { page: string | null; reports: number; misses: number; makeshift: number }[]
  /** What pages said about it, latest first. */
  messages: readonly { message: string; reports: number; lastAt: number }[]
  /** The selector with which most pages found it when the step's own selector did not. */
  alternate: { selector: string; reports: number } | null
  fingerprints: FingerprintEvidence
}

/** What was reported about a step within a period. */
export interface StepDay {
  /** People, each by their latest report in that period, whatever its version. */
  people: HealthCounts
  /** The versions of those reports, in order. */
  versions: readonly number[]
}

/** What fingerprints say about a step's element. */
export interface FingerprintEvidence {
  baselineAt: number | null
  /** What the element was like at that time. */
  baseline: Fingerprint | null
  /** How many fingerprints had which result. */
  match: number
  drift: number
  gone: number
  /** The latest look, not counting the baseline itself. */
  latest: FingerprintLook | null
  /** The selector suggested most often by the latest fingerprints that called for another one. */
  suggestion: { selector: string; times: number; of: number } | null
}

/** One look at an element. `fingerprint` is null if the element was not there. */
export interface FingerprintLook extends Pick<Comparison, 'status' | 'score'> {
  at: number
  fingerprint: Fingerprint | null
}

/** What a check of steps needs from storage. */
export interface StepEvidenceStore {
  /** Everything that is known about one version of a step in the window that its state is based on. */
  evidence(
    orgRef: OrganisationRef,
    stepRef: StepRef,
    version: number,
    now: number,
  ): Promise<StepEvidence>
  /** What was reported from one moment (inclusive) to another (exclusive), as far as reports are kept. */
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

export interface FingerprintVerdict extends Omit<Judgement, 'status'> {
  status: 'baseline' | Judgement['status']
  baselineAt: number | null
}

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
