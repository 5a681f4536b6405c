import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { OrganisationRef, StepRef } from '../../core/reference.ts'
import type { Comparison, Fingerprint, Judgement } from '../../core/step/fingerprint.ts'
import type { HealthCounts, HealthOutcome } from '../../core/step/health.ts'
import type { StepBaseline } from '../authoring/index.ts'

/** What the state of a step rests on: the last 24 hours of one version. Times are epoch milliseconds. */
export interface StepEvidence {
  /** People by their latest report. */
  people: HealthCounts
  /** All reports, those without a person too. */
  reports: HealthCounts
  lastFindAt: number | null
  lastMissAt: number | null
  /** Since when misses, or makeshift finds, are as many as they are now; null where they are few. */
  missesSince: number | null
  makeshiftSince: number | null
  /** The pages with most misses, then with most reports. */
  pages: readonly { page: string | null; reports: number; misses: number; makeshift: number }[]
  /** What pages said of it, the latest first. */
  messages: readonly { message: string; reports: number; lastAt: number }[]
  /** The selector by which most found it where the step's own did not. */
  alternate: { selector: string; reports: number } | null
  fingerprints: FingerprintEvidence
}

/** What was reported of a step within some time. */
export interface StepDay {
  /** People by their latest report of it, whatever version that is of. */
  people: HealthCounts
  /** The versions that those reports are of, in order. */
  versions: readonly number[]
}

/** What fingerprints say of a step's element. */
export interface FingerprintEvidence {
  baselineAt: number | null
  /** What the element was like then. */
  baseline: Fingerprint | null
  /** How many came out as what. */
  match: number
  drift: number
  gone: number
  /** But for the baseline itself. */
  latest: FingerprintLook | null
  /** The selector suggested most often by the latest fingerprints that called for another one. */
  suggestion: { selector: string; times: number; of: number } | null
}

/** One look at an element; `fingerprint` is null where it was not there. */
export interface FingerprintLook extends Pick<Comparison, 'status' | 'score'> {
  at: number
  fingerprint: Fingerprint | null
}

/** What a check of steps asks of storage. */
export interface StepEvidenceStore {
  /** All that is known of one version of a step, of the window that its state is made from. */
  evidence(
    orgRef: OrganisationRef,
    stepRef: StepRef,
    version: number,
    now: number,
  ): Promise<StepEvidence>
  /** What was reported from one moment on, until before another, as far as reports are kept. */
  between(
    orgRef: OrganisationRef,
    stepRef: StepRef,
    startMs: number,
    endMs: number,
  ): Promise<StepDay>
  baseline(orgRef: OrganisationRef, stepRef: StepRef): Promise<StepBaseline | null>
}

/** What reports about steps ask of storage. */
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
   * JSON of the step's target: a baseline belongs to one target. Null where the newest version has
   * no such step: then a baseline is compared with, and never taken.
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
  /** How many people's latest report since a moment was which outcome. */
  healthCounts(
    orgRef: OrganisationRef,
    stepRef: StepRef,
    version: number,
    sinceMs: number,
  ): Promise<HealthCounts>
}
