import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SnapshotGuard } from '../../../../src/storage/sqlite/backup/snapshot-guard.ts'
import { openForWriting } from '../../../../src/storage/sqlite/database/database.ts'

let folder: string
let database: Database
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cairn-backup-'))
  database = openForWriting(folder)
  database.run('pragma wal_autocheckpoint = 0')
  database.run('create table t (a)')
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

const commit = () => database.run('insert into t values (randomblob(10000))')

/** Writes back what it may. Returns how many frames the log has, and how many of them are written back. */
function checkpoint(): { frames: number; back: number } {
  const row = database.query('pragma wal_checkpoint(passive)').values()[0] as number[]
  return { frames: row[1]!, back: row[2]! }
}

test('what is committed after the snapshot is not written back until the guard moves on', () => {
  commit()
  const guard = new SnapshotGuard(folder)
  const before = checkpoint()
  expect(before.back).toBe(before.frames)
  commit()
  expect(checkpoint().back).toBe(before.frames)
  guard.moveOn()
  const after = checkpoint()
  expect(after.frames).toBeGreaterThan(before.frames)
  expect(after.back).toBe(after.frames)
  guard.close()
})

test('the log does not begin again under the guard once the log was in use', () => {
  const guard = new SnapshotGuard(folder)
  let frames = 0
  for (let i = 0; i < 20; i++) {
    commit()
    guard.moveOn()
    const now = checkpoint()
    expect(now.frames).toBeGreaterThan(frames)
    frames = now.frames
    // With nothing new the snapshot stays, because the next would be of a log that is fully written back.
    guard.moveOn()
  }
  guard.close()
  checkpoint()
  commit()
  expect(checkpoint().frames).toBeLessThan(frames)
})
