import type { Database } from 'bun:sqlite'
import { storedEvents } from '../../support/stored.ts'
import type { Tenant } from './clients.ts'
import { type Journal, type Kind, kinds, type Publication } from './journal.ts'
import { publishedKeys } from './publishers.ts'
import { doerOf, ticksItem } from './requests.ts'

/** Compares what is stored with the journals. Only this file and `scripts/support/stored.ts` know the tables. */

/** What may be wrong, each counted in items. */
export const faultNames = {
  lost: 'acknowledged items that are not there',
  twice: 'items that are there twice',
  unsent: 'items that are there and nobody sent',
  torn: 'events without what follows from them, and the other way round',
  lostPublications: 'acknowledged publications that are not there as acknowledged',
  unaudited: 'versions without a line of the audit log, or with two',
  madeUp: 'lines of the audit log without a version',
  misattributed: 'lines of the audit log that name another way or request',
  gaps: 'flows whose versions are not 1, 2, 3, …',
} as const

export type Faults = Record<keyof typeof faultNames, number>

/** The names of the items in an organisation's tables, by kind, each as often as it is stored. */
export function storedNames(database: Database, orgRow: number) {
  const events = storedEvents(database, orgRow)
  const column = (sql: string) =>
    database
      .query<[string], [number]>(sql)
      .values(orgRow)
      .map(([text]) => String(text))
  const people = (source: (typeof events)[number]['source']) =>
    events.filter(event => event.source === source).map(({ userId }) => String(userId))
  const names: Record<Kind, string[]> = {
    event: events.filter(({ source }) => source === 'events').map(({ id }) => id),
    completion: people('complete').filter(name => name.startsWith('completion-')),
    tick: people('checklist_progress'),
    'health report': column('select message from step_reports where org_id = ?'),
    fingerprint: column('select url from step_fingerprints where org_id = ?').map(url =>
      url.slice(url.lastIndexOf('/') + 1),
    ),
  }
  return { names, doers: people('custom_event') }
}

const rowOf = (database: Database, orgId: string) =>
  database
    .query<{ id: number }, [string]>('select id from organisations where public_id = ?')
    .get(orgId)!.id

/** Compares what is stored of one organisation with what its clients have recorded. */
export function faultsOf(database: Database, { id, journal }: Pick<Tenant, 'id' | 'journal'>) {
  const row = rowOf(database, id)
  const { names, doers } = storedNames(database, row)
  const [due, done] = [new Set(names.event.filter(ticksItem).map(doerOf)), new Set(doers)]
  const torn = due.symmetricDifference(done).size + (doers.length - done.size)
  const found = { lost: 0, twice: 0, unsent: 0, torn }
  for (const kind of kinds) {
    const { sent, acknowledged } = journal.items[kind]
    const stored = new Set(names[kind])
    found.twice += names[kind].length - stored.size
    found.lost += acknowledged.difference(stored).size
    found.unsent += stored.difference(sent).size
  }
  return { ...found, ...publicationFaultsOf(database, row, journal.publications) } satisfies Faults
}

interface Version {
  key: string
  version: number
  text: string
}

/** Compares the journal, the stored versions and the audit log with each other. */
function publicationFaultsOf(database: Database, row: number, sent: readonly Publication[]) {
  const isOfLoad = ({ key }: Version) => publishedKeys.includes(key)
  const versions = database
    .query<Version, [number]>(
      `select key, version, body ->> 'name' as text
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
  const nameOf = ({ key, version, text }: Omit<Version, 'version'> & { version: number | null }) =>
    `${key} ${version} ${text}`
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
export function settleBuffer(database: Database, id: string, { buffered }: Journal): number {
  const stored = new Set(storedEvents(database, rowOf(database, id)).map(event => event.id))
  const { size } = buffered.difference(stored)
  buffered.clear()
  return size
}
