import type { Database } from 'bun:sqlite'
import type { TimeRange } from '../../../core/time/time-range.ts'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type { ExperimentCounts } from '../../interfaces/analytics.ts'
import { pages } from '../database/pages.ts'

/** Rows that a statement reads before others get their turn. */
const pageRows = 1_000

interface HeldRow {
  person: string
  version: number
  at: number
}

interface RunRow {
  id: number
  person: string
  version: number
  started_at: number
}

function statements(database: Database) {
  return {
    held: database.query<HeldRow, [number, number, string, number]>(
      `select person, version, at from held_out
      where org_id = ? and flow_id = ? and (person, version) > (?, ?)
      order by person, version limit ${pageRows}`,
    ),
    runs: database.query<RunRow, [number, number, number, number, number]>(
      `select id, person, version, started_at from runs
      where org_id = ? and flow_id = ? and (started_at, id) > (?, ?) and started_at < ?
      order by started_at, id limit ${pageRows}`,
    ),
    goal: database.query<{ last_at: number }, [number, number, string, string]>(
      'select last_at from goals where org_id = ? and flow_id = ? and person = ? and name = ?',
    ),
  }
}

/** For a flow that holds people back: how many reached its goal with the flow, and how many without. */
export class ExperimentReader {
  private readonly sql: ReturnType<typeof statements>

  constructor(database: Database) {
    this.sql = statements(database)
  }

  /** See `AnalyticsReader.experiment`. */
  async of(
    orgRow: number,
    flowRow: number,
    { range, version, goal }: { range: TimeRange; version: number | null; goal: string },
  ): Promise<ExperimentCounts> {
    const slices = new TimeSlices()
    const isRequested = (of: number) => version === null || of === version
    const isIn = (at: number) => at >= range.startMs && at < range.endMs
    const isReached = (person: string, since: number) =>
      (this.sql.goal.get(orgRow, flowRow, person, goal)?.last_at ?? Number.NEGATIVE_INFINITY) >=
      since

    const holding = new Set<number>()
    /** Everybody who was ever held back, and when first by these versions in the range; null if not then. */
    const held = new Map<string, number | null>()
    const heldAfter = (last: { person: string; version: number }) =>
      this.sql.held.all(orgRow, flowRow, last.person, last.version)
    for (const page of pages(heldAfter, { person: '', version: 0 }, pageRows)) {
      await slices.rest()
      for (const { person, version, at } of page) {
        const known = held.get(person) ?? null
        const isCounted = isRequested(version) && isIn(at)
        held.set(person, isCounted ? Math.min(at, known ?? at) : known)
        if (isRequested(version)) holding.add(version)
      }
    }

    const heldOut = { people: 0, achieved: 0 }
    for (const [person, at] of held) {
      if (at === null) continue
      heldOut.people++
      if (isReached(person, at)) heldOut.achieved++
      await slices.rest()
    }

    const shown = { people: 0, achieved: 0 }
    const seen = new Set<string>()
    const runsAfter = (last: { started_at: number; id: number }) =>
      this.sql.runs.all(orgRow, flowRow, last.started_at, last.id, range.endMs)
    for (const page of pages(runsAfter, { id: 0, started_at: range.startMs }, pageRows)) {
      await slices.rest()
      // Runs come in the order of their starts, so the first one of a person is their earliest.
      for (const { person, version, started_at } of page) {
        if (!holding.has(version) || held.has(person) || seen.has(person)) continue
        seen.add(person)
        shown.people++
        if (isReached(person, started_at)) shown.achieved++
      }
    }
    return { shown, heldOut }
  }
}
