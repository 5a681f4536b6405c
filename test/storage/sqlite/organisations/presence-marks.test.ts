import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { PresenceBoard } from '../../../../src/storage/shared/boards.ts'
import { PresenceReader } from '../../../../src/storage/shared/presence-reader.ts'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import { PresenceTable } from '../../../../src/storage/sqlite/organisations/presence-table.ts'
import { firstRelease } from '../../../support/first-release.ts'

const board = () => new PresenceBoard(PresenceBoard.memory(2))

test('a database of the first release gains the mark of old keys, and keeps what it knew', async () => {
  const database = new Database(':memory:', { strict: true })
  firstRelease(database)
  database.run('insert into presence (org_id, heartbeat_first, heartbeat_last) values (1, 5, 6)')
  migrate(database, 0)

  const marks = board()
  marks.mark(1, 'old_key_used', 7_000)
  new PresenceTable(database, marks).write()()
  const { seen } = await new PresenceReader(database, board()).presence(1, 10_000)
  expect(seen.heartbeat).toEqual({ firstAt: 5, lastAt: 6 })
  expect(seen.old_key_used).toEqual({ firstAt: 7_000, lastAt: 7_000 })
})

test('a limit that is reached again within its minute is not new, whichever thread reports it', () => {
  const memory = PresenceBoard.memory(3)
  const [one, other] = [new PresenceBoard(memory), new PresenceBoard(memory)]
  expect(one.isNewlyLimited(1, 'events', 60_000)).toBe(true)
  expect(other.isNewlyLimited(1, 'events', 119_999)).toBe(false)
  expect(other.isNewlyLimited(1, 'flows', 119_999)).toBe(true)
  expect(other.isNewlyLimited(2, 'events', 119_999)).toBe(true)
  expect(one.isNewlyLimited(1, 'events', 120_000)).toBe(true)
  // These are kept beside the marks, and do not overwrite them.
  expect(one.seen(1, 'old_key_used')).toBeNull()
  expect(one.seen(2, 'key_used')).toBeNull()
})
