import { expect, test } from 'bun:test'
import { PresenceBoard } from '../../../../src/storage/shared/boards.ts'

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
