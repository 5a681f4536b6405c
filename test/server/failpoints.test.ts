import { expect, test } from 'bun:test'
import { ConfigError } from '../../src/config.ts'
import { armedFailpoints, type Failpoint, failpoint } from '../../src/server/failpoints.ts'

const pointOf = (variable: string | undefined, name: Failpoint = 'before_commit') =>
  failpoint(armedFailpoints(variable), name)

test('a point that is not armed is nothing to call: off, it costs nothing', () => {
  expect(pointOf(undefined)).toBeUndefined()
  expect(pointOf('http_request=error')).toBeUndefined()
})

test('a delay holds the thread up for as long as it says', () => {
  let turned = false
  setTimeout(() => {
    turned = true
  }, 1)
  const startedAt = performance.now()
  pointOf('before_commit=delay:20')!()
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(19)
  // Nothing else of this thread ran meanwhile, as nothing does while a disk syncs.
  expect(turned).toBe(false)
})

test('several points are armed at once, each with its own action', () => {
  const both = 'http_request=delay:1,before_commit=error'
  expect(pointOf(both)).toThrow('Failpoint before_commit')
  expect(pointOf(both, 'http_request')).not.toThrow()
})

test('a full disk is told as SQLite tells it', () => {
  expect(pointOf('before_commit=full')).toThrow(expect.objectContaining({ code: 'SQLITE_FULL' }))
})

test.each([
  ['error', 'xxxx'],
  ['error@3', '..xx'],
  ['error*2', 'xx..'],
  ['error@2*2', '.xx.'],
])('%s fails at the passes %s', (action, expected) => {
  const pass = pointOf(`before_commit=${action}`)!
  const passes = Array.from({ length: 4 }, () => {
    try {
      pass()
      return '.'
    } catch {
      return 'x'
    }
  })
  expect(passes.join('')).toBe(expected)
})

test.each(['nowhere=exit', 'before_commit', 'before_commit=explode', 'before_commit=delay'])(
  'what arms nothing is refused, with what could be meant: %s',
  variable => {
    expect(() => armedFailpoints(variable)).toThrow(ConfigError)
    expect(() => armedFailpoints(variable)).toThrow(/before_commit.*delay:<milliseconds>/)
  },
)
