import type { Database } from 'bun:sqlite'
import { type Fingerprint, judgeFingerprint } from '../../../core/step/fingerprint.ts'
import type { FingerprintVerdict } from '../../../modules/steps/port.ts'
import type { FingerprintReport, HealthReport } from '../../shared/in-rows.ts'

interface Baseline {
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
    baseline: database.query<Baseline, [number, number]>(
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

/** What is written of steps: health reports, fingerprints and their baselines. */
export class StepTable {
  private readonly sql: ReturnType<typeof statements>

  constructor(database: Database) {
    this.sql = statements(database)
  }

  recordHealth(report: HealthReport): void {
    this.sql.report.run(
      report.orgRow,
      report.stepRow,
      report.version,
      report.person,
      report.outcome,
      report.at,
      report.url,
      report.selector,
      report.matchCount,
      report.waitMs,
      report.snippetVersion,
      report.message,
    )
    if (report.person === null) return
    this.sql.latest.run(
      report.orgRow,
      report.stepRow,
      report.version,
      report.person,
      report.at,
      report.outcome,
    )
  }

  /** Judged here, in the transaction, so that of two first fingerprints one is the baseline. */
  recordFingerprint(report: FingerprintReport): FingerprintVerdict {
    const verdict = this.judge(report)
    this.sql.fingerprint.run(
      report.orgRow,
      report.stepRow,
      report.version,
      report.at,
      verdict.status,
      verdict.score,
      report.locale,
      report.url,
      report.snippetVersion,
      report.fingerprint ? JSON.stringify(report.fingerprint) : null,
      verdict.suggestedSelector,
    )
    return verdict
  }

  private judge(report: FingerprintReport): FingerprintVerdict {
    const { fingerprint } = report
    const stored = this.sql.baseline.get(report.orgRow, report.stepRow)
    const { target } = report
    if (!stored || (target !== null && stored.target !== target)) {
      if (fingerprint?.matchCount !== 1 || !report.isCurrent || target === null) {
        // Nothing to compare with yet: an element that is not surely there is not a baseline.
        return { status: 'gone', score: 0, signals: {}, baselineAt: null, suggestedSelector: null }
      }
      this.sql.setBaseline.run(
        report.orgRow,
        report.stepRow,
        target,
        report.at,
        report.locale,
        JSON.stringify(fingerprint),
      )
      return {
        status: 'baseline',
        score: 1,
        signals: {},
        baselineAt: report.at,
        suggestedSelector: null,
      }
    }
    const baseline = {
      print: JSON.parse(stored.fingerprint) as Fingerprint,
      locale: stored.locale,
    }
    const seen = { ...report, print: fingerprint }
    return { ...judgeFingerprint(baseline, seen), baselineAt: stored.at }
  }
}
