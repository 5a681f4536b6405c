import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bucketOf, idBytes, weekOf } from '../../../../src/storage/postgres/ledger/event-id.ts'

const week = 604_800_000

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })

const uuidOf = (digits: string) =>
  digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

const version7 = fc
  .tuple(fc.integer({ min: 0, max: 2 ** 48 - 1 }), hex(19))
  .map(([at, rest]) => ({ at, id: uuidOf(`${at.toString(16).padStart(12, '0')}7${rest}`) }))

const anyUuid = hex(32).map(uuidOf)

/** Ids of all forms, and UUIDs in forms that no library writes. */
const anyId = fc.oneof(
  anyUuid,
  version7.map(({ id }) => id),
  anyUuid.map(id => id.toUpperCase()),
  anyUuid.map(id => id.replaceAll('-', '')),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 64 }),
)

describe('the bucket of an event id', () => {
  test('is the week that a UUID of version 7 names', () => {
    fc.assert(
      fc.property(version7, ({ at, id }) => {
        expect(bucketOf(id)).toBe(Math.floor(at / week))
      }),
    )
    const now = Date.now()
    const weeks = [weekOf(now), weekOf(now + 60_000)]
    expect(weeks).toContain(bucketOf(Bun.randomUUIDv7()))
  })

  test('is -1 to -16 for any other UUID, and all of these are in use', () => {
    const buckets = Array.from({ length: 2_000 }, () => bucketOf(crypto.randomUUID()))
    const used = [...new Set(buckets)].sort((a, b) => b - a)
    expect(used).toEqual(Array.from({ length: 16 }, (_, place) => -1 - place))
  })

  test('is -17 for every other text', () => {
    const id = '0199c0de-0000-7000-8000-00000000000a'
    const others = [
      id.toUpperCase(),
      id.replaceAll('-', ''),
      `${id}0`,
      ` ${id}`,
      `${id}\n`,
      '1',
      '',
    ]
    expect(others.map(bucketOf)).toEqual(others.map(() => -17))
  })
})

describe('the bytes of an event id', () => {
  test('distinguish it, together with its bucket, from every other id', () => {
    fc.assert(
      fc.property(anyId, anyId, (one, other) => {
        const stored = (id: string) => `${bucketOf(id)} ${Buffer.from(idBytes(id)).toString('hex')}`
        expect(stored(one) === stored(other)).toBe(one === other)
      }),
    )
  })
})
