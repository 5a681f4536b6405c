import type { Database } from 'bun:sqlite'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StoredEvent } from '../../src/storage/shared/in-rows.ts'
import {
  type BatchRow,
  storedText,
} from '../../src/storage/sqlite/engine/event-codec/event-batches.ts'
import { decodeEvents } from '../../src/storage/sqlite/engine/event-codec/event-text.ts'

/** Looks at what is in a data directory. */

/** All events in the ledger, or one organisation's if one is named, in the order of arrival. */
export function storedEvents(database: Database, orgRow?: number): StoredEvent[] {
  return (
    database
      .query<BatchRow & { org_id: number }, []>('select * from event_batches order by seq')
      .all()
      .filter(row => orgRow === undefined || row.org_id === orgRow)
      // Rows of an older release do not name their codec.
      .flatMap(row => decodeEvents(storedText({ ...row, codec: row.codec ?? 1 })))
  )
}

/** What SQLite finds wrong with a database; null if nothing. */
export function damageIn(database: Database): string | null {
  const [[verdict] = []] = database.query<[string], []>('pragma integrity_check').values()
  return verdict === 'ok' ? null : String(verdict)
}

/** Which of some texts occur anywhere in the files of a directory, whatever those files are. */
export function textsIn(directory: string, texts: readonly string[]): string[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name)))
  return texts.filter(text => files.some(bytes => bytes.includes(text)))
}
