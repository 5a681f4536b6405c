import type { Database } from 'bun:sqlite'
import { type RunAnswer, type RunStep, unpackTraits } from '../../../core/run/run.ts'
import { TimeSlices } from '../../../scheduling/cooperative.ts'
import type { RunRow, RunStore } from '../../interfaces/runs.ts'
import type { InRows } from '../../shared/in-rows.ts'

/**
 * A run's steps as they are stored in its row: a time, and then for each step its number and what happened
 * to it (`v`iewed, `c`ompleted, `s`kipped, `m`issing), each with the milliseconds after that time. Empty if
 * there are none.
 *
 * `1790000000100 12v0c800 13v1100`: step 12 was viewed then and completed 0.8 s later, step 13 was viewed
 * 1.1 s later.
 */
export function packSteps(steps: readonly RunStep[]): string {
  const [first] = steps
  if (!first) return ''
  const base = first.viewedAt ?? first.completedAt ?? first.skippedAt ?? first.missingAt ?? 0
  let packed = `${base}`
  for (const { stepId, viewedAt, completedAt, skippedAt, missingAt } of steps) {
    packed += ` ${stepId}`
    if (viewedAt !== null) packed += `v${viewedAt - base}`
    if (completedAt !== null) packed += `c${completedAt - base}`
    if (skippedAt !== null) packed += `s${skippedAt - base}`
    if (missingAt !== null) packed += `m${missingAt - base}`
  }
  return packed
}

const code = (letter: string) => letter.charCodeAt(0)
const [space, minus, zero] = [code(' '), code('-'), code('0')]
const [viewed, completed, skipped, missing] = [code('v'), code('c'), code('s'), code('m')]

/** The steps in a row's text. */
export function unpackSteps(packed: string): RunStep[] {
  const steps: RunStep[] = []
  let base = 0
  let sign = 1
  let number = 0
  /** What the number that is being read stands for: the letter before it. */
  let field = 0
  let step = stepOf(0)
  // One more turn ends the last number.
  for (let i = 0; i <= packed.length; i++) {
    const unit = i === packed.length ? space : packed.charCodeAt(i)
    if (unit === minus) {
      sign = -1
      continue
    }
    if (unit >= zero && unit < zero + 10) {
      number = number * 10 + unit - zero
      continue
    }
    if (field === 0) base = sign * number
    else if (field === space) {
      step = stepOf(number)
      steps.push(step)
    } else if (field === viewed) step.viewedAt = base + sign * number
    else if (field === completed) step.completedAt = base + sign * number
    else if (field === skipped) step.skippedAt = base + sign * number
    else if (field === missing) step.missingAt = base + sign * number
    field = unit
    sign = 1
    number = 0
  }
  return steps
}

const stepOf = (stepId: number): RunStep => ({
  stepId,
  viewedAt: null,
  completedAt: null,
  skippedAt: null,
  missingAt: null,
})

/** A run's answers as they are stored in its row: JSON, [[step, time, answer], …]; null if there are none. */
export const packAnswers = (answers: readonly RunAnswer[]): string | null =>
  answers.length === 0
    ? null
    : JSON.stringify(answers.map(({ stepId, at, answer }) => [stepId, at, answer]))

export const unpackAnswers = (packed: string | null): RunAnswer[] =>
  packed === null
    ? []
    : (JSON.parse(packed) as [number, number, string][]).map(([stepId, at, answer]) => ({
        ...{ stepId, at, answer },
      }))

/** What a run's row says to readers. */
export interface RunRecord {
  id: number
  run_key: string
  person: string
  started_at: number
  last_at: number
  version: number
  completed_at: number | null
  dismissed_at: number | null
  steps: string
  traits: string | null
  answers: string | null
}

export const runRowColumns = `id, run_key, person, started_at, last_at, version, completed_at,
  dismissed_at, steps, traits, answers`

export const runRowOf = (row: RunRecord): InRows<RunRow> => ({
  key: row.run_key,
  person: row.person,
  startedAt: row.started_at,
  lastAt: row.last_at,
  version: row.version,
  completedAt: row.completed_at,
  dismissedAt: row.dismissed_at,
  traits: unpackTraits(row.traits),
  steps: unpackSteps(row.steps),
  answers: unpackAnswers(row.answers),
})

/** Row numbers decide nothing, because they differ between machines. */
const pageSql = (condition: string) => `select ${runRowColumns} from runs
  where org_id = ? and flow_id = ? and (started_at, run_key) < (?, ?) and started_at >= ?
    and ${condition}
  order by started_at desc, run_key desc limit ?`

/** Rows that one statement reads: a millisecond or two of work. */
const pageRows = 256

type Page = [orgRow: number, flow: number, before: number, beforeKey: string, from: number, number]

/** Lists runs in the order of the index by start, so that a page costs what it reads, however many there are. */
export function runListOver(database: Database): InRows<Pick<RunStore, 'runs'>> {
  const flow = database.query<{ id: number; public_id: string }, [number, string]>(
    'select id, public_id from flows where org_id = ? and key = ?',
  )
  const all = database.query<RunRecord, Page>(pageSql('true'))
  const answered = database.query<RunRecord, Page>(pageSql('answers is not null'))
  const keysAt = database.query<{ run_key: string }, [number, number, number]>(
    'select run_key from runs where org_id = ? and flow_id = ? and started_at = ?',
  )
  return {
    async runs(orgRow, flowKey, requested) {
      const { after, max, maxScanned, started } = requested
      const found = flow.get(orgRow, flowKey)
      if (!found) return null
      const keeps = requested.filter?.(found.public_id)
      const statement = requested.answered ? answered : all
      const end = [started?.endMs ?? Number.MAX_SAFE_INTEGER, ''] as const
      const keysOf = (start: number) => keysAt.all(orgRow, found.id, start)
      let place = after === null ? end : earlier(placeOf(after, keysOf), end)
      const first = started?.startMs ?? Number.MIN_SAFE_INTEGER
      const runs: (InRows<RunRow> & { cursor: string })[] = []
      const slices = new TimeSlices()
      for (let left = maxScanned; runs.length < max; ) {
        await slices.rest()
        const limit = Math.min(pageRows, left, keeps ? pageRows : max - runs.length)
        const rows = statement.all(orgRow, found.id, ...place, first, limit)
        for (const row of rows) {
          const run = runRowOf(row)
          const isListed = runs.length < max && (!keeps || keeps(run))
          if (isListed) runs.push({ cursor: cursorOf(row), ...run })
        }
        const last = rows.at(-1)
        if (!last || rows.length < limit) break
        place = [last.started_at, last.run_key]
        left -= rows.length
        if (left > 0 || runs.length === max) continue
        return { flowId: found.public_id, runs, rest: cursorOf(last) }
      }
      return { flowId: found.public_id, runs, rest: null }
    },
  }
}

type RunPlace = readonly [start: number, key: string]

const earlier = (a: RunPlace, b: RunPlace) => (a[0] < b[0] ? a : b)

/** Names a run's key in a cursor, which is in URLs and so must not have the ids that are in keys. */
const fingerprintOf = (key: string) =>
  new Bun.CryptoHasher('sha256').update(key).digest().readUIntBE(0, 6).toString(36)

/** A run's start in base 36, and the fingerprint of its key. */
const cursorOf = ({ started_at, run_key }: Pick<RunRecord, 'started_at' | 'run_key'>) =>
  `${started_at.toString(36)}.${fingerprintOf(run_key)}`

/** Comes after the keys of all runs. */
const afterAllKeys = '\u{10ffff}'

/**
 * The place in a list that a cursor is of. If its run has another key or start by now, those of its moment are listed
 * again.
 *
 * @param keysAt the keys of all runs that started at a moment
 */
function placeOf(
  cursor: string,
  keysAt: (start: number) => readonly { run_key: string }[],
): RunPlace {
  const [moment = '', fingerprint] = cursor.split('.')
  const start = Number.parseInt(moment, 36)
  const found = keysAt(start).find(({ run_key }) => fingerprintOf(run_key) === fingerprint)
  return [start, found?.run_key ?? afterAllKeys]
}
