import type { Database } from 'bun:sqlite'
import { runKeyOf } from '../../../core/run/run.ts'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type { RunStore } from '../../interfaces/runs.ts'
import type { InRows, StoredEvent } from '../../shared/in-rows.ts'
import { type BatchRow, batchColumns, eventsOf } from '../ledger/event-batches.ts'
import { flowRows } from '../ledger/ledger.ts'

type SpannedRow = BatchRow & { first_at: number; last_at: number }

const nameOf = (at: number, stepRow: number, runKey: string) => `${at} ${stepRow} ${runKey}`

/** The text that an event answered a question of a flow with; null if it is no such event. */
function textOf(event: StoredEvent, flowRow: number): string | null {
  const { kind, flowRef, properties } = event
  if (kind !== 'question_answered' || flowRef !== flowRow || properties === null) return null
  const { answer } = JSON.parse(properties) as { answer?: unknown }
  return typeof answer === 'string' ? answer : null
}

/**
 * Answers in people's own words. The rows of runs only say which have any; the words are in the ledger
 * alone, so that they go with it.
 */
export function writtenTextsOver(database: Database): InRows<RunStore['writtenTexts']> {
  const flow = database.query<{ id: number }, [number, string]>(
    'select id from flows where org_id = ? and key = ?',
  )

  /** Events that include all that occurred in a flow at any of the times, which ascend. */
  function* eventsAt(
    orgRow: number,
    flowRow: number,
    times: readonly number[],
  ): Generator<readonly StoredEvent[]> {
    const columns = `${batchColumns}, first_at, last_at`
    const range = { startMs: times[0]!, endMs: times.at(-1)! + 1 }
    for (const rows of flowRows<SpannedRow>(database, columns, orgRow, flowRow, { range })) {
      for (const row of rows) {
        const isRequested = times.some(at => at >= row.first_at && at <= row.last_at)
        if (isRequested) yield eventsOf(row)
      }
    }
  }

  return async (orgRow, flowKey, answers) => {
    const found = flow.get(orgRow, flowKey)
    if (!found || answers.length === 0) return answers.map(() => null)
    const times = answers.map(({ at }) => at).toSorted((a, b) => a - b)
    const texts = new Map<string, string>()
    const slices = new TimeSlices()
    for (const events of eventsAt(orgRow, found.id, times)) {
      for (const event of events) {
        const text = textOf(event, found.id)
        if (text === null || event.stepRef === null) continue
        const runKey = runKeyOf({ ...event, stepId: event.stepRef })
        const name = nameOf(event.occurredAt, event.stepRef, runKey)
        if (text > (texts.get(name) ?? '')) texts.set(name, text)
      }
      await slices.rest()
    }
    return answers.map(({ key, stepRef, at }) => texts.get(nameOf(at, stepRef, key)) ?? null)
  }
}
