import type { Database } from 'bun:sqlite'
import { badSince, type ReportSlot } from '../../../core/step/bad-since.ts'
import {
  type HealthCounts,
  type HealthOutcome,
  healthOutcomes,
  healthWindowMs,
  isFallback,
  isMiss,
  noHealthCounts,
} from '../../../core/step/health.ts'
import { dayMs, minuteMs } from '../../../core/time/durations.ts'
import type { LookStore, StepBaseline, SuggestedSelectors } from '../../interfaces/authoring.ts'
import type {
  FingerprintEvidence,
  LatestFingerprint,
  StepDay,
  StepEvidence,
} from '../../interfaces/steps.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { stepRowOf } from '../flows/reader.ts'
import type { StoredBaseline } from './step-table.ts'

/** How far back `missesSince` and `fallbackSince` look, and how finely. */
const sinceWindowMs = 7 * dayMs
const slotMs = 10 * minuteMs
const maxPages = 5
const maxMessages = 3
/** How many of the latest fingerprints are searched for a better selector. */
const suggestingPrints = 200

const sqlList = (words: readonly string[]) => words.map(word => `'${word}'`).join(', ')
const isMissed = `outcome in (${sqlList(healthOutcomes.filter(isMiss))})`
const isFoundOtherwise = `outcome in (${sqlList(healthOutcomes.filter(isFallback))})`

/** Which rows: an organisation's step, after a moment, of one version. */
type Scope = [orgRow: number, stepRow: number, sinceMs: number, version: number]

/** A URL without query and fragment: they can hold a token, and would make every URL a page of its own. */
const page = `substr(url, 1, min(instr(url || '?', '?'), instr(url || '#', '#')) - 1)`

function statements(database: Database) {
  const inScope = 'org_id = $1 and step_id = $2 and at > $3 and version = $4'
  const bad = `count(*) filter (where ${isMissed}) as misses,
    count(*) filter (where ${isFoundOtherwise}) as fallback`
  return {
    people: database.query<{ outcome: HealthOutcome; people: number }, number[]>(
      `select outcome, count(*) as people from step_health
      where org_id = $1 and step_id = $2 and version = $3 and at > $4 group by outcome`,
    ),
    reports: database.query<{ outcome: HealthOutcome; reports: number; last_at: number }, number[]>(
      `select outcome, count(*) as reports, max(at) as last_at from step_reports
      where ${inScope} group by outcome`,
    ),
    pages: database.query<StepEvidence['pages'][number], number[]>(
      `select ${page} as page, count(*) as reports, ${bad}
      from step_reports where ${inScope} group by page
      order by misses desc, fallback desc, reports desc, page nulls first limit ${maxPages}`,
    ),
    messages: database.query<StepEvidence['messages'][number], number[]>(
      `select message as message, count(*) as reports, max(at) as "lastAt"
      from step_reports where ${inScope} and message is not null
      group by message order by "lastAt" desc, message limit ${maxMessages}`,
    ),
    alternate: database.query<{ selector: string; reports: number }, number[]>(
      `select selector as selector, count(*) as reports
      from step_reports
      where ${inScope} and outcome = 'found_by_alternate' and selector is not null
      group by selector order by reports desc, max(at) desc, selector limit 1`,
    ),
    // As for the state, reports without a person do not count.
    slots: database.query<ReportSlot, number[]>(
      `select count(*) as reports, ${bad},
        min(at) filter (where ${isMissed}) as "firstMissAt",
        min(at) filter (where ${isFoundOtherwise}) as "firstFallbackAt"
      from step_reports where ${inScope} and person is not null
      group by at / ${slotMs} order by at / ${slotMs}`,
    ),
    // Each person's latest report within the time, whatever version it is about.
    between: database.query<{ outcome: HealthOutcome; version: number; people: number }, number[]>(
      `select outcome, version, count(*) as people from step_reports
      where org_id = $1 and seq in (
        select max(seq) from step_reports
        where org_id = $1 and step_id = $2 and at >= $3 and at < $4 and person is not null
        group by person)
      group by outcome, version`,
    ),
    baseline: database.query<StoredBaseline, number[]>(
      `select target, at, locale, fingerprint from step_baselines
      where org_id = $1 and step_id = $2`,
    ),
    verdicts: database.query<{ status: string; count: number }, number[]>(
      `select status, count(*) as count from step_fingerprints where ${inScope} group by status`,
    ),
    latestVerdict: database.query<
      Omit<LatestFingerprint, 'fingerprint'> & { fingerprint: string | null },
      number[]
    >(
      `select status, score, at, fingerprint from step_fingerprints
      where ${inScope} and status <> 'baseline' order by at desc, seq desc limit 1`,
    ),
    suggestions: database.query<{ selector: string | null; times: number }, number[]>(
      `select suggested_selector as selector, count(*) as times from (
        select suggested_selector, at from step_fingerprints
        where ${inScope} and (status in ('drift', 'gone') or suggested_selector is not null)
        order by at desc, seq desc limit ${suggestingPrints}) as latest
      group by suggested_selector order by times desc, max(at) desc, selector`,
    ),
  }
}

/** Reads the health of steps, and what it is based on. */
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
    const rows = await this.sql.people.all(orgRow, stepRow, version, sinceMs)
    for (const row of rows) counts[row.outcome] = row.people
    return counts
  }

  /** Everything known of one version of a step, within the window that its state is based on. */
  async evidence(
    orgRow: number,
    stepRow: number,
    version: number,
    now: number,
  ): Promise<StepEvidence> {
    const { sql } = this
    const sinceMs = now - healthWindowMs
    const scope: Scope = [orgRow, stepRow, sinceMs, version]
    const people = await this.healthCounts(orgRow, stepRow, version, sinceMs)
    const slotsOf = () => sql.slots.all(orgRow, stepRow, now - sinceWindowMs, version)
    const [reported, since, pages, messages, alternate, ofFingerprints] = await Promise.all([
      sql.reports.all(...scope),
      badSince(people, slotsOf),
      sql.pages.all(...scope),
      sql.messages.all(...scope),
      this.alternate(...scope),
      this.fingerprints(...scope),
    ])
    const { suggestion, ...fingerprints } = ofFingerprints
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
      pages,
      messages,
      alternate,
      fingerprints,
      suggestion,
    }
  }

  /** See `StepEvidenceStore.between`. */
  async between(orgRow: number, stepRow: number, startMs: number, endMs: number): Promise<StepDay> {
    const people = noHealthCounts()
    const versions = new Set<number>()
    for (const row of await this.sql.between.all(orgRow, stepRow, startMs, endMs)) {
      people[row.outcome] += row.people
      versions.add(row.version)
    }
    return { people, versions: [...versions].sort((a, b) => a - b) }
  }

  async baseline(orgRow: number, stepRow: number): Promise<StepBaseline | null> {
    const [stored] = await this.sql.baseline.all(orgRow, stepRow)
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
    const { sql } = this
    const [counted, suggestions, baseline, [latest]] = await Promise.all([
      sql.verdicts.all(...scope),
      sql.suggestions.all(...scope),
      this.baseline(scope[0], scope[1]),
      sql.latestVerdict.all(...scope),
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
      latest: latest ? { ...latest, fingerprint: JSON.parse(latest.fingerprint ?? 'null') } : null,
      suggestion: best ? { selector: best.selector as string, times: best.times, of } : null,
    }
  }

  private async alternate(...scope: Scope) {
    return (await this.sql.alternate.all(...scope))[0] ?? null
  }
}

/** @param flows the database in which flows and steps are looked up */
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
