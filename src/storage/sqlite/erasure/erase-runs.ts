import { idsOf, personOf } from '../../../core/event/event.ts'
import { least, ownRunKey, runIdIn } from '../../../core/run/run.ts'
import type { StoredRun } from '../runs/stored-run.ts'
import { factsEraser } from './erase-facts.ts'
import type { ErasureWork } from './erasure-work.ts'
import { isPseudonym } from './pseudonyms.ts'
import { peopleInRuns, type Traces } from './traces.ts'

/** Rows that one transaction writes. */
const stepRows = 50

/** The key of a run (`runKeyOf`) after the person is renamed. */
function runKeyAfter({ pseudonyms }: ErasureWork, traces: Traces, run: StoredRun): string {
  const { flow_id: flowRow, run_key: key } = run
  const runId = runIdIn(key)
  if (runId !== null) {
    return traces.isRenamed(flowRow, runId) ? `r${pseudonyms.run(flowRow, runId)}` : key
  }
  const name = pseudonyms.nameIn(flowRow, traces.name)
  if (key === ownRunKey(traces.name)) return ownRunKey(name)
  if (!key.startsWith('s')) return key
  const [person, sessionId] = JSON.parse(key.slice(1)) as [string, string]
  if (person !== traces.name) return key
  return `s${JSON.stringify([name, pseudonyms.session(flowRow, sessionId)])}`
}

/**
 * The new ids in a run, and the traits of whoever is left in it.
 *
 * @param people whom it names, if it names several
 */
function idsAfter(
  { pseudonyms }: ErasureWork,
  traces: Traces,
  run: StoredRun,
  people: readonly string[],
): Pick<StoredRun, 'least_user_id' | 'least_anonymous_id' | 'traits'> {
  const { userId, anonymousId } = idsOf(traces.name)
  const id = pseudonyms.person(run.flow_id)
  const runId = runIdIn(run.run_key)
  const shared = runId === null ? null : traces.run(run.flow_id, runId)
  if (shared) {
    return {
      least_user_id: least(shared.userId, userId && id),
      least_anonymous_id: least(shared.anonymousId, anonymousId && id),
      traits: shared.traits,
    }
  }
  if (userId !== null && userId === run.least_user_id) {
    return { least_user_id: id, least_anonymous_id: null, traits: null }
  }
  const visitors = [run.least_anonymous_id, ...people.map(one => idsOf(one).anonymousId)]
  return {
    least_user_id: run.least_user_id,
    least_anonymous_id: visitors
      .map(one => (one !== null && one === anonymousId ? id : one))
      .reduce<string | null>(least, null),
    traits: run.least_user_id === null ? null : run.traits,
  }
}

function statements({ database }: ErasureWork) {
  return {
    flows: database.query<{ id: number }, [number]>('select id from flows where org_id = ?'),
    /** The person's runs, and those that have their name. */
    concerned: database.query<{ id: number }, Record<string, string | number | null>>(
      `select id from runs where org_id = $orgRow and flow_id = $flowRow and (
        person = $name or least_user_id = $userId or least_anonymous_id = $anonymousId
        or substr(run_key, 2) in (select value from json_each($runIds)) and run_key glob 'r*'
        or run_key in (select run_key from run_people
          where org_id = $orgRow and flow_id = $flowRow and person = $name))`,
    ),
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

/**
 * Renames the runs of a person and everything else that is known of them, and leaves the rest of the
 * content as it is. What is known in a flow is renamed in one step with the last runs of the flow:
 * otherwise others' reports in between would be counted together with only half of it.
 */
export function* eraseRuns(work: ErasureWork, traces: Traces): Generator<number> {
  const { database, orgRow, pseudonyms } = work
  const { name } = traces
  const sql = statements(work)
  const peopleIn = peopleInRuns(database, orgRow)
  const eraseFacts = factsEraser(work, traces)

  /** Renames a run within a step; false if there is no such row. A run keeps its owner, so that every count stays. */
  const renameRun = (id: number): boolean => {
    const run = sql.run.get(id, orgRow)
    if (!run) return false
    const { flow_id: flowRow, run_key: before, person, started_at } = run
    const people = peopleIn(run)
    const ids = idsAfter(work, traces, run, people)
    const owner = person === name ? pseudonyms.nameIn(flowRow, name) : person
    const key = runKeyAfter(work, traces, run)
    const { least_user_id: userId, least_anonymous_id: anonymousId } = ids
    sql.rename.run(key, owner, userId, anonymousId, ids.traits, id, orgRow)
    if (key !== before) {
      for (const one of new Set([person, ...people])) {
        sql.renameTicks.run(key, orgRow, flowRow, one, before)
      }
      sql.renameCompletions.run(key, before, key, orgRow, flowRow, before)
      sql.renamePeople.run(key, orgRow, flowRow, before)
    }
    sql.disown.run(orgRow, flowRow, before)
    // By the remaining names alone it might count as another's, now or when somebody else joins it.
    const isOpenToOthers = key === before && isPseudonym(owner.slice(1))
    if (isOpenToOthers || personOf(userId, anonymousId) !== owner) {
      sql.own.run(orgRow, flowRow, key, owner)
    }
    // Blocks identify people by a hash, which has to go too.
    sql.deleteBlocks.run(orgRow, flowRow, started_at, started_at)
    return true
  }

  for (const { id: flowRow } of sql.flows.all(orgRow)) {
    const runIds = JSON.stringify(traces.runIds(flowRow))
    const rows = sql.concerned.all({ orgRow, flowRow, name, ...idsOf(name), runIds })
    let from = 0
    do {
      const page = rows.slice(from, from + stepRows)
      from += stepRows
      work.step(() => {
        const runs = page.filter(({ id }) => renameRun(id)).length
        return { runs, ...(from < rows.length ? {} : eraseFacts(flowRow)) }
      })
      yield page.length
    } while (from < rows.length)
  }
}
