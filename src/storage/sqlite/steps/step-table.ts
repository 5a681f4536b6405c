import type { Database } from 'bun:sqlite'
import { judgeFingerprint } from '../../../core/step/comparison.ts'
import type { FingerprintVerdict } from '../../interfaces/steps.ts'
import type { FingerprintReport, HealthReport } from '../../shared/in-rows.ts'

/** What the fingerprints of a step are compared with. */
export interface StoredBaseline {
  target: string
  at: number
  locale: string | null
  fingerprint: string
}

function statements(database: Database) {
  return {
    report: database.query(
      `insert into step_reports (org_id, step_id, version, person, outcome, at, url, selector,
        match_count, wait_ms, snippet_version, message)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    latest: database.query(
      `insert into step_health (org_id, step_id, version, person, at, outcome)
      values (?, ?, ?, ?, ?, ?)
      on conflict do update set at = excluded.at, outcome = excluded.outcome`,
    ),
    baseline: database.query<StoredBaseline, [number, number]>(
      `select target, at, locale, fingerprint from step_baselines
      where org_id = ? and step_id = ?`,
    ),
    setBaseline: database.query(
      `insert into step_baselines (org_id, step_id, target, at, locale, fingerprint)
      values (?, ?, ?, ?, ?, ?)
      on conflict do update set target = excluded.target, at = excluded.at,
        locale = excluded.locale, fingerprint = excluded.fingerprint`,
    ),
    fingerprint: database.query(
      `insert into step_fingerprints (org_id, step_id, version, at, status, score, locale, url,
        snippet_version, fingerprint, suggested_selector)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
  }
}

/** Writes health reports, fingerprints and their baselines. */
export class StepTable {
  private readonly sql: ReturnType<typeof statements>

  constructor(database: Database) {
    this.sql = statements(database)
  }

  recordHealth(report: HealthReport): void {
    const { orgRow, stepRow, version, person, outcome, at } = report
    const { url, selector, matchCount, waitMs, snippetVersion, message } = report
    const found = [url, selector, matchCount, waitMs, snippetVersion, message]
    this.sql.report.run(orgRow, stepRow, version, person, outcome, at, ...found)
    if (person !== null) this.sql.latest.run(orgRow, stepRow, version, person, at, outcome)
  }

  /** Judges in the transaction, so that only one of two first fingerprints becomes the baseline. */
  recordFingerprint(report: FingerprintReport): FingerprintVerdict {
    const { orgRow, stepRow, version, target, at, locale, url, snippetVersion } = report
    const stored = this.sql.baseline.get(orgRow, stepRow)
    const { verdict, isBaseline } = judgeReport(report, stored)
    const fingerprint = report.fingerprint && JSON.stringify(report.fingerprint)
    if (isBaseline) this.sql.setBaseline.run(orgRow, stepRow, target, at, locale, fingerprint)
    const { status, score, suggestedSelector } = verdict
    const judged = [status, score, locale, url, snippetVersion, fingerprint, suggestedSelector]
    this.sql.fingerprint.run(orgRow, stepRow, version, at, ...judged)
    return verdict
  }
}

/** Judges a fingerprint against the stored baseline; `isBaseline` if it becomes the new baseline. */
function judgeReport(
  report: FingerprintReport,
  stored: StoredBaseline | null,
): { verdict: FingerprintVerdict; isBaseline: boolean } {
  const { fingerprint, target } = report
  if (stored && (target === null || stored.target === target)) {
    const baseline = { print: JSON.parse(stored.fingerprint), locale: stored.locale }
    const judgement = judgeFingerprint(baseline, { ...report, print: fingerprint })
    return { verdict: { ...judgement, baselineAt: stored.at }, isBaseline: false }
  }
  const nothing = { signals: {}, suggestedSelector: null }
  // Nothing to compare with yet. An element that is not certainly there does not become the baseline.
  const isBaseline = fingerprint?.matchCount === 1 && report.isCurrent && target !== null
  const verdict: FingerprintVerdict = isBaseline
    ? { ...nothing, status: 'baseline', score: 1, baselineAt: report.at }
    : { ...nothing, status: 'gone', score: 0, baselineAt: null }
  return { verdict, isBaseline }
}
