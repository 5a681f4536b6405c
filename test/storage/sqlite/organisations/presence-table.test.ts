import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { migrate } from '../../../../src/storage/sqlite/database/migrate.ts'
import { PresenceTable } from '../../../../src/storage/sqlite/organisations/presence-table.ts'

function newTable() {
  const database = new Database(':memory:', { strict: true })
  migrate(database)
  const marks = new PresenceTable(database)
  const stored = () =>
    database
      .query(
        'select key_used_first as firstAt, key_used_last as lastAt from presence where org_id = 1',
      )
      .get()
  return { marks, stored }
}

test('a limit that is reached again within its minute is not new', () => {
  const { marks } = newTable()
  expect(marks.isNewlyLimited(1, 'events', 60_000)).toBe(true)
  expect(marks.isNewlyLimited(1, 'events', 119_999)).toBe(false)
  expect(marks.isNewlyLimited(1, 'flows', 119_999)).toBe(true)
  expect(marks.isNewlyLimited(2, 'events', 119_999)).toBe(true)
  expect(marks.isNewlyLimited(1, 'events', 120_000)).toBe(true)
  // These are kept beside the marks, and do not overwrite them.
  expect(marks.seen(1, 'old_key_used')).toBeNull()
  expect(marks.seen(2, 'key_used')).toBeNull()
})

test('what was seen is news until it is written, and again once it was seen later', () => {
  const { marks, stored } = newTable()
  marks.mark(1, 'key_used', 5_900)
  marks.mark(1, 'key_used', 6_100)
  const written = marks.write()
  expect(stored()).toEqual({ firstAt: 5_000, lastAt: 6_000 })
  marks.mark(1, 'key_used', 9_000)
  written()
  expect(marks.hasNews).toBe(true)
  marks.write()()
  expect(stored()).toEqual({ firstAt: 5_000, lastAt: 9_000 })
  marks.mark(1, 'key_used', 9_500)
  expect(marks.hasNews).toBe(false)
})
