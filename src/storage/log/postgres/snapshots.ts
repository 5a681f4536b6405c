import { createHash } from 'node:crypto'
import type { NewSnapshot, Snapshot } from '../log.ts'
import type { Postgres, Queries } from './connection.ts'

const columns = `id, seq::float8 as seq, mark, schema, release, bytes::float8 as bytes, sha256,
  made_at::float8 as "madeAt"`

/** Those that are whole, the newest first. */
export const snapshotsIn = (queries: Queries): Promise<Snapshot[]> =>
  queries.all<Snapshot>(`select ${columns} from cairn_snapshots order by seq desc, made_at desc`)

/**
 * Stores a snapshot, part by part, reads it back, and only then names it. A part whose snapshot is not named is left
 * by a node that died, and is deleted.
 */
export async function storeSnapshot(
  postgres: Postgres,
  snapshot: NewSnapshot,
  parts: AsyncIterable<Uint8Array>,
): Promise<void> {
  const id = crypto.randomUUID()
  const hash = createHash('sha256')
  let bytes = 0
  let place = 0
  for await (const part of parts) {
    hash.update(part)
    bytes += part.length
    await postgres.run(
      `insert into cairn_snapshot_parts (snapshot, place, body) values ($1, $2, decode($3, 'hex'))`,
      ...[id, place++, Buffer.from(part).toString('hex')],
    )
  }
  const sha256 = hash.digest('hex')
  const stored = createHash('sha256')
  for await (const part of snapshotParts(postgres, id)) stored.update(part)
  if (stored.digest('hex') !== sha256) throw new Error('A snapshot is not stored as it was sent')
  const { seq, mark, schema, release, madeAt } = snapshot
  await postgres.run(
    `insert into cairn_snapshots (id, seq, mark, schema, release, bytes, sha256, made_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    ...[id, seq, mark, schema, release, bytes, sha256, madeAt],
  )
}

/** The parts of a snapshot in their order. */
export async function* snapshotParts(queries: Queries, id: string): AsyncGenerator<Uint8Array> {
  for (let place = 0; ; place++) {
    const part = await queries.get<{ body: Uint8Array }>(
      'select body from cairn_snapshot_parts where snapshot = $1 and place = $2',
      ...[id, place],
    )
    if (part === null) return
    yield part.body
  }
}

/** Deletes snapshots, and what is left of some that were never whole. */
export async function dropSnapshots(queries: Queries, ids: readonly string[]): Promise<void> {
  await queries.run(
    `delete from cairn_snapshots where id in (select json_array_elements_text($1::text::json))`,
    JSON.stringify(ids),
  )
  await queries.run(
    'delete from cairn_snapshot_parts where snapshot not in (select id from cairn_snapshots)',
  )
}
