import type { Database } from 'bun:sqlite'
import { storedEvents } from '../support/stored.ts'
import { type Journal, type Kind, kinds, type Publication } from './journal.ts'
import { doerOf, publishedKeys, type Tenant, ticksItem } from './load.ts'

/** Compares what is stored with the journals. Only this file and `scripts/support/stored.ts` know SQLite's tables. */

/** What may be wrong, each counted in items. */
export const problemNames = {
  damaged: 'integrity checks of the database that failed',
  lost: 'acknowledged items that are not there',
  twice: 'items that are there twice',
  kept: 'items that were rejected with 503 and are there',
  unsent: 'items that are there and nobody sent',
  torn: 'events without what follows from them, and the other way round',
  lostPublications: 'acknowledged publications that are not there as acknowledged',
  unaudited: 'versions without a line of the audit log, or with two',
  madeUp: 'lines of the audit log without a version',
  misattributed: 'lines of the audit log that name another way or request',
  gaps: 'flows whose versions are not 1, 2, 3, …',
} as const

export type ProblemCounts = Partial<Record<keyof typeof problemNames, number>>

export const sumOf = (counts: ProblemCounts) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)

/** Adds the second counts to the first. */
export function addCounts(to: ProblemCounts, more: ProblemCounts): void {
  for (const name of Object.keys(more) as (keyof ProblemCounts)[]) {
    to[name] = (to[name] ?? 0) + more[name]!
  }
}

/** An event as it is stored. */
interface Event {
  id: string
  source: string
  userId: string | null
}

/**
 * Compares an organisation's stored events with what its clients have recorded.
 *
 * @param others the names of its stored items of other kinds
 */
export function compareEvents(
  events: readonly Event[],
  { items }: Pick<Journal, 'items'>,
  others: Partial<Record<Kind, readonly string[]>> = {},
): ProblemCounts {
  const peopleOf = (source: string) =>
    events.filter(event => event.source === source).map(event => String(event.userId))
  const names: Partial<Record<Kind, readonly string[]>> = {
    event: events.filter(({ source }) => source === 'events').map(({ id }) => id),
    completion: peopleOf('complete').filter(name => name.startsWith('completion-')),
    tick: peopleOf('checklist_progress'),
    ...others,
  }
  const doers = peopleOf('custom_event')
  const [due, done] = [new Set(names.event!.filter(ticksItem).map(doerOf)), new Set(doers)]
  const torn = due.symmetricDifference(done).size + (doers.length - done.size)
  const found = { lost: 0, twice: 0, kept: 0, unsent: 0, torn }
  for (const kind of kinds) {
    const { sent, acknowledged, rejected } = items[kind]
    const all = names[kind] ?? []
    const stored = new Set(all)
    found.twice += all.length - stored.size
    found.lost += acknowledged.difference(stored).size
    found.kept += rejected.intersection(stored).size
    found.unsent += stored.difference(sent).size
  }
  return found
}

const rowOf = (database: Database, orgId: string) =>
  database
    .query<{ id: number }, [string]>('select id from organisations where public_id = ?')
    .get(orgId)?.id ?? -1

/** Compares what is stored of one organisation with what its clients have recorded. */
export function problemsIn(
  database: Database,
  { id, journal }: { id: string; journal: Pick<Journal, 'items' | 'publications'> },
): ProblemCounts {
  const row = rowOf(database, id)
  const column = (sql: string) => database.query(sql).values(row).flat().map(String)
  const urls = column('select url from step_fingerprints where org_id = ?')
  return {
    ...compareEvents(storedEvents(database, row), journal, {
      'health report': column('select message from step_reports where org_id = ?'),
      fingerprint: urls.map(url => url.slice(url.lastIndexOf('/') + 1)),
    }),
    ...publicationProblemsIn(database, row, journal.publications),
  }
}

interface Version {
  key: string
  version: number | null
  text: string
}

/** Compares the journal, the stored versions and the audit log with each other. */
function publicationProblemsIn(database: Database, row: number, sent: readonly Publication[]) {
  const isOfLoad = ({ key }: Version) => publishedKeys.includes(key)
  const versions = database
    .query<Version, [number]>(
      `select key, version, definition ->> 'name' as text
      from flow_versions join flows on flows.id = flow_id where flows.org_id = ? order by key, version`,
    )
    .all(row)
    .filter(isOfLoad)
  const lines = database
    .query<Version & { via: string; request: string | null }, [number]>(
      `select subject as key, via, request_id as request, after ->> 'version' as version, note as text
      from audit_log where org_id = ? and action like 'flow.%'
      and coalesce(before ->> 'version', 0) < (after ->> 'version')`,
    )
    .all(row)
    .filter(isOfLoad)
  const nameOf = ({ key, version, text }: Version) => `${key} ${version} ${text}`
  const stored = new Set(versions.map(nameOf))
  const audited = Map.groupBy(lines, nameOf)
  const ways = new Map(sent.map(({ key, text, via }) => [`${key} ${text}`, via]))
  const acknowledged = sent.filter(({ version }) => version !== null).map(nameOf)
  const ofFlow = Map.groupBy(versions, ({ key }) => key)
  return {
    lostPublications: acknowledged.filter(name => !stored.has(name) || !audited.has(name)).length,
    unaudited: versions.filter(version => audited.get(nameOf(version))?.length !== 1).length,
    madeUp: lines.filter(line => !stored.has(nameOf(line))).length,
    misattributed: lines.filter(
      ({ key, text, via, request }) => ways.get(`${key} ${text}`) !== via || request === null,
    ).length,
    gaps: [...ofFlow.values()].filter(all => all.some(({ version }, i) => version !== i + 1))
      .length,
  }
}

/** Forgets events that were acknowledged before they were stored; returns how many the last end has lost. */
export function settleBuffer(database: Database, { id, journal: { buffered } }: Tenant): number {
  const stored = new Set(storedEvents(database, rowOf(database, id)).map(event => event.id))
  const { size } = buffered.difference(stored)
  buffered.clear()
  return size
}

/** One line of the result. */
export interface Check {
  what: string
  value: string | number
  /** Whether a guarantee held; absent if the line only informs. */
  isOk?: boolean
}

/** A guarantee that holds if no violation was found. */
export const none = (what: string, found: number): Check => ({
  what,
  value: found,
  isOk: found === 0,
})

/** A guarantee that holds if no sentence says otherwise. */
export const noProblem = (what: string, problems: readonly string[]): Check => ({
  what,
  value: problems.length > 0 ? `${problems.length}: ${problems.slice(0, 3).join('; ')}` : 0,
  isOk: problems.length === 0,
})

/** Proof that something happened at all, because a fault that hit nothing proves nothing. */
export const some = (what: string, count: number): Check => ({
  what,
  value: count,
  isOk: count > 0,
})

export const failedIn = (checks: readonly Check[]) => checks.filter(({ isOk }) => isOk === false)
