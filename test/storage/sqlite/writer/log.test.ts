import { expect, test } from 'bun:test'
import { World } from '../../../support/world.ts'

/** More pages than a log has if nobody keeps it from being written back. */
const pages = 2_500

test.each([
  ['that nobody has written back is written back', false],
  ['that another program keeps is left to it', true],
])('a long log %s', async (_, isLogKept) => {
  const world = new World({ isLogKept })
  const { database, snapshots, storage } = world
  const log = () =>
    database.query<{ log: number; checkpointed: number }, []>('pragma wal_checkpoint(noop)').get()!
  // While somebody reads an older snapshot, SQLite itself writes nothing back.
  snapshots.run('begin')
  snapshots.query('select count(*) from organisations').get()
  database.run('create table filler (content blob)')
  database.run(
    `insert into filler with recursive page (number) as
      (select 1 union all select number + 1 from page where number < ${pages})
    select zeroblob(4000) from page`,
  )
  snapshots.run('rollback')
  const before = log()
  expect(before.log - before.checkpointed).toBeGreaterThan(pages)
  await storage.log.look()
  const { checkpointed } = log()
  expect(checkpointed).toBe(isLogKept ? before.checkpointed : before.log)
  await world.close()
})
