import { describe, expect, test } from 'bun:test'
import { type TSchema, Type } from '@sinclair/typebox'
import { Maybe, PersonFields, Time } from '../../src/core/shapes.ts'
import { parametersOf, shapeOf } from '../../src/http/input.ts'
import { queryOf } from '../../src/http/request-context.ts'

const said = (schema: TSchema, value: unknown) =>
  shapeOf(schema)
    .problemsIn(value)
    .map(({ path, message }) => `${path} ${message}`)

const word = Type.Union([Type.Literal('tour'), Type.Literal('checklist')])

describe('a problem says what is allowed', () => {
  test.each<[string, TSchema, unknown, string]>([
    ['a word', word, 'x', 'Must be one of tour, checklist'],
    ['a word that may be absent', Maybe(word), 'x', 'Must be one of tour, checklist'],
    ['a single word', Type.Literal('1'), 'x', 'Must be 1'],
    ['an object', Type.Object({}), [], 'Must be an object'],
    ['an array', Type.Array(word), {}, 'Must be an array'],
    ['a short array', Type.Array(word, { minItems: 1 }), [], 'Must have at least 1 element'],
    [
      'a long array',
      Type.Array(Type.Any(), { maxItems: 2 }),
      [1, 2, 3],
      'Must have at most 2 elements',
    ],
    ['a truth value', Type.Boolean(), 'true', 'Must be true or false'],
    ['a whole number', Type.Integer(), 1.5, 'Must be a whole number'],
    ['a number', Type.Number(), '1', 'Must be a number'],
    ['a small number', Type.Integer({ minimum: 1 }), 0, 'Must be at least 1'],
    ['a large number', Type.Number({ maximum: 9 }), 10, 'Must be at most 9'],
    ['a text', Type.String(), 1, 'Must be a text'],
    ['a short text', Type.String({ minLength: 1 }), '', 'Must have at least 1 character'],
    ['a long text', Maybe(Type.String({ maxLength: 2 })), 'abc', 'Must have at most 2 characters'],
    ['a pattern', Type.String({ pattern: '^a$', mustBe: 'an a' }), 'b', 'Must be an a'],
    ['a time', Maybe(Time), [], 'Must be an RFC 3339 time or epoch milliseconds'],
    [
      'two kinds',
      Type.Union([Type.String(), Type.Boolean()]),
      1,
      'Must be a text or true or false',
    ],
  ])('of %s', (_, schema, value, message) => {
    expect(said(schema, value)).toEqual([` ${message}`])
  })

  test('of a field that is not there', () => {
    expect(said(Type.Object({ outcome: word }), {})).toEqual(['/outcome Is required'])
  })
})

describe('a problem says where', () => {
  test('by a JSON pointer (RFC 6901), escapes included', () => {
    const schema = Type.Object({ 'a/b~c': Type.Array(Type.Object({ '': Type.Integer() })) })
    expect(said(schema, { 'a/b~c': [{ '': 1 }, { '': 'x' }] })).toEqual([
      '/a~1b~0c/1/ Must be a whole number',
    ])
  })

  test('within an optional object, by the field that is wrong', () => {
    const schema = Type.Object({ inner: Maybe(Type.Object({ n: Maybe(Type.Integer()) })) })
    expect(said(schema, { inner: { n: 'x' } })).toEqual(['/inner/n Must be a whole number'])
    expect(said(schema, { inner: 'x' })).toEqual(['/inner Must be an object'])
  })

  test('each place once, and at most 20 of them', () => {
    const schema = Type.Array(Type.String({ minLength: 2, pattern: '^a+$' }))
    expect(said(schema, Array(3).fill('b'))).toHaveLength(3)
    expect(said(schema, Array(100).fill('b'))).toHaveLength(20)
  })
})

test('unknown fields are let through, so that a newer client can send more', () => {
  expect(said(Type.Object(PersonFields), { userId: 'u', newer: { a: 1 } })).toEqual([])
  expect(said(Type.Object({ inner: Maybe(Type.Object({})) }), { inner: { newer: 1 } })).toEqual([])
})

test('null is the same as absent where a field may be absent', () => {
  expect(said(Type.Object(PersonFields), { userId: null, anonymousId: null })).toEqual([])
})

test.each([
  ...[
    '',
    'v',
    'v=',
    '=v',
    '=',
    '&',
    '&&v=1&',
    'v=1&v=2',
    'v=1=2',
    'v=%20',
    'v=a+b',
    '%76=1',
    'v=%zz',
    '?v=1',
  ],
  ...['v=é', 'v=1#w', 'v=1;w=2', 'a=1&b=%C3%A9&c=3'],
])('a query is read as browsers write it: %p', query => {
  const read = parametersOf(new Request(`http://host/?${query}`))
  expect(read).toEqual([...new URLSearchParams(queryOf(new Request(`http://host/?${query}`)))])
})
