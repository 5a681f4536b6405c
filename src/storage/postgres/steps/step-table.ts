import type { FingerprintVerdict } from '../../../modules/steps/port.ts'
import type { FingerprintReport, HealthReport } from '../../shared/in-rows.ts'
import { judgeReport, type StoredBaseline } from '../../sqlite/steps/step-table.ts'
import { asRows, type Queries } from '../database/connection.ts'

const reportColumns = `org_id, step_id, version, person, outcome, at, url, selector, match_count,
  wait_ms, snippet_version, message`

/** Stores reports in their order; within a transaction that has locked their organisations. */
export async function recordHealth(
  queries: Queries,
  ...reports: readonly HealthReport[]
): Promise<void> {
  if (reports.length === 0) return
  await queries.run(
    `with
      -- Here seq is only a report's place among them.
      reported as materialized (
        select * from json_populate_recordset(null::step_reports, $1::text::json)
      ),
      stored as (
        insert into step_reports (${reportColumns}) select ${reportColumns} from reported order by seq
      )
    insert into step_health (org_id, step_id, version, person, at, outcome)
    select distinct on (org_id, step_id, version, person)
      org_id, step_id, version, person, at, outcome
    from reported where person is not null
    order by org_id, step_id, version, person, seq desc
    on conflict (org_id, step_id, version, person)
      do update set at = excluded.at, outcome = excluded.outcome`,
    asRows(
      reports.map((report, seq) => ({
        seq,
        org_id: report.orgRow,
        step_id: report.stepRow,
        version: report.version,
        person: report.person,
        outcome: report.outcome,
        at: report.at,
        url: report.url,
        selector: report.selector,
        match_count: report.matchCount,
        wait_ms: report.waitMs,
        snippet_version: report.snippetVersion,
        message: report.message,
      })),
    ),
  )
}

/**
 * Judges and stores a fingerprint, within a transaction that has locked its organisation, so that only one of two
 * first ones becomes the baseline.
 */
export async function recordFingerprint(
  queries: Queries,
  report: FingerprintReport,
): Promise<FingerprintVerdict> {
  const { orgRow, stepRow, target, at, locale } = report
  const stored = await queries.get<StoredBaseline>(
    `select target, at, locale, fingerprint from step_baselines where org_id = $1 and step_id = $2`,
    ...[orgRow, stepRow],
  )
  const { verdict, isBaseline } = judgeReport(report, stored)
  const fingerprint = report.fingerprint && JSON.stringify(report.fingerprint)
  if (isBaseline) {
    await queries.run(
      `insert into step_baselines (org_id, step_id, target, at, locale, fingerprint)
      values ($1, $2, $3, $4, $5, $6)
      on conflict (org_id, step_id) do update set target = excluded.target, at = excluded.at,
        locale = excluded.locale, fingerprint = excluded.fingerprint`,
      ...[orgRow, stepRow, target, at, locale, fingerprint],
    )
  }
  await queries.run(
    `insert into step_fingerprints (org_id, step_id, version, at, status, score, locale, url,
      snippet_version, fingerprint, suggested_selector)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    ...[orgRow, stepRow, report.version, at, verdict.status, verdict.score, locale, report.url],
    ...[report.snippetVersion, fingerprint],
    // PostgreSQL does not take a NUL, which CSS reads as this.
    verdict.suggestedSelector?.replaceAll('\0', '\ufffd') ?? null,
  )
  return verdict
}

/**
 * Deletes health reports from before a moment. If a report is its person's latest, that is deleted too.
 *
 * @returns how many; fewer than `most` if no more is left
 */
export async function deleteOldReports(
  queries: Queries,
  orgRow: number,
  before: number,
  most: number,
): Promise<number> {
  const gone = await queries.get<{ reports: number }>(
    `with
      gone as (
        delete from step_reports where org_id = $1 and seq in (
          select seq from step_reports where org_id = $1 and at < $2 order by at limit $3
        )
        returning step_id, version, person, at
      ),
      latest as (
        delete from step_health using gone
        where org_id = $1 and step_health.step_id = gone.step_id
          and step_health.version = gone.version and step_health.person = gone.person
          and step_health.at = gone.at
      )
    select count(*) as reports from gone`,
    ...[orgRow, before, most],
  )
  return gone!.reports
}

/** The same for fingerprints that were judged. Baselines are stored elsewhere, and stay. */
export const deleteOldFingerprints = (
  queries: Queries,
  orgRow: number,
  before: number,
  most: number,
): Promise<number> =>
  queries.run(
    `delete from step_fingerprints where org_id = $1 and seq in (
      select seq from step_fingerprints where org_id = $1 and at < $2 order by at limit $3
    )`,
    ...[orgRow, before, most],
  )
