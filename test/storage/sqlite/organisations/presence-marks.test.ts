import { expect, test } from 'bun:test'
import { PresenceBoard } from '../../../../src/storage/shared/boards.ts'

test('a limit that is reached again within its minute is not new', () => {
  const board = new PresenceBoard(PresenceBoard.memory(3))
  expect(board.isNewlyLimited(1, 'events', 60_000)).toBe(true)
  expect(board.isNewlyLimited(1, 'events', 119_999)).toBe(false)
  expect(board.isNewlyLimited(1, 'flows', 119_999)).toBe(true)
  expect(board.isNewlyLimited(2, 'events', 119_999)).toBe(true)
  expect(board.isNewlyLimited(1, 'events', 120_000)).toBe(true)
  // These are kept beside the marks, and do not overwrite them.
  expect(board.seen(1, 'old_key_used')).toBeNull()
  expect(board.seen(2, 'key_used')).toBeNull()
})
