import { expect, test } from 'bun:test'
import type { Operation } from '../support/described.ts'
import type { Row } from './document.ts'
import { missingRows } from './management-rows.ts'

const schema = { type: 'object', properties: { note: {} } }
const operation = {
  operationId: 'changeFlow',
  parameters: [
    { name: 'key', in: 'path' },
    { name: 'limit', in: 'query' },
    { name: 'If-Match', in: 'header' },
  ],
  requestBody: { description: 'At most 64 KiB.', content: { 'application/json': { schema } } },
  responses: { 404: {} },
  'x-scope': 'flows:write',
} as unknown as Operation

const missing = (rows: readonly Partial<Row>[]) =>
  missingRows(
    operation,
    rows.map(row => ({ caller: 'manager', input: [], body: [], ...row })) as unknown as Row[],
    one => one,
  )

test('a route without rows lacks every kind, and a row of a kind supplies that kind', () => {
  const all = missing([])
  expect(all).toEqual([
    'an answer when all is well',
    ...['nobody', 'mistyped manager', 'unknown manager', 'revoked manager'].map(
      by => `401 to ${by}`,
    ),
    ...['expired manager', '?manager', 'key', 'token'].map(by => `401 to ${by}`),
    ...['a token of another organisation', '429', 'a token without flows:write'],
    ...['wrong JSON', 'no body', 'a body that is no object', 'another type of body'],
    ...['a body that is too large', 'an unknown field', 'a wrong note', 'an unknown parameter'],
    ...['an unknown key', 'a wrong limit', 'no If-Match', 'a stale ETag'],
  ])
  const kinds: [string, Partial<Row>][] = [
    ['an answer when all is well', { status: 200 }],
    ['401 to key', { status: 401, caller: 'key' }],
    ['a token without flows:write', { status: 403, body: ['{code: a, scope: flows:write}'] }],
    ['wrong JSON', { status: 400, input: ['If-Match: *', 'text {'] }],
    ['no body', { status: 400, input: ['If-Match: *'] }],
    ['a body that is too large', { status: 413, input: ['{}', 'padded to 65537'] }],
    ['a wrong note', { status: 422, body: ['/note Must be a text'] }],
    ['a stale ETag', { status: 412, input: ['If-Match: "stale"', '{}'] }],
  ]
  for (const [kind, row] of kinds) {
    expect(all.filter(one => !missing([row]).includes(one))).toEqual([kind])
  }
})
