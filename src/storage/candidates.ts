import type { Database } from 'bun:sqlite'
import type { Candidate } from '../core/decision.ts'
import type { Flow, FlowDefinition } from '../core/flow.ts'

/** A flow, and what one person has done with it: all that a decision about both needs. */
export interface StoredCandidate extends Candidate {
  id: string
  /** The newest published version; null for a flow that never was. */
  version: number | null
  /** Whether there is something newer to publish. */
  hasDraft: boolean
}

interface CandidateRow {
  public_id: string
  status: Candidate['status']
  draft: string | null
  version: number | null
  body: string | null
  runs: number
  started_at: number | null
  completed_at: number | null
  dismissed_at: number | null
  open_since: number | null
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
    .query<CandidateRow, [string | null, number]>(
      `select f.public_id, f.status, f.draft, v.version, v.body, count(r.id) as runs,
        max(r.started_at) as started_at, max(r.completed_at) as completed_at,
        max(r.dismissed_at) filter (where r.completed_at is null) as dismissed_at,
        max(r.started_at) filter (where r.completed_at is null and r.dismissed_at is null)
          as open_since
      from flows f
      left join flow_versions v on v.flow_id = f.id
        and v.version = (select max(version) from flow_versions where flow_id = f.id)
      left join runs r on r.org_id = f.org_id and r.flow_id = f.id and r.person = ?
      where f.org_id = ?
      group by f.id order by f.key`,
    )
    .all(person, orgRow)
  return rows.map(candidateOf)
}

function candidateOf(row: CandidateRow): StoredCandidate {
  const { status, draft, body, version } = row
  const text = status === 'published' ? body : (draft ?? body)
  return {
    id: row.public_id,
    flow: JSON.parse(text as string) as Flow | FlowDefinition,
    status,
    version,
    hasDraft: draft !== null,
    history: {
      runs: row.runs,
      startedAt: row.started_at,
      completedAt: row.completed_at,
      dismissedAt: row.dismissed_at,
      inProgress: row.open_since !== null && row.open_since === row.started_at,
    },
  }
}
