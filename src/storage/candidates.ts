import type { Database } from 'bun:sqlite'
import { type Candidate, noHistory } from '../core/decision.ts'
import type { Flow, FlowDefinition } from '../core/flow.ts'
import { historyOf, type PastRun } from '../core/past-run.ts'

/** A flow, and what one person has done with it: all that a decision about both needs. */
export interface StoredCandidate extends Candidate {
  id: string
  /** The newest published version; null for a flow that never was. */
  version: number | null
  /** Whether there is something newer to publish. */
  hasDraft: boolean
}

interface CandidateRow {
  row: number
  public_id: string
  status: Candidate['status']
  draft: string | null
  version: number | null
  body: string | null
}

/**
 * All flows of an organisation, by key. Of a published flow it is the newest version, of any other
 * what would be published next.
 *
 * @param person whose runs count, as `personOf` names them; null for somebody new
 */
export function candidatesFor(
  database: Database,
  orgRow: number,
  person: string | null,
): StoredCandidate[] {
  const rows = database
    .query<CandidateRow, [number]>(
      `select f.id as row, f.public_id, f.status, f.draft, v.version, v.body
      from flows f
      left join flow_versions v on v.flow_id = f.id
        and v.version = (select max(version) from flow_versions where flow_id = f.id)
      where f.org_id = ? order by f.key`,
    )
    .all(orgRow)
  const runs = person === null ? new Map<number, PastRun[]>() : runsOf(database, orgRow, person)
  return rows.map(row => candidateOf(row, runs.get(row.row) ?? []))
}

/** All runs of a person by flow row, by looking at all that there are: any process may, at any time. */
function runsOf(database: Database, orgRow: number, person: string): Map<number, PastRun[]> {
  const runs = database
    .query<PastRun & { flowRow: number }, [number, string]>(
      `select flow_id as flowRow, run_key as key, started_at as startedAt,
        completed_at as completedAt, dismissed_at as dismissedAt
      from runs where org_id = ? and person = ?`,
    )
    .all(orgRow, person)
  return Map.groupBy(runs, ({ flowRow }) => flowRow)
}

function candidateOf(row: CandidateRow, runs: readonly PastRun[]): StoredCandidate {
  const { status, draft, body, version } = row
  const text = status === 'published' ? body : (draft ?? body)
  return {
    id: row.public_id,
    flow: JSON.parse(text as string) as Flow | FlowDefinition,
    status,
    version,
    hasDraft: draft !== null,
    history: runs.length === 0 ? noHistory : historyOf(runs),
  }
}
