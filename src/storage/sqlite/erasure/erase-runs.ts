import { idsOf, personOf } from '../../../core/event/event.ts'
import { least, ownRunKey } from '../../../core/run/run.ts'
import { sharedRunsOf } from '../runs/run-people.ts'
import type { StoredRun } from '../runs/stored-run.ts'
import { eraseFacts, nameInFacts } from './erase-facts.ts'
import type { ErasureWork } from './erasure-work.ts'
import { isNamedIn, isPerson } from './person-matcher.ts'
import { isPseudonym } from './pseudonyms.ts'
import { type NamedRun, type NamedRuns, peopleInRuns, runName, runsOfFlow } from './traces.ts'

/** The key of a run (`runKeyOf`) after the person is renamed. */
function runKeyAfter(
  { person, pseudonyms }: ErasureWork,
  named: NamedRuns,
  flowRow: number,
  key: string,
): string {
  if (key.startsWith('r')) {
    const runId = key.slice(1)
    return named.isRenamed(flowRow, runId) ? `r${pseudonyms.run(flowRow, runId)}` : key
  }
  const isOfSession = key.startsWith('s')
  if (!isOfSession && !key.startsWith('p')) return key
  const [of, sessionId] = isOfSession
    ? (JSON.parse(key.slice(1)) as [string, string])
    : ([key.slice(1), null] as const)
  if (!isPerson(person, of)) return key
  const name = `${of[0]}${pseudonyms.person(flowRow)}`
  if (sessionId === null) return ownRunKey(name)
  return `s${JSON.stringify([name, pseudonyms.session(flowRow, sessionId)])}`
}

/** Rows that one transaction writes. */
const stepRows = 50

function statements({ database }: ErasureWork) {
  return {
    run: database.query<StoredRun, [number, number]>(
      'select * from runs where id = ? and org_id = ?',
    ),
    rename: database.query(
      `update runs set run_key = ?, person = ?, least_user_id = ?, least_anonymous_id = ?,
        traits = ?
      where id = ? and org_id = ?`,
    ),
    disown: database.query(
      'delete from run_owners where org_id = ? and flow_id = ? and run_key = ?',
    ),
    own: database.query(
      'insert into run_owners (org_id, flow_id, run_key, person) values (?, ?, ?, ?)',
    ),
    renameTicks: database.query(
      `update ticks set run_key = ?
      where org_id = ? and flow_id = ? and person = ? and run_key = ?`,
    ),
    renameCompletions: database.query(
      `update checklist_completions set run_key = ?, named = iif(named = ?, ?, named)
      where org_id = ? and flow_id = ? and run_key = ? and run_key <> ''`,
    ),
    renamePeople: database.query(
      'update run_people set run_key = ? where org_id = ? and flow_id = ? and run_key = ?',
    ),
    deleteBlocks: database.query(
      'delete from run_blocks where org_id = ? and flow_id = ? and from_at <= ? and to_at > ?',
    ),
  }
}

/** Renames a run within a step of the work; false if there is no such row. */
function runEraser(work: ErasureWork, named: NamedRuns): (row: number) => boolean {
  const { database, orgRow } = work
  const sql = statements(work)
  const peopleIn = peopleInRuns(database, orgRow)
  const rewrite = (row: number): boolean => {
    const run = sql.run.get(row, orgRow)
    if (!run) return false
    const now = renamedRun(work, named, run, peopleIn(run))
    sql.rename.run(
      now.run_key,
      now.person,
      now.least_user_id,
      now.least_anonymous_id,
      now.traits,
      row,
      orgRow,
    )
    if (now.run_key !== run.run_key) renameKey(run, now.run_key)
    sql.disown.run(orgRow, run.flow_id, run.run_key)
    // By the remaining names alone it might count as another's, now or when somebody else joins it.
    const isOpenToOthers = now.run_key === run.run_key && isPseudonym(now.person.slice(1))
    if (isOpenToOthers || personOf(now.least_user_id, now.least_anonymous_id) !== now.person) {
      sql.own.run(orgRow, run.flow_id, now.run_key, now.person)
    }
    // Blocks identify people by a hash, which has to go too.
    sql.deleteBlocks.run(orgRow, run.flow_id, run.started_at, run.started_at)
    return true
  }
  const renameKey = (run: StoredRun, now: string) => {
    const { flow_id: flowRow, run_key: key, person } = run
    const people = peopleIn(run)
    for (const one of new Set([person, ...people])) {
      sql.renameTicks.run(now, orgRow, flowRow, one, key)
    }
    sql.renameCompletions.run(now, key, now, orgRow, flowRow, key)
    sql.renamePeople.run(now, orgRow, flowRow, key)
  }
  return rewrite
}

/**
 * Renames the runs of a person and everything else that is known of them, and leaves the rest of the
 * content as it is. What is known in a flow is renamed in one step with the last runs of the flow:
 * otherwise others' reports in between would be counted together with only half of it.
 */
export function* eraseRuns(work: ErasureWork, named: NamedRuns): Generator<number> {
  const { database, orgRow } = work
  const flows = database.query<{ id: number }, [number]>('select id from flows where org_id = ?')
  const rewrite = runEraser(work, named)
  const name = yield* nameInFacts(work)
  const eraseFactsIn = name === null ? () => ({}) : eraseFacts(work, named, name)
  for (const { id: flowRow } of flows.all(orgRow)) {
    const concerned: number[] = []
    const shared = sharedRunsOf(database, { orgRow, flowRow, person: name ?? '' })
    for (const runs of runsOfFlow(database, orgRow, flowRow)) {
      for (const run of runs) if (isConcerned(work, named, run, shared)) concerned.push(run.id)
      yield runs.length
    }
    let from = 0
    do {
      const rows = concerned.slice(from, from + stepRows)
      from += stepRows
      work.step(() => {
        const runs = rows.filter(rewrite).length
        return { runs, ...(from < concerned.length ? {} : eraseFactsIn(flowRow)) }
      })
      yield rows.length
    } while (from < concerned.length)
  }
}

/** The id in a run's key; null for a run without an id. */
const runIdIn = ({ run_key: key }: NamedRun) => (key.startsWith('r') ? key.slice(1) : null)

/**
 * Whether a run is the person's, or has their name.
 *
 * @param shared the keys of the runs of its flow that name the person and others
 */
export function isConcerned(
  { person }: ErasureWork,
  { namedRuns }: NamedRuns,
  run: NamedRun & Pick<StoredRun, 'person'>,
  shared: ReadonlySet<string>,
): boolean {
  const ids = { userId: run.least_user_id, anonymousId: run.least_anonymous_id }
  if (isPerson(person, run.person) || isNamedIn(person, ids)) return true
  if (shared.has(run.run_key)) return true
  const runId = runIdIn(run)
  return runId !== null && namedRuns.has(runName(run.flow_id, runId))
}

/** A run after the person is renamed. It keeps its owner, so that every count stays the same. */
function renamedRun(
  work: ErasureWork,
  named: NamedRuns,
  run: StoredRun,
  people: readonly string[],
): StoredRun {
  return {
    ...run,
    ...idsAfter(work, named, run, people),
    run_key: runKeyAfter(work, named, run.flow_id, run.run_key),
    person: isPerson(work.person, run.person) ? work.nameIn(run.flow_id, run.person) : run.person,
  }
}

/**
 * The new ids in a run, and the traits of whoever is left in it.
 *
 * @param people whom it names, if it names several
 */
function idsAfter(
  { person, pseudonyms }: ErasureWork,
  named: NamedRuns,
  run: StoredRun,
  people: readonly string[],
) {
  const { flow_id: flowRow, least_user_id: userId, least_anonymous_id: anonymousId } = run
  const name = pseudonyms.person(flowRow)
  const runId = runIdIn(run)
  const key = runId === null ? null : runName(flowRow, runId)
  if (key !== null && named.namedRuns.has(key)) {
    const others = named.others.get(key)
    return {
      least_user_id: least(others?.leastUserId ?? null, named.isUser ? name : null),
      least_anonymous_id: least(others?.leastAnonymousId ?? null, named.isUser ? null : name),
      traits: others?.traits ?? null,
    }
  }
  if (userId !== null && person.isUser(userId)) {
    return { least_user_id: name, least_anonymous_id: null, traits: null }
  }
  const visitors = [anonymousId, ...people.map(one => idsOf(one).anonymousId)]
  const visitorsNow = visitors.map(id => (id !== null && person.isAnonymous(id) ? name : id))
  return {
    least_user_id: userId,
    least_anonymous_id: visitorsNow.reduce<string | null>(least, null),
    traits: userId === null ? null : run.traits,
  }
}
