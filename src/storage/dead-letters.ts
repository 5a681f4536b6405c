import type { Database } from 'bun:sqlite'
import type { EventKind } from '../core/event.ts'
import type { NewEvent, PersonIds } from '../core/ports.ts'
import type { Command } from './commands.ts'

/** A report that came alone, and that the database refused: kept as the command that it was. */
export type BuriedCommand = Exclude<
  Command,
  { type: 'append' } | { type: 'refusal' } | { type: 'snippet_version' }
>

/** What a dead letter holds: an event, whose id is free meanwhile, or a command. */
export const letterIn = (event: string) => JSON.parse(event) as NewEvent | BuriedCommand

/** By which ids a letter names people. */
export function namesIn(letter: NewEvent | BuriedCommand): PersonIds {
  if (!('type' in letter) || letter.type === 'complete' || letter.type === 'tick') return letter
  const person = letter.type === 'health' ? letter.person : null
  const id = person?.slice(1) ?? null
  return person?.startsWith('u')
    ? { userId: id, anonymousId: null }
    : { userId: null, anonymousId: id }
}

/** What the database refused. */
export interface DeadLetter {
  id: number
  /** When it was received, epoch milliseconds. */
  receivedAt: number
  /** Null for what is no event. */
  eventId: string | null
  kind: EventKind | BuriedCommand['type']
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
  const letter = letterIn(event)
  const shown =
    'type' in letter
      ? { eventId: null, kind: letter.type }
      : { eventId: letter.id, kind: letter.kind }
  return { id: seq, receivedAt: at, ...shown, reason: error }
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
