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
import type {
  LookStore,
  StepBaseline,
  SuggestedSelectors,
} from '../../../modules/authoring/port.ts'
import type {
  FingerprintEvidence,
  FingerprintLook,
  StepDay,
  StepEvidence,
} from '../../../modules/steps/port.ts'
import type { Asking } from '../../shared/asking.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { asking } from '../database/asking.ts'
import { stepRowOf } from '../flows/reader.ts'
import type { StoredBaseline } from './step-table.ts'

/** How far back `missesSince` and `makeshiftSince` look, and how finely. */
const sinceWindowMs = 7 * dayMs
const slotMs = 10 * minuteMs
const mostPages = 5
const mostMessages = 3
/** How many of the latest fingerprints are asked for a better selector. */
const suggestingPrints = 200

const sqlList = (words: readonly string[]) => words.map(word => `'${word}'`).join(', ')
const isMissed = `outcome in (${sqlList(healthOutcomes.filter(isMiss))})`
const isFoundOtherwise = `outcome in (${sqlList(healthOutcomes.filter(isMakeshift))})`

/** Which rows: an organisation's step, after a moment, of one version. */
type Scope = [orgRow: number, stepRow: number, sinceMs: number, version: number]

/** Where databases differ. */
export interface StepDialect {
  /** An address without its query and fragment: these can hold a token, and make each one a page of its own. */
  page: string
  /** How texts are compared byte by byte. */
  collation: string
}

const sqlite: StepDialect = {
  page: `substr(url, 1, min(instr(url || '?', '?'), instr(url || '#', '#')) - 1)`,
  collation: 'binary',
}

function statements({ page, collation }: StepDialect) {
  const inScope = 'org_id = $1 and step_id = $2 and at > $3 and version = $4'
  const bad = `count(*) filter (where ${isMissed}) as misses,
    count(*) filter (where ${isFoundOtherwise}) as makeshift`
  return {
    people: `select outcome, count(*) as people from step_health
      where org_id = $1 and step_id = $2 and version = $3 and at > $4 group by outcome`,
    reports: `select outcome, count(*) as reports, max(at) as last_at from step_reports
      where ${inScope} group by outcome`,
    pages: `select ${page} collate ${collation} as page, count(*) as reports, ${bad}
      from step_reports where ${inScope} group by page
      order by misses desc, makeshift desc, reports desc, page nulls first limit ${mostPages}`,
    messages: `select message collate ${collation} as message, count(*) as reports, max(at) as "lastAt"
      from step_reports where ${inScope} and message is not null
      group by message order by "lastAt" desc, message limit ${mostMessages}`,
    alternate: `select selector collate ${collation} as selector, count(*) as reports
      from step_reports
      where ${inScope} and outcome = 'found_by_alternate' and selector is not null
      group by selector order by reports desc, max(at) desc, selector limit 1`,
    // As for the state, reports without a person do not count.
    slots: `select count(*) as reports, ${bad},
        min(at) filter (where ${isMissed}) as "firstMissAt",
        min(at) filter (where ${isFoundOtherwise}) as "firstMakeshiftAt"
      from step_reports where ${inScope} and person is not null
      group by at / ${slotMs} order by at / ${slotMs}`,
    // Each person's latest report of the time, whatever version it is of.
    between: `select outcome, version, count(*) as people from step_reports
      where org_id = $1 and seq in (
        select max(seq) from step_reports
        where org_id = $1 and step_id = $2 and at >= $3 and at < $4 and person is not null
        group by person)
      group by outcome, version`,
    baseline: `select target, at, locale, fingerprint from step_baselines
      where org_id = $1 and step_id = $2`,
    verdicts: `select status, count(*) as count from step_fingerprints where ${inScope} group by status`,
    latestVerdict: `select status, score, at, fingerprint from step_fingerprints
      where ${inScope} and status <> 'baseline' order by at desc, seq desc limit 1`,
    suggestions: `select suggested_selector collate ${collation} as selector, count(*) as times from (
        select suggested_selector, at from step_fingerprints
        where ${inScope} and (status in ('drift', 'gone') or suggested_selector is not null)
        order by at desc, seq desc limit ${suggestingPrints}) as latest
      group by suggested_selector order by times desc, max(at) desc, selector`,
  }
}

/** What is read of steps: health, and what it rests on. */
export class StepReader {
  private readonly sql: ReturnType<typeof statements>

  constructor(
    private readonly database: Asking,
    dialect = sqlite,
  ) {
    this.sql = statements(dialect)
  }

  /** Over a connection to SQLite. */
  static over(database: Database): StepReader {
    return new StepReader(asking(database))
  }

  async healthCounts(
    orgRow: number,
    stepRow: number,
    version: number,
    sinceMs: number,
  ): Promise<HealthCounts> {
    const counts = noHealthCounts()
    const rows = await this.database.all<{ outcome: HealthOutcome; people: number }>(
      ...[this.sql.people, orgRow, stepRow, version, sinceMs],
    )
    for (const row of rows) counts[row.outcome] = row.people
    return counts
  }

  /** All that is known of one version of a step, of the window that its state is made from. */
  async evidence(
    orgRow: number,
    stepRow: number,
    version: number,
    now: number,
  ): Promise<StepEvidence> {
    const { database, sql } = this
    const sinceMs = now - healthWindowMs
    const scope: Scope = [orgRow, stepRow, sinceMs, version]
    const people = await this.healthCounts(orgRow, stepRow, version, sinceMs)
    const slotsOf = () =>
      database.all<ReportSlot>(sql.slots, orgRow, stepRow, now - sinceWindowMs, version)
    const [reported, since, pages, messages, alternate, fingerprints] = await Promise.all([
      database.all<{ outcome: HealthOutcome; reports: number; last_at: number }>(
        ...[sql.reports, ...scope],
      ),
      badSince(people, slotsOf),
      database.all<StepEvidence['pages'][number]>(sql.pages, ...scope),
      database.all<StepEvidence['messages'][number]>(sql.messages, ...scope),
      this.alternate(...scope),
      this.fingerprints(...scope),
    ])
    const reports = noHealthCounts()
    const last = { find: null as number | null, miss: null as number | null }
    for (const row of reported) {
      reports[row.outcome] = row.reports
      const kind = isMiss(row.outcome) ? 'miss' : 'find'
      last[kind] = Math.max(last[kind] ?? 0, row.last_at)
    }
    return {
      people,
      reports,
      lastFindAt: last.find,
      lastMissAt: last.miss,
      ...since,
      // Bun's rows of PostgreSQL are an array of another class.
      pages: [...pages],
      messages: [...messages],
      alternate,
      fingerprints,
    }
  }

  /** See `StepEvidenceStore.between`. */
  async between(orgRow: number, stepRow: number, startMs: number, endMs: number): Promise<StepDay> {
    const people = noHealthCounts()
    const versions = new Set<number>()
    const rows = await this.database.all<{
      outcome: HealthOutcome
      version: number
      people: number
    }>(this.sql.between, orgRow, stepRow, startMs, endMs)
    for (const row of rows) {
      people[row.outcome] += row.people
      versions.add(row.version)
    }
    return { people, versions: [...versions].sort((a, b) => a - b) }
  }

  async baseline(orgRow: number, stepRow: number): Promise<StepBaseline | null> {
    const stored = await this.database.get<StoredBaseline>(this.sql.baseline, orgRow, stepRow)
    if (!stored) return null
    const { target, at, locale, fingerprint } = stored
    return { target: JSON.parse(target), at, locale, print: JSON.parse(fingerprint) }
  }

  /** The selectors by which pages would find a step's element again. */
  async suggested(...scope: Scope): Promise<SuggestedSelectors> {
    const [{ suggestion }, alternate] = await Promise.all([
      this.fingerprints(...scope),
      this.alternate(...scope),
    ])
    return {
      byFingerprints: suggestion?.selector ?? null,
      byReports: alternate?.selector ?? null,
    }
  }

  async fingerprints(...scope: Scope): Promise<FingerprintEvidence> {
    const { database, sql } = this
    const [counted, suggestions, baseline, latest] = await Promise.all([
      database.all<{ status: string; count: number }>(sql.verdicts, ...scope),
      database.all<{ selector: string | null; times: number }>(sql.suggestions, ...scope),
      this.baseline(scope[0], scope[1]),
      database.get<Omit<FingerprintLook, 'fingerprint'> & { fingerprint: string | null }>(
        ...[sql.latestVerdict, ...scope],
      ),
    ])
    const verdicts = new Map(counted.map(({ status, count }) => [status, count]))
    const best = suggestions.find(({ selector }) => selector !== null)
    const of = suggestions.reduce((sum, { times }) => sum + times, 0)
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

  private alternate(...scope: Scope) {
    return this.database.get<{ selector: string; reports: number }>(this.sql.alternate, ...scope)
  }
}

/** @param flows where it stands which flow and step are meant */
export function looksOver(flows: Database, steps: StepReader): InRows<LookStore> {
  return {
    async looks(orgRow, { flowKey, stepKey, version }, sinceMs) {
      const row = stepRowOf(flows, orgRow, flowKey, stepKey)
      if (row === null) return { baseline: null, alike: 0, of: 0 }
      const [{ match, drift, gone }, baseline] = await Promise.all([
        steps.fingerprints(orgRow, row, sinceMs, version),
        steps.baseline(orgRow, row),
      ])
      return { baseline, alike: match, of: match + drift + gone }
    },
    async suggested(orgRow, { flowKey, stepKey, version }, sinceMs) {
      const row = stepRowOf(flows, orgRow, flowKey, stepKey)
      if (row === null) return { byFingerprints: null, byReports: null }
      return steps.suggested(orgRow, row, sinceMs, version)
    },
  }
}
