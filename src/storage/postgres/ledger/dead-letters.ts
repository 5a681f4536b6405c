import type { DeadLetter } from '../../../modules/operations/port.ts'
import type { NewEvent } from '../../shared/in-rows.ts'
import {
  type Letter,
  type LetterRow,
  letterIn,
  letterOf,
  letterText,
} from '../../sqlite/ledger/dead-letters.ts'
import type { StorageCommand } from '../../sqlite/writer/commands.ts'
import type { Queries } from '../database/connection.ts'
import { refuse } from '../presence/refusals.ts'

/** Keeps what PostgreSQL would not take, with the reason. What only counts something is not worth keeping. */
export async function bury(
  queries: Queries,
  orgRow: number,
  at: number,
  error: unknown,
  letter: NewEvent | Exclude<StorageCommand, { type: 'append' }>,
): Promise<void> {
  if ('type' in letter && (letter.type === 'refusal' || letter.type === 'snippet_version')) return
  await queries.run(
    'insert into dead_letters (org_id, at, error, event) values ($1, $2, $3, $4)',
    ...[orgRow, at, reasonOf(error), letterText(letter)],
  )
  await refuse(queries, orgRow, at, { storage: 1 })
}

const reasonOf = (error: unknown) => String(error).replaceAll('\0', '\ufffd')

/** See `OperationsStore.deadLetters`. */
export async function listDeadLetters(
  queries: Queries,
  orgRow: number | null,
  most: number,
): Promise<{ letters: DeadLetter[]; count: number }> {
  const [letters, counted] = await Promise.all([
    queries.all<LetterRow>(
      `select seq, public_id as organisation, at, error, event
      from dead_letters join organisations on organisations.id = org_id
      where org_id = coalesce($1, org_id) order by seq limit $2`,
      ...[orgRow, most],
    ),
    queries.get<{ count: number }>(
      'select count(*) as count from dead_letters where org_id = coalesce($1, org_id)',
      orgRow,
    ),
  ])
  return { letters: letters.map(letterOf), count: counted!.count }
}

/** See `OperationsStore.deadLetterIds`. */
export async function deadLetterIds(
  queries: Queries,
  orgRow: number | null,
): Promise<{ id: number; orgRef: number }[]> {
  const rows = await queries.all<{ id: number; orgRef: number }>(
    `select seq as id, org_id as "orgRef" from dead_letters
    where org_id = coalesce($1, org_id) order by seq`,
    orgRow,
  )
  return [...rows]
}

const named = 'seq in (select value::bigint from json_array_elements_text($2::text::json))'

/** A dead letter that is retried. */
export interface TakenLetter {
  id: number
  /** When its content was received. */
  at: number
  letter: Letter
}

/** Letters of an organisation, in the order of the ids; those that are gone are left out. */
export async function takeDeadLetters(
  queries: Queries,
  orgRow: number,
  ids: readonly number[],
): Promise<TakenLetter[]> {
  const rows = await queries.all<{ id: number; at: number; event: string }>(
    `select seq as id, at, event from dead_letters where org_id = $1 and ${named}`,
    ...[orgRow, JSON.stringify(ids)],
  )
  const byId = new Map(rows.map(row => [row.id, row]))
  return [...new Set(ids)].flatMap(id => {
    const row = byId.get(id)
    return row ? [{ id, at: row.at, letter: letterIn(row.event) }] : []
  })
}

/** Notes why a letter was refused again. */
export async function keepDeadLetter(
  queries: Queries,
  orgRow: number,
  id: number,
  error: unknown,
): Promise<void> {
  await queries.run(
    'update dead_letters set error = $3 where org_id = $1 and seq = $2',
    ...[orgRow, id, reasonOf(error)],
  )
}

/** @returns the ids of those that were there, in the order in which they were given */
export async function deleteDeadLetters(
  queries: Queries,
  orgRow: number,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await queries.all<{ seq: number }>(
    `delete from dead_letters where org_id = $1 and ${named} returning seq`,
    ...[orgRow, JSON.stringify(ids)],
  )
  const gone = new Set(rows.map(({ seq }) => seq))
  return [...new Set(ids)].filter(id => gone.has(id))
}
