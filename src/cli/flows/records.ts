import type { FlowDefinition } from '../../core/flow/flow.ts'
import type { Manager } from '../manage.ts'
import { printColumns, printJson } from '../output.ts'

/** A flow as the management API tells of it; times are RFC 3339. */
export interface FlowRecord {
  id: string
  key: string
  name: string
  kind: FlowDefinition['kind']
  status: 'draft' | 'published' | 'archived'
  version: number | null
  publishedAt: string | null
  hasDraft: boolean
  updatedAt: string
  stepCount: number
  itemCount: number
  etag: string
}

/** A flow with what its author wrote. */
export interface StoredFlow extends FlowRecord {
  draft: FlowDefinition | null
  published: FlowDefinition | null
  publishedSteps: readonly string[]
  publishedItems: readonly string[]
}

/** What became of one flow whose status was to change. */
export interface StatusChange extends FlowRecord {
  outcome: 'published' | 'published again' | 'already published' | 'changed' | 'unchanged'
  /** The status before. */
  before: FlowRecord['status']
}

/** What became of one flow of a push. */
export interface Pushed extends FlowRecord {
  outcome: 'created' | 'updated' | 'unchanged'
  publication: StatusChange['outcome'] | null
  before: FlowRecord['status'] | null
}

/** All flows with their definitions. */
export const storedFlows = async ({ ask }: Manager): Promise<StoredFlow[]> =>
  (await ask<{ flows: StoredFlow[] }>('GET /flows?definitions=1')).flows

/** The command to copy that publishes a flow; keys of earlier releases can begin like an option. */
export const publishCommand = (key: string, org: string) =>
  key.startsWith('-') ? `cairn flows publish${org} -- ${key}` : `cairn flows publish ${key}${org}`

/** What a command to copy says of the organisation: nothing where that may be left out. */
export const orgFlag = ({ isOnlyOne, organisation }: Manager) =>
  isOnlyOne ? '' : ` --org ${organisation}`

/** A status to stand after "it is". */
export const statusInWords = (status: FlowRecord['status']) =>
  status === 'draft' ? 'a draft' : status

/** What became of flows: their keys, their ids, and a few words. */
export function printChanges(
  changes: readonly StatusChange[],
  options: { json?: boolean },
  inWords: (change: StatusChange) => string,
): void {
  if (options.json) printJson(changes)
  else printColumns(changes.map(change => [change.key, change.id, inWords(change)]))
}

/** What publishing did to a flow. */
export function publicationOf({
  outcome,
  before,
  version,
}: Pick<StatusChange, 'version'> & { outcome: string; before: string | null }): string {
  const from = before === 'archived' ? ', out of the archive' : ''
  return `${outcome}, version ${version}${from}`
}
