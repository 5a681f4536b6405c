import { personOf } from '../../core/event.ts'
import { least, ownRunKey } from '../../core/run.ts'
import { firstFreeRow, noteReplacedRows } from '../hash-index/row-index.ts'
import type { StoredRun } from '../run-table.ts'
import type { ErasureWork } from './erasure-work.ts'
import { isPerson } from './person-matcher.ts'
import { RowScrubber } from './row-scrubber.ts'
import { runName, type Traces } from './traces.ts'

/** Rows that a statement reads, and that a transaction writes. */
const pageRows = 2_000
const stepRows = 50

type Run = StoredRun & { has_loose: number }

function statements({ database }: ErasureWork) {
  return {
    flows: database.query<{ id: number }, [number]>('select id from flows where org_id = ?'),
    page: database.query<Run, [number, number, number, number]>(
      `select * from runs where org_id = ? and flow_id = ? and (started_at, id) > (?, ?)
      order by started_at, id limit ${pageRows}`,
    ),
    run: database.query<Run, [number, number]>('select * from runs where id = ? and org_id = ?'),
    // Under another number too, by which it is found by its new names.
    rename: database.query(
      `update runs set id = ?, run_key = ?, person = ?, least_user_id = ?, least_anonymous_id = ?,
        has_loose = ?
      where id = ? and org_id = ?`,
    ),
    deleteBlocks: database.query(
      'delete from run_blocks where org_id = ? and flow_id = ? and from_at <= ? and to_at > ?',
    ),
  }
}

/** Gives the runs of a person other names, and leaves all else that they say as it is. */
export function* eraseRuns(work: ErasureWork, traces: Traces): Generator<number> {
  const { database, orgRow } = work
  const sql = statements(work)
  const index = new RowScrubber(database, { run_key: 'runs_by_key', person: 'runs_by_person' })
  const rewrite = (row: number): boolean => {
    const run = sql.run.get(row, orgRow)
    if (!run) return false
    const now = renamedRun(work, traces, run)
    sql.rename.run(
      firstFreeRow(database, 'runs'),
      now.run_key,
      now.person,
      now.least_user_id,
      now.least_anonymous_id,
      now.has_loose,
      row,
      orgRow,
    )
    index.forget(run.flow_id, run, row)
    // Blocks know people by a hash.
    sql.deleteBlocks.run(orgRow, run.flow_id, run.started_at, run.started_at)
    return true
  }
  for (const { id: flowRow } of sql.flows.all(orgRow)) {
    let last = { started_at: Number.MIN_SAFE_INTEGER, id: 0 }
    for (;;) {
      const runs = sql.page.all(orgRow, flowRow, last.started_at, last.id)
      const concerned = runs.filter(run => isConcerned(work, traces, run))
      for (let from = 0; from < concerned.length; from += stepRows) {
        work.step(() => {
          const rows = concerned.slice(from, from + stepRows)
          const runs = rows.filter(({ id }) => rewrite(id)).length
          noteReplacedRows(database)
          return { runs }
        })
      }
      yield runs.length
      if (runs.length < pageRows) break
      last = runs.at(-1)!
    }
  }
}

/** The id in a run's key, of one that has an id. */
const runIdIn = ({ run_key: key }: Run) => (key.startsWith('r') ? key.slice(1) : null)

function isConcerned({ person }: ErasureWork, { namedRuns }: Traces, run: Run): boolean {
  if (isPerson(person, run.person)) return true
  const { least_user_id: userId, least_anonymous_id: anonymousId } = run
  if (userId !== null && person.isUser(userId)) return true
  if (anonymousId !== null && person.isAnonymous(anonymousId)) return true
  const runId = runIdIn(run)
  return runId !== null && namedRuns.has(runName(run.flow_id, runId))
}

/** A run as its events say it once those of the person are renamed. */
function renamedRun(work: ErasureWork, traces: Traces, run: Run): Run {
  const ids = idsAfter(work, traces, run)
  const person = personOf(ids.least_user_id, ids.least_anonymous_id)
  const isOthersNow =
    isPerson(work.person, run.person) && person !== work.nameIn(run.flow_id, run.person)
  return {
    ...run,
    ...ids,
    run_key: keyAfter(work, traces, run),
    person,
    // Of who has loose facts all runs are marked; marking one too many does no harm.
    has_loose: isOthersNow ? 1 : run.has_loose,
  }
}

function idsAfter({ person, pseudonyms }: ErasureWork, traces: Traces, run: Run) {
  const { flow_id: flowRow, least_user_id: userId, least_anonymous_id: anonymousId } = run
  const name = pseudonyms.person(flowRow)
  const runId = runIdIn(run)
  const key = runId === null ? null : runName(flowRow, runId)
  if (key !== null && traces.namedRuns.has(key)) {
    const others = traces.others.get(key)
    return {
      least_user_id: least(others?.leastUserId ?? null, traces.isUser ? name : null),
      least_anonymous_id: least(others?.leastAnonymousId ?? null, traces.isUser ? null : name),
    }
  }
  if (userId !== null && person.isUser(userId)) {
    return { least_user_id: name, least_anonymous_id: null }
  }
  const isBeside = anonymousId !== null && person.isAnonymous(anonymousId)
  return { least_user_id: userId, least_anonymous_id: isBeside ? name : anonymousId }
}

function keyAfter({ person, pseudonyms }: ErasureWork, traces: Traces, run: Run): string {
  const { flow_id: flowRow, run_key: key } = run
  const runId = runIdIn(run)
  if (runId !== null) {
    // One whose events are gone from the ledger stands by its row alone.
    const isKnown = traces.namedRuns.has(runName(flowRow, runId))
    const isRenamed = isKnown ? traces.isRenamed(flowRow, runId) : isPerson(person, run.person)
    return isRenamed ? `r${pseudonyms.run(flowRow, runId)}` : key
  }
  const [of, sessionId] = key.startsWith('s')
    ? (JSON.parse(key.slice(1)) as [string, string])
    : ([key.slice(1), null] as const)
  if (!isPerson(person, of)) return key
  const name = `${of[0]}${pseudonyms.person(flowRow)}`
  if (sessionId === null) return ownRunKey(name)
  return `s${JSON.stringify([name, pseudonyms.session(flowRow, sessionId)])}`
}
