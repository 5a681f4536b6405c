import { expect, test } from 'bun:test'
import { armedFailpoints, failAt } from '../../src/server/failpoints.ts'

const blockedMs = (armed: string | undefined) => {
  const startedAt = performance.now()
  failAt(armedFailpoints(armed), 'before_commit')
  return performance.now() - startedAt
}

test('a delay holds the thread up for as long as it says', () => {
  let turned = false
  setTimeout(() => {
    turned = true
  }, 1)
  expect(blockedMs('before_commit=delay:20')).toBeGreaterThanOrEqual(19)
  // Nothing else of this thread ran meanwhile, as nothing does while a disk syncs.
  expect(turned).toBe(false)
})

test('a failpoint acts at its own place alone', () => {
  expect(blockedMs('http_request=delay:2000')).toBeLessThan(1_000)
  expect(blockedMs(undefined)).toBeLessThan(1_000)
  const both = armedFailpoints('http_request=delay:1,before_commit=error')
  expect(() => failAt(both, 'before_commit')).toThrow('before_commit')
  failAt(both, 'http_request')
})

test('a full disk is told as SQLite tells it', () => {
  const full = () => failAt(armedFailpoints('before_commit=full'), 'before_commit')
  expect(full).toThrow(expect.objectContaining({ code: 'SQLITE_FULL' }))
})
