import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { AppError } from '../../src/core/errors.ts'
import { reasonOf, reasonOfUncaught, shortReasonOf } from '../../src/core/reason.ts'

const secret = 'sEcReT'

const thrownBy = (work: () => unknown): unknown => {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('Nothing was thrown')
}

const quoting: [string, () => unknown][] = [
  ['a call of a text', () => (secret as unknown as () => void)()],
  ['JSON', () => JSON.parse(`{"a": ${secret}}`)],
  ['a time zone', () => new Intl.DateTimeFormat('en', { timeZone: secret })],
  ['an address', () => new URL(secret)],
  ['a thrown text', () => thrown(secret)],
  ['a cause', () => thrown(new Error('Outer', { cause: thrownBy(() => JSON.parse(secret)) }))],
]

function thrown(value: unknown): never {
  throw value
}

test.each(quoting)("a value that the engine's error quotes is not given away: %s", (_, work) => {
  const error = thrownBy(work)
  expect(reasonOf(error)).not.toContain(secret)
  expect(shortReasonOf(error)).not.toContain(secret)
})

test('SQLite’s reasons are given, and contain no value', () => {
  const database = new Database(':memory:', { strict: true })
  database.run('create table t (id text primary key, n integer) strict')
  const insert = database.query('insert into t values (?, ?)')
  insert.run(secret, 1)
  for (const [values, reason] of [
    [[secret, 1], 'UNIQUE constraint failed: t.id'],
    [['b', secret], 'cannot store TEXT value in INTEGER column t.n'],
  ] as const) {
    const told = reasonOf(thrownBy(() => insert.run(...(values as [string, string]))))
    expect(told).toContain(reason)
    expect(told).not.toContain(secret)
  }
})

test('an error is given with its stack, and a rejection with its message alone', () => {
  expect(reasonOf(new Error('Broken'))).toMatch(/^Broken\n\s+at .*reason\.test/)
  expect(reasonOf(new AppError('overloaded', 'Try again'))).toBe('Try again')
  expect(shortReasonOf(new Error('Broken'))).toBe('Broken')
})

test('a reason is bounded', () => {
  expect(reasonOf(new Error('x'.repeat(10_000))).length).toBeLessThanOrEqual(2_000)
})

test('an uncaught error has its type or our message, and its place, but no excerpt or value', () => {
  const report = (title: string) =>
    `1 | const a = '${secret}'\n              ^\n${title}\n code: "${secret}"\n\n      at f (/x.ts:1:2)\n`
  const quoting = `TypeError: "${secret}" is not a function`
  expect(reasonOfUncaught(report(quoting))).toBe('TypeError\n      at f (/x.ts:1:2)')
  expect(reasonOfUncaught(report('error: Broken'))).toBe('error: Broken\n      at f (/x.ts:1:2)')
})
