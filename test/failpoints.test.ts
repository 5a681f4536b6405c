import { afterEach, expect, test } from 'bun:test'
import { ConfigError } from '../src/config/read-config.ts'
import { armFailpoints, failing, failpoint } from '../src/failpoints.ts'

afterEach(() => armFailpoints())

const passBeforeCommit = () => failpoint('before_commit')

test('a point that is not armed does nothing', () => {
  expect(passBeforeCommit).not.toThrow()
  armFailpoints('http_request=error')
  expect(passBeforeCommit).not.toThrow()
})

test('what is decorated is itself where nothing is armed, and fails first where its point is', () => {
  const work = (n: number) => n + 1
  expect(failing('before_commit', work)).toBe(work)
  armFailpoints('before_commit=error*1')
  const decorated = failing('before_commit', work)
  expect(() => decorated(1)).toThrow('Failpoint before_commit')
  expect(decorated(1)).toBe(2)
})

test('a delay holds the thread up for as long as it says', () => {
  let turned = false
  setTimeout(() => {
    turned = true
  }, 1)
  const startedAt = performance.now()
  armFailpoints('before_commit=delay:20')
  passBeforeCommit()
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19)
  // Nothing else of this thread ran meanwhile, as nothing does while a disk syncs.
  expect(turned).toBe(false)
})

test('work that stalls is never done, and the thread goes on', () => {
  let done = 0
  armFailpoints('before_sync=stall@2*1')
  const decorated = failing('before_sync', () => done++)
  for (let pass = 1; pass <= 3; pass++) decorated()
  expect(done).toBe(2)
})

test('a full disk is reported as SQLite reports it', () => {
  armFailpoints('before_commit=full')
  expect(passBeforeCommit).toThrow(expect.objectContaining({ code: 'SQLITE_FULL' }))
})

test.each([
  ['error', 'xxxx'],
  ['error@3', '..xx'],
  ['error*2', 'xx..'],
  ['error@2*2', '.xx.'],
])('%s fails at the passes %s', (action, expected) => {
  armFailpoints(`before_commit=${action}`)
  const passes = Array.from({ length: 4 }, () => {
    try {
      passBeforeCommit()
      return '.'
    } catch {
      return 'x'
    }
  })
  expect(passes.join('')).toBe(expected)
})

test.each([
  ...['nowhere=exit', 'before_commit', 'before_commit=explode', 'before_commit=delay'],
  'before_commit=stall',
])('what arms nothing is refused, with what could be meant: %s', variable => {
  expect(() => armFailpoints(variable)).toThrow(ConfigError)
  expect(() => armFailpoints(variable)).toThrow(/before_commit.*delay:<milliseconds>/)
})
