import type { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const file = join(import.meta.dir, '../../src/storage/sqlite/migrations/0001-initial.sql')

/** Turns an empty database into what the first release made of it. */
export function firstRelease(database: Database): void {
  const sql = readFileSync(file, 'utf8')
  database.run(
    `create table migrations (
      id integer primary key, name text not null, sha256 text not null, applied_at integer not null
    ) strict`,
  )
  database.run(sql)
  const hash = createHash('sha256').update(sql).digest('hex')
  database.run("insert into migrations values (1, 'initial', ?, 0)", [hash])
}
