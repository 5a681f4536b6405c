import type { Database } from 'bun:sqlite'
import type { RunStore } from '../../modules/runs/port.ts'
import type { InRows } from '../in-rows.ts'
import { type RunRecord, runRowColumns, runRowOf } from './run-rows.ts'

/** Runs in the order of the index by start: a page costs what it holds, however many there are. */
export function runListOver(database: Database): InRows<RunStore> {
  const flow = database.query<{ id: number; public_id: string }, [number, string]>(
    'select id, public_id from flows where org_id = ? and key = ?',
  )
  const page = database.query<RunRecord, [number, number, number, number, number]>(
    `select ${runRowColumns} from runs where org_id = ? and flow_id = ? and (started_at, id) < (?, ?)
    order by started_at desc, id desc limit ?`,
  )
  return {
    async runs(orgRow, flowKey, after, most) {
      const found = flow.get(orgRow, flowKey)
      if (!found) return null
      const [start, id] = after === null ? beforeAll : placeOf(after)
      const rows = page.all(orgRow, found.id, start, id, most)
      return {
        flowId: found.public_id,
        runs: rows.map(row => ({ cursor: cursorOf(row), ...runRowOf(row) })),
      }
    },
  }
}

const beforeAll = [Number.MAX_SAFE_INTEGER, 0] as const

/** A run's start and number, in base 36. */
const cursorOf = ({ started_at, id }: RunRecord) => `${started_at.toString(36)}.${id.toString(36)}`

function placeOf(cursor: string): readonly [start: number, id: number] {
  const [start = '', id = ''] = cursor.split('.')
  return [Number.parseInt(start, 36), Number.parseInt(id, 36)]
}
