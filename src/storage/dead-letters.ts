import type { Database } from 'bun:sqlite'
import type { EventKind } from '../core/event.ts'
import type { NewEvent } from '../core/ports.ts'

/** Events that the database refused. Their ids are free meanwhile. */
export interface DeadLetter {
  id: number
  /** When the event was received, epoch milliseconds. */
  receivedAt: number
  eventId: string
  kind: EventKind
  /** What the database said. */
  reason: string
}

interface Row {
  seq: number
  at: number
  error: string
  event: string
}

const letterOf = ({ seq, at, error, event }: Row): DeadLetter => {
  const { id, kind } = JSON.parse(event) as NewEvent
  return { id: seq, receivedAt: at, eventId: id, kind, reason: error }
}

/** An organisation's dead letters, the oldest first; at most so many, and how many there are. */
export function listDeadLetters(
  database: Database,
  orgRow: number,
  most: number,
): { letters: DeadLetter[]; count: number } {
  const letters = database
    .query<Row, [number, number]>(
      'select seq, at, error, event from dead_letters where org_id = ? order by seq limit ?',
    )
    .all(orgRow, most)
  return { letters: letters.map(letterOf), count: deadLetterIds(database, orgRow).length }
}

/** The numbers of all of an organisation's dead letters, the oldest first. */
export function deadLetterIds(database: Database, orgRow: number): number[] {
  return database
    .query<{ seq: number }, [number]>('select seq from dead_letters where org_id = ? order by seq')
    .all(orgRow)
    .map(({ seq }) => seq)
}

/** Deletes dead letters; how many were there. */
export function dropDeadLetters(
  database: Database,
  orgRow: number,
  ids: readonly number[],
): number {
  const drop = database.query('delete from dead_letters where org_id = ? and seq = ?')
  const all = database.transaction(() =>
    ids.reduce((sum, id) => sum + drop.run(orgRow, id).changes, 0),
  )
  return all.immediate()
}
