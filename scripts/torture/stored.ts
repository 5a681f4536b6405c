import type { Database } from 'bun:sqlite'
import { storedEvents } from '../support/stored.ts'
import { type Diary, type Kind, kinds } from './diary.ts'
import { doerOf, ticksItem } from './requests.ts'

/** The names of the items in an organisation's tables, by kind, each as often as it is stored. */
function storedNames(database: Database, orgRow: number) {
  const events = storedEvents(database, orgRow)
  const from = (wanted: (typeof events)[number]['source']) =>
    events.filter(({ source }) => source === wanted)
  const column = (sql: string) =>
    database
      .query<[string], [number]>(sql)
      .values(orgRow)
      .map(([text]) => String(text))
  const people = (source: (typeof events)[number]['source']) =>
    from(source).map(({ userId }) => String(userId))
  const names: Record<Kind, string[]> = {
    event: from('events').map(({ id }) => id),
    completion: people('complete').filter(name => name.startsWith('completion-')),
    tick: people('checklist_progress'),
    'health report': column('select message from step_reports where org_id = ?'),
    fingerprint: column('select url from step_fingerprints where org_id = ?').map(url =>
      url.slice(url.lastIndexOf('/') + 1),
    ),
  }
  return { names, doers: people('custom_event') }
}

/** How what is stored differs from what was acknowledged and sent, in items. */
export interface Differences {
  /** Acknowledged, but not there. */
  lost: number
  /** There more than once. */
  twice: number
  /** There, but never sent. */
  unsent: number
  /** Custom events without the tick that follows from them, and ticks without their event. */
  torn: number
}

const rowOf = (database: Database, orgId: string) =>
  database
    .query<{ id: number }, [string]>('select id from organisations where public_id = ?')
    .get(orgId)!.id

/** Compares what is stored of one organisation with what its clients have written down. */
export function differences(database: Database, orgId: string, diary: Diary): Differences {
  const { names, doers } = storedNames(database, rowOf(database, orgId))
  const found: Differences = { lost: 0, twice: 0, unsent: 0, torn: 0 }
  for (const kind of kinds) {
    const { sent, acknowledged } = diary.pages[kind]
    const stored = new Set(names[kind])
    found.twice += names[kind].length - stored.size
    found.lost += acknowledged.difference(stored).size
    found.unsent += stored.difference(sent).size
  }
  const due = new Set(names.event.filter(ticksItem).map(doerOf))
  const done = new Set(doers)
  found.torn = due.symmetricDifference(done).size + (doers.length - done.size)
  return found
}

/**
 * For events that were acknowledged before they were stored, and are missing after the end of a server: how
 * long before that end they were acknowledged, milliseconds. Nobody was promised them, so they are forgotten.
 */
export function lostFromBuffer(
  database: Database,
  orgId: string,
  diary: Diary,
  endedAt: number,
): number[] {
  const stored = new Set(storedEvents(database, rowOf(database, orgId)).map(({ id }) => id))
  const ages = [...diary.buffered]
    .filter(([name]) => !stored.has(name))
    .map(([, acknowledgedAt]) => endedAt - acknowledgedAt)
  diary.buffered.clear()
  return ages
}
