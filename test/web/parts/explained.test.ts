import { expect, test } from 'bun:test'
import { type ErrorCode, errors } from '../../../src/core/errors.ts'
import { explain, explained } from '../../../src/web/dashboard/api/explained.ts'
import { Failure } from '../../../src/web/dashboard/api/failure.ts'

const codes = Object.keys(errors) as ErrorCode[]

test.each(codes)(
  '%s is explained, and the server’s own sentence stays behind the details',
  code => {
    const failure = new Failure(errors[code].status, 'The raw sentence', { code })
    const { title, why } = explain(failure)
    expect(title).not.toBe('')
    expect(why).toEndWith('.')
    expect(explained(failure)).not.toContain('raw')
  },
)

test('a conflict names who saved first', () => {
  const failure = new Failure(412, '', { body: { changedBy: 'Ann' } })
  expect(explained(failure)).toContain('Ann changed this')
})

test('what is wrong with a value is said by its own sentence', () => {
  const details = [{ path: '/name', message: 'Name must have at most 100 characters.' }]
  const failure = new Failure(422, 'Invalid request', { code: 'validation_failed', details })
  expect(explained(failure)).toContain('at most 100 characters')
})
