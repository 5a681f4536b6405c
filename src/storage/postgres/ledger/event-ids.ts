import type { Queries } from '../database/connection.ts'
import { type ColumnTypes, fromArrays, joined, type Part, partOf } from '../rows/arrays.ts'
import { bucketOf, idInHex } from './event-id.ts'

/** Ids of events as they are taken, within a transaction that has locked their organisations. */

const types = {
  ...{ org_id: 'bigint', bucket: 'integer', hex: 'text', received_at: 'bigint' },
} as const satisfies ColumnTypes

/** Rows of `event_ids` on their way there. */
export interface IdParts {
  count: number
  parts: readonly Part[]
}

/** The rows of the ids of some events. */
export const idPartsOf = (orgRow: number, receivedAt: number, ids: readonly string[]): IdParts => ({
  count: ids.length,
  parts: [
    partOf(ids, () => orgRow),
    partOf(ids, bucketOf),
    partOf(ids, idInHex),
    partOf(ids, () => receivedAt),
  ],
})

const valuesOf = (taken: readonly IdParts[]): string[] => {
  const counts = taken.map(({ count }) => count)
  return Object.keys(types).map((_, column) =>
    joined(
      taken.map(({ parts }) => parts[column]!),
      counts,
    ),
  )
}

const columns = 'org_id, bucket, id, received_at'

/** Takes ids that are known to be free. */
export const insertIds = (queries: Queries, ids: readonly IdParts[]): Promise<number> =>
  queries.run(
    `insert into event_ids (${columns})
    select org_id, bucket, decode(hex, 'hex'), received_at from ${fromArrays(types)}`,
    ...valuesOf(ids),
  )

/**
 * Each id with its place and whether it is taken. Looked up one by one: a plan that was made while the table
 * was empty would else go through all of it.
 */
const looked = `
  select k.org_id, k.bucket, decode(k.hex, 'hex') as id, k.received_at, k.place, e.is_taken
  from ${fromArrays(types, { how: 'with ordinality', column: 'place' })}
  left join lateral (
    select true as is_taken from event_ids e
    where e.org_id = k.org_id and e.bucket = k.bucket and e.id = decode(k.hex, 'hex') offset 0
  ) e on true`

/**
 * Takes those ids that are free, of which none is there twice.
 *
 * @returns the places of those that were taken before, counted from 0
 */
export async function claimIds(queries: Queries, ids: readonly IdParts[]): Promise<number[]> {
  const rows = await queries.all<{ place: number }>(
    `with
      looked as materialized (${looked}),
      taking as (insert into event_ids (${columns}) select ${columns} from looked where is_taken is null)
    select place from looked where is_taken`,
    ...valuesOf(ids),
  )
  return rows.map(({ place }) => place - 1)
}

/** @returns the places of those ids that are taken, counted from 0 */
export async function takenIds(queries: Queries, ids: readonly IdParts[]): Promise<number[]> {
  const rows = await queries.all<{ place: number }>(
    `select place from (${looked}) as looked where is_taken`,
    ...valuesOf(ids),
  )
  return rows.map(({ place }) => place - 1)
}
