import type { Database } from 'bun:sqlite'
import { runKeyOf } from '../../../core/run/run.ts'
import type { RunStore } from '../../interfaces/runs.ts'
import type { InRows, StoredEvent } from '../../shared/in-rows.ts'
import { type BatchRow, batchColumns, eventsOf } from '../ledger/event-batches.ts'
import { flowRows } from '../ledger/ledger.ts'
import {
  cursorOf,
  earlier,
  placeOf,
  type RunRecord,
  runListSql,
  runRowColumns,
  runRowOf,
} from './run-rows.ts'

/** Runs that a statement reads at once. */
const pageRows = 200

type SpannedRow = BatchRow & { first_at: number; last_at: number }

type Answered = { record: RunRecord; at: number }

function statements(database: Database) {
  return {
    flow: database.query<{ id: number; public_id: string }, [number, string]>(
      'select id, public_id from flows where org_id = ? and key = ?',
    ),
    step: database.query<{ id: number }, [number, string]>(
      'select id from steps where flow_id = ? and key = ?',
    ),
    runs: database.query<RunRecord, [number, number, number, string, number, number]>(
      `select ${runRowColumns} from runs
      where org_id = ? and flow_id = ? and (started_at, run_key) < (?, ?) and started_at >= ?
        and answers is not null
      order by started_at desc, run_key desc limit ?`,
    ),
    keysAt: database.query<{ run_key: string }, [number, number, number]>(runListSql.keysAt),
  }
}

/**
 * Answers in people's own words. The rows of runs say which have any; the words themselves are in the
 * ledger alone, so that they go with it.
 */
export function writtenAnswersOver(database: Database): InRows<RunStore['writtenAnswers']> {
  const sql = statements(database)

  /** Events that include all answers to a flow's questions that occurred at any of the times, which ascend. */
  function* eventsAt(
    orgRow: number,
    flowRow: number,
    times: readonly number[],
  ): Generator<StoredEvent> {
    const columns = `${batchColumns}, first_at, last_at`
    const range = { startMs: times[0]!, endMs: times.at(-1)! + 1 }
    for (const rows of flowRows<SpannedRow>(database, columns, orgRow, flowRow, { range })) {
      for (const row of rows) {
        const isRequested = times.some(at => at >= row.first_at && at <= row.last_at)
        if (isRequested) yield* eventsOf(row)
      }
    }
  }

  /** What was written, by run and moment. */
  function wordsOf(
    orgRow: number,
    flowRow: number,
    stepRow: number,
    answered: readonly Answered[],
  ): ReadonlyMap<string, string> {
    const words = new Map<string, string>()
    if (answered.length === 0) return words
    const times = answered.map(({ at }) => at).toSorted((a, b) => a - b)
    for (const event of eventsAt(orgRow, flowRow, times)) {
      const isOne =
        event.kind === 'question_answered' &&
        event.flowRef === flowRow &&
        event.stepRef === stepRow &&
        event.properties !== null
      if (!isOne) continue
      const { answer } = JSON.parse(event.properties!) as { answer?: unknown }
      if (typeof answer !== 'string') continue
      const name = `${event.occurredAt} ${runKeyOf({ ...event, stepId: event.stepRef })}`
      if (answer > (words.get(name) ?? '')) words.set(name, answer)
    }
    return words
  }

  return async (orgRow, flowKey, { stepKey, after, max, started, version }) => {
    const flow = sql.flow.get(orgRow, flowKey)
    if (!flow) return null
    const step = sql.step.get(flow.id, stepKey)
    if (!step) return { flowId: flow.public_id, answers: [] }
    const end = [started?.endMs ?? Number.MAX_SAFE_INTEGER, ''] as const
    const keysAt = (start: number) => sql.keysAt.all(orgRow, flow.id, start)
    let place = after === null ? end : earlier(placeOf(after, keysAt), end)
    const found: Answered[] = []
    while (found.length < max) {
      const first = started?.startMs ?? Number.MIN_SAFE_INTEGER
      const records = sql.runs.all(orgRow, flow.id, ...place, first, pageRows)
      for (const record of records) {
        const said = runRowOf(record).answers.find(({ stepId }) => stepId === step.id)
        const isWritten = said?.answer === '""' && (version === null || record.version === version)
        if (isWritten && found.length < max) found.push({ record, at: said.at })
      }
      const last = records.at(-1)
      if (!last || records.length < pageRows) break
      place = [last.started_at, last.run_key]
    }
    const words = wordsOf(orgRow, flow.id, step.id, found)
    return {
      flowId: flow.public_id,
      answers: found.map(({ record, at }) => ({
        cursor: cursorOf(record),
        key: record.run_key,
        person: record.person,
        version: record.version,
        at,
        text: words.get(`${at} ${record.run_key}`) ?? null,
      })),
    }
  }
}
