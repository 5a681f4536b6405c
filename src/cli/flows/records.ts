import { isoTimeOrNull } from '../../core/clock.ts'
import type { FlowRecord } from '../../storage/flow-reader.ts'
import type { StatusChange } from '../../storage/flow-store.ts'
import { printColumns, printJson } from '../output.ts'

export const orgHelp = 'id or slug; may be left out where there is only one'

/** A flow as `--json` shows it: times as text. */
export const shown = <Record extends FlowRecord>({ publishedAt, updatedAt, ...flow }: Record) => ({
  ...flow,
  publishedAt: isoTimeOrNull(publishedAt),
  updatedAt: isoTimeOrNull(updatedAt),
})

/** The command to copy that publishes a flow; keys of earlier releases can begin like an option. */
export const publishCommand = (key: string, org: string) =>
  key.startsWith('-') ? `cairn flows publish${org} -- ${key}` : `cairn flows publish ${key}${org}`

/** A status to stand after "it is". */
export const statusInWords = (status: FlowRecord['status']) =>
  status === 'draft' ? 'a draft' : status

/** What became of flows: their keys, their ids, and a few words. */
export function printChanges(
  changes: readonly StatusChange[],
  options: { json?: boolean },
  inWords: (change: StatusChange) => string,
): void {
  if (options.json) printJson(changes.map(shown))
  else printColumns(changes.map(change => [change.key, change.id, inWords(change)]))
}

/** What publishing did to a flow. */
export function publicationOf({ outcome, before, version }: StatusChange): string {
  const from = before === 'archived' ? ', out of the archive' : ''
  return `${outcome}, version ${version}${from}`
}
