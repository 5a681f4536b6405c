import type { Queries } from '../database/connection.ts'
import { type ColumnTypes, fromArrays, joined, type Part, partOf } from '../rows/arrays.ts'
import { bucketOf, idInText } from './event-id.ts'

/** Ids of events as they are taken, within a transaction that has locked their organisations. */

const types = {
  ...{ org_id: 'bigint', bucket: 'integer', id: 'bytea', received_at: 'bigint' },
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
    partOf(ids.map(() => orgRow)),
    partOf(ids.map(bucketOf)),
    partOf(ids.map(idInText)),
    partOf(ids.map(() => receivedAt)),
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

const insertion = `insert into event_ids (org_id, bucket, id, received_at)
  select org_id, bucket, id, received_at from`

/** Takes ids that are known to be free. */
export const insertIds = (queries: Queries, ids: readonly IdParts[]): Promise<number> =>
  queries.run(`${insertion} ${fromArrays(types)}`, ...valuesOf(ids))

const counted = fromArrays(types, { how: 'with ordinality', column: 'place' })

const isIt = ['org_id', 'bucket', 'id'].map(name => `fresh.${name} = k.${name}`).join(' and ')

/**
 * Takes those ids that are free.
 *
 * @returns the places of those that were taken before, counted from 0
 */
export async function claimIds(queries: Queries, ids: readonly IdParts[]): Promise<number[]> {
  const rows = await queries.all<{ place: number }>(
    `with
      k as materialized (select * from ${counted}),
      fresh as (${insertion} k on conflict do nothing returning org_id, bucket, id)
    select place from k where not exists (select from fresh where ${isIt})`,
    ...valuesOf(ids),
  )
  return rows.map(({ place }) => place - 1)
}

/** @returns the places of those ids that are taken, counted from 0 */
export async function takenIds(queries: Queries, ids: readonly IdParts[]): Promise<number[]> {
  const rows = await queries.all<{ place: number }>(
    `select place from ${counted} join event_ids using (org_id, bucket, id)`,
    ...valuesOf(ids),
  )
  return rows.map(({ place }) => place - 1)
}
