import { expect, test } from 'bun:test'
import { PresenceMarks } from '../../../../src/storage/shared/presence-marks.ts'

test('a limit that is reached again within its minute is not new', () => {
  const marks = new PresenceMarks()
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
  const marks = new PresenceMarks()
  marks.mark(1, 'key_used', 5_900)
  marks.mark(1, 'key_used', 6_100)
  const { seen, written } = marks.takeNews()
  expect(seen).toMatchObject([{ orgRow: 1, mark: 'key_used', firstAt: 5_000, lastAt: 6_000 }])
  marks.mark(1, 'key_used', 9_000)
  written()
  expect(marks.hasNews).toBe(true)
  marks.takeNews().written()
  marks.mark(1, 'key_used', 9_500)
  expect(marks.hasNews).toBe(false)
})
