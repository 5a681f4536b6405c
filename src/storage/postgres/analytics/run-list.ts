import type { Database } from 'bun:sqlite'
import type { RunStore } from '../../../modules/runs/port.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { type RunRecord, runListBy, runListSql, runRowColumns } from '../../sqlite/runs/run-rows.ts'
import { writtenAnswersBy } from '../../sqlite/runs/written-answers.ts'
import type { Queries } from '../database/connection.ts'
import { type EventRow, eventColumns, eventOf } from '../events/event-rows.ts'

/**
 * Lists of runs and of what was answered in them.
 *
 * @param queries of a pool that plans anew
 * @param copy the node's own, for flows and steps
 */
export function runStoreOver(queries: Queries, copy: Database): InRows<RunStore> {
  const flow = copy.query<{ id: number; public_id: string }, [number, string]>(
    'select id, public_id from flows where org_id = ? and key = ?',
  )
  const step = copy.query<{ id: number }, [number, string]>(
    'select id from steps where flow_id = ? and key = ?',
  )
  return {
    ...runListBy({
      flow: (...args) => flow.get(...args),
      page: (...values) => queries.all(runListSql.page, ...values),
      filtered: (...values) => queries.all(runListSql.filtered, ...values),
      lastLookedAt: (...values) => queries.get(runListSql.lastLookedAt, ...values),
    }),
    writtenAnswers: writtenAnswersBy({
      flow: (...args) => flow.get(...args),
      step: (...args) => step.get(...args),
      runs: (orgRow, flowRow, place, first, most) =>
        queries.all<RunRecord>(
          `select ${runRowColumns} from runs
          where org_id = $1 and flow_id = $2 and (started_at, id) < ($3, $4) and started_at >= $5
            and answers is not null
          order by started_at desc, id desc limit $6`,
          ...[orgRow, flowRow, ...place, first, most],
        ),
      async events(orgRow, flowRow, stepRow, times) {
        const rows = await queries.all<EventRow>(
          `select ${eventColumns} from events
          where kind = 'question_answered' and org_id = $1 and flow_id = $2 and step_id = $3
            and occurred_at = any(string_to_array($4, ' ')::bigint[])`,
          ...[orgRow, flowRow, stepRow, times.join(' ')],
        )
        return rows.map(eventOf)
      },
    }),
  }
}
