import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parametersOf } from '../../src/http/query.ts'

/** What a query is made of where it is odd: separators, escapes whole and broken, other scripts. */
const part = fc.constantFrom(
  'a',
  'b',
  'key',
  '=',
  '&',
  '%',
  '%2',
  '%26',
  '%3d',
  '%C3%A9',
  '%ff',
  '+',
  'é',
  '😀',
  '/',
)

const requestWith = (url: string) => ({ url }) as Request

test('a query is read as the URL standard has it, whatever stands in it', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), parts => {
      const query = parts.join('')
      const read = parametersOf(requestWith(`http://cairn.test/api/v1/heartbeat?${query}`))
      expect(read).toEqual([...new URLSearchParams(query)])
    }),
    { numRuns: 2_000 },
  )
})

test('an address without a query has no parameters', () => {
  expect(parametersOf(requestWith('http://cairn.test/api/v1/heartbeat'))).toEqual([])
  expect(parametersOf(requestWith('http://cairn.test/api/v1/heartbeat?'))).toEqual([])
})
