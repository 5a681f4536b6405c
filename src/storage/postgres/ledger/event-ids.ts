import { type Queries, sqlStateOf } from '../database/connection.ts'
import { type ColumnTypes, fromArrays, inArrays } from '../rows/arrays.ts'
import { mostByStatement } from '../rows/lines.ts'
import { bucketOf, idInHex } from './event-id.ts'

/** How ids of events are taken, within a transaction that has locked their organisations. */

const types = {
  ...{ org_id: 'bigint', bucket: 'integer', hex: 'text', received_at: 'bigint' },
} as const satisfies ColumnTypes

/** Ids that are to become rows of `event_ids`. */
export interface NewIds {
  orgRow: number
  receivedAt: number
  ids: readonly string[]
  /** The same in the form that `copy` reads. */
  lines: string
}

/** @param receivedAt when they arrived, epoch milliseconds: it decides how long they are remembered */
export function newIds(orgRow: number, receivedAt: number, ids: readonly string[]): NewIds {
  let lines = ''
  for (const id of ids) lines += `${orgRow}\t${bucketOf(id)}\t\\\\x${idInHex(id)}\t${receivedAt}\n`
  return { orgRow, receivedAt, ids, lines }
}

const valuesOf = (batches: readonly NewIds[]): string[] =>
  inArrays(
    types,
    batches.flatMap(({ orgRow, receivedAt, ids }) =>
      ids.map(id => ({
        ...{ org_id: orgRow, bucket: bucketOf(id), hex: idInHex(id), received_at: receivedAt },
      })),
    ),
  )

const columns = 'org_id, bucket, id, received_at'

/**
 * Takes ids.
 *
 * @throws if one is taken already (see `saysTaken`); the transaction is of no use then
 */
export async function takeIds(queries: Queries, batches: readonly NewIds[]): Promise<void> {
  const count = batches.reduce((sum, { ids }) => sum + ids.length, 0)
  if (count > mostByStatement) {
    const lines = batches.map(batch => batch.lines).join('')
    return queries.copy(`event_ids (${columns})`, lines)
  }
  await queries.run(
    `insert into event_ids (${columns})
    select org_id, bucket, decode(hex, 'hex'), received_at from ${fromArrays(types)}`,
    ...valuesOf(batches),
  )
}

/** Whether an error says that an id is taken. */
export const saysTaken = (error: unknown): boolean => sqlStateOf(error) === '23505'

/**
 * Looks ids up one by one: otherwise a plan made while the table was empty would go through all of it.
 *
 * @returns the places of the ids that are taken, counted from 0
 */
export async function takenIds(queries: Queries, batches: readonly NewIds[]): Promise<number[]> {
  const rows = await queries.all<{ place: number }>(
    `select k.place from ${fromArrays(types, { how: 'with ordinality', column: 'place' })}
    cross join lateral (
      select from event_ids e
      where e.org_id = k.org_id and e.bucket = k.bucket and e.id = decode(k.hex, 'hex') offset 0
    ) e`,
    ...valuesOf(batches),
  )
  return rows.map(({ place }) => place - 1)
}
