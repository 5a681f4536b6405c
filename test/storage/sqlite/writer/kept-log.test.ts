import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newSharedMemory } from '../../../../src/storage/shared/boards.ts'
import { prepareDatabase } from '../../../../src/storage/sqlite/database/prepare.ts'
import { Storage } from '../../../../src/storage/sqlite/storage.ts'
import { defaultWriterPolicy } from '../../../../src/storage/sqlite/writer/writer.ts'
import { HandClock } from '../../../support/hand-clock.ts'

test('a log that another program writes back is left to it, however often storage looks', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'cairn-kept-log-'))
  prepareDatabase(dataDir, 0).close()
  const storage = new Storage({
    dataDir,
    shared: newSharedMemory(),
    clock: new HandClock(),
    bufferBounds: { events: 100, bytes: 1_000_000 },
    policy: defaultWriterPolicy,
    retention: { days: 90 },
    isLogKept: true,
  })
  const { database } = storage
  database.run('create table filler (bytes blob)')
  // More pages than a log has if no other program keeps it.
  database.run('insert into filler values (zeroblob(3000 * 4096))')
  storage.log.look()
  const log = database
    .query<{ log: number; checkpointed: number }, []>('pragma wal_checkpoint(noop)')
    .get()
  expect(log?.log).toBeGreaterThan(3_000)
  expect(log?.checkpointed).toBe(0)
  await storage.close()
  rmSync(dataDir, { recursive: true })
})
