import type { Database } from 'bun:sqlite'
import { badSince, type ReportSlot } from '../../../core/step/bad-since.ts'
import {
  type HealthCounts,
  type HealthOutcome,
  healthOutcomes,
  healthWindowMs,
  isMakeshift,
  isMiss,
  noHealthCounts,
} from '../../../core/step/health.ts'
import { dayMs, minuteMs } from '../../../core/time/durations.ts'
import type { StepBaseline, SuggestedSelectors } from '../../../modules/authoring/port.ts'
import type {
  FingerprintEvidence,
  FingerprintLook,
  StepDay,
  StepEvidence,
} from '../../../modules/steps/port.ts'

interface StoredBaseline {
  target: string
  at: number
  locale: string | null
  fingerprint: string
}

/** How far back `missesSince` and `makeshiftSince` look, and how finely. */
const sinceWindowMs = 7 * dayMs
const slotMs = 10 * minuteMs
const mostPages = 5
const mostMessages = 3
/** How many of the latest fingerprints are asked for a better selector. */
const suggestingPrints = 200

const sqlList = (words: readonly string[]) => words.map(word => `'${word}'`).join(', ')
const misses = sqlList(healthOutcomes.filter(isMiss))
const makeshift = sqlList(healthOutcomes.filter(isMakeshift))

/** A query or a fragment can hold a token, and makes each address a page of its own. */
const page = `substr(url, 1, min(instr(url || '?', '?'), instr(url || '#', '#')) - 1)`

/** Which rows: an organisation's step, after a moment, of one version. */
type Scope = [orgRow: number, stepRow: number, sinceMs: number, version: number]

function statements(database: Database) {
  const inScope = 'org_id = ? and step_id = ? and at > ? and version = ?'
  return {
    people: database.query<
      { outcome: HealthOutcome; people: number },
      [number, number, number, number]
    >(
      `select outcome, count(*) as people from step_health
      where org_id = ? and step_id = ? and version = ? and at > ? group by outcome`,
    ),
    reports: database.query<{ outcome: HealthOutcome; reports: number; last_at: number }, Scope>(
      `select outcome, count(*) as reports, max(at) as last_at from step_reports
      where ${inScope} group by outcome`,
    ),
    pages: database.query<
      { page: string | null; reports: number; misses: number; makeshift: number },
      Scope
    >(
      `select ${page} as page, count(*) as reports,
        sum(outcome in (${misses})) as misses, sum(outcome in (${makeshift})) as makeshift
      from step_reports where ${inScope}
      group by page order by misses desc, makeshift desc, reports desc, page limit ${mostPages}`,
    ),
    messages: database.query<{ message: string; reports: number; lastAt: number }, Scope>(
      `select message, count(*) as reports, max(at) as lastAt from step_reports
      where ${inScope} and message is not null
      group by message order by lastAt desc, message limit ${mostMessages}`,
    ),
    alternate: database.query<{ selector: string; reports: number }, Scope>(
      `select selector, count(*) as reports from step_reports
      where ${inScope} and outcome = 'found_by_alternate' and selector is not null
      group by selector order by reports desc, max(at) desc, selector limit 1`,
    ),
    // As for the state, reports without a person do not count.
    slots: database.query<ReportSlot, Scope>(
      `select count(*) as reports,
        sum(outcome in (${misses})) as misses, sum(outcome in (${makeshift})) as makeshift,
        min(case when outcome in (${misses}) then at end) as firstMissAt,
        min(case when outcome in (${makeshift}) then at end) as firstMakeshiftAt
      from step_reports where ${inScope} and person is not null
      group by at / ${slotMs} order by at / ${slotMs}`,
    ),
    // Each person's latest report of the time, whatever version it is of.
    between: database.query<
      { outcome: HealthOutcome; version: number; people: number },
      [number, number, number, number]
    >(
      `select outcome, version, count(*) as people from (
        select outcome, version, max(seq) from step_reports
        where org_id = ? and step_id = ? and at >= ? and at < ? and person is not null
        group by person)
      group by outcome, version`,
    ),
    baseline: database.query<StoredBaseline, [number, number]>(
      `select target, at, locale, fingerprint from step_baselines
      where org_id = ? and step_id = ?`,
    ),
    verdicts: database.query<{ status: string; count: number }, Scope>(
      `select status, count(*) as count from step_fingerprints where ${inScope} group by status`,
    ),
    latestVerdict: database.query<
      Omit<FingerprintLook, 'fingerprint'> & { fingerprint: string | null },
      Scope
    >(
      `select status, score, at, fingerprint from step_fingerprints where ${inScope} and status <> 'baseline'
      order by at desc, seq desc limit 1`,
    ),
    suggestions: database.query<{ selector: string | null; times: number }, Scope>(
      `select suggested_selector as selector, count(*) as times from (
        select suggested_selector, at from step_fingerprints
        where ${inScope} and (status in ('drift', 'gone') or suggested_selector is not null)
        order by at desc, seq desc limit ${suggestingPrints})
      group by selector order by times desc, max(at) desc`,
    ),
  }
}

/** What is read of steps: health, and what it rests on. */
export class StepReader {
  private readonly sql: ReturnType<typeof statements>

  constructor(database: Database) {
    this.sql = statements(database)
  }

  async healthCounts(
    orgRow: number,
    stepRow: number,
    version: number,
    sinceMs: number,
  ): Promise<HealthCounts> {
    const counts = noHealthCounts()
    for (const row of this.sql.people.all(orgRow, stepRow, version, sinceMs)) {
      counts[row.outcome] = row.people
    }
    return counts
  }

  /** All that is known of one version of a step, of the window that its state is made from. */
  async evidence(
    orgRow: number,
    stepRow: number,
    version: number,
    now: number,
  ): Promise<StepEvidence> {
    const sinceMs = now - healthWindowMs
    const scope: Scope = [orgRow, stepRow, sinceMs, version]
    const people = await this.healthCounts(orgRow, stepRow, version, sinceMs)
    const reports = noHealthCounts()
    const last = { find: null as number | null, miss: null as number | null }
    for (const row of this.sql.reports.all(...scope)) {
      reports[row.outcome] = row.reports
      const kind = isMiss(row.outcome) ? 'miss' : 'find'
      last[kind] = Math.max(last[kind] ?? 0, row.last_at)
    }
    return {
      people,
      reports,
      lastFindAt: last.find,
      lastMissAt: last.miss,
      ...badSince(people, () => this.sql.slots.all(orgRow, stepRow, now - sinceWindowMs, version)),
      pages: this.sql.pages.all(...scope),
      messages: this.sql.messages.all(...scope),
      alternate: this.sql.alternate.get(...scope),
      fingerprints: this.fingerprints(...scope),
    }
  }

  /** See `StepEvidenceStore.between`. */
  between(orgRow: number, stepRow: number, startMs: number, endMs: number): StepDay {
    const people = noHealthCounts()
    const versions = new Set<number>()
    for (const row of this.sql.between.all(orgRow, stepRow, startMs, endMs)) {
      people[row.outcome] += row.people
      versions.add(row.version)
    }
    return { people, versions: [...versions].sort((a, b) => a - b) }
  }

  baseline(orgRow: number, stepRow: number): StepBaseline | null {
    const stored = this.sql.baseline.get(orgRow, stepRow)
    if (!stored) return null
    const { target, at, locale, fingerprint } = stored
    return { target: JSON.parse(target), at, locale, print: JSON.parse(fingerprint) }
  }

  /** The selectors by which pages would find a step's element again. */
  suggested(...scope: Scope): SuggestedSelectors {
    return {
      byFingerprints: this.fingerprints(...scope).suggestion?.selector ?? null,
      byReports: this.sql.alternate.get(...scope)?.selector ?? null,
    }
  }

  fingerprints(...scope: Scope): FingerprintEvidence {
    const verdicts = new Map(
      this.sql.verdicts.all(...scope).map(({ status, count }) => [status, count]),
    )
    const suggestions = this.sql.suggestions.all(...scope)
    const best = suggestions.find(({ selector }) => selector !== null)
    const of = suggestions.reduce((sum, { times }) => sum + times, 0)
    const baseline = this.baseline(scope[0], scope[1])
    const latest = this.sql.latestVerdict.get(...scope)
    return {
      baselineAt: baseline?.at ?? null,
      baseline: baseline?.print ?? null,
      match: verdicts.get('match') ?? 0,
      drift: verdicts.get('drift') ?? 0,
      gone: verdicts.get('gone') ?? 0,
      latest: latest && { ...latest, fingerprint: JSON.parse(latest.fingerprint ?? 'null') },
      suggestion: best ? { selector: best.selector as string, times: best.times, of } : null,
    }
  }
}
