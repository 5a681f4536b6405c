import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import {
  judgeUserHash,
  rejectedShare,
  rejectsMany,
  userHashOf,
  type VerifiedIdentity,
} from '../../../src/core/organisation/verified-identity.ts'

const now = 1_790_000_000_000
const secret = 'the current one'
const old = 'the one before'
const identity: VerifiedIdentity = {
  isEnforced: true,
  secrets: [
    { secret, endsAt: null },
    { secret: old, endsAt: now + 1 },
  ],
}
const judge = (userId: string, sent: string | null | undefined, at = now) =>
  judgeUserHash(identity, userId, sent, at)

/** The hash as a customer's back end makes it. */
const hmac = (key: string, userId: string) =>
  createHmac('sha256', key).update(userId, 'utf8').digest('hex')

test('a hash is the HMAC that every language computes, whatever is in the user id', () => {
  // RFC 4231, test case 2.
  expect(userHashOf('Jefe', 'what do ya want for nothing?')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ minLength: 1 }), (userId, key) => {
      expect(userHashOf(key, userId)).toBe(hmac(key, userId))
    }),
  )
})

test('only the right hash is valid', () => {
  const id = fc.string({ minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(id, id, fc.stringMatching(/^[0-9a-f]{64}$/), (userId, other, anything) => {
      expect(judge(userId, hmac(secret, userId))).toBe('valid')
      expect(judge(userId, hmac(secret, other))).toBe(userId === other ? 'valid' : 'invalid')
      expect(judge(userId, anything)).toBe('invalid')
    }),
  )
})

describe('wrong and missing', () => {
  const right = hmac(secret, 'ann')

  test.each([
    ['in capitals', right.toUpperCase(), 'invalid'],
    ['cut off', right.slice(0, 63), 'invalid'],
    ['with something behind', `${right}0`, 'invalid'],
    ['with another end', `${right.slice(0, 63)}${right.endsWith('0') ? '1' : '0'}`, 'invalid'],
    ['in characters that only look so', `${right.slice(0, 63)}\u0430`, 'invalid'],
    ['of a secret that nobody has', hmac('another', 'ann'), 'invalid'],
    ['empty', '', 'missing'],
    ['null', null, 'missing'],
    ['absent', undefined, 'missing'],
  ] as const)('%s', (_, sent, verdict) => {
    expect(judge('ann', sent)).toBe(verdict)
  })
})

test('the secret from before a rotation is counted separately, and only until it expires', () => {
  expect(judge('ann', hmac(old, 'ann'))).toBe('outdated')
  expect(judge('ann', hmac(old, 'ann'), now + 1)).toBe('invalid')
  expect(judge('ann', hmac(secret, 'ann'), now + 1)).toBe('valid')
})

test('many rejections are at least ten, and a twentieth of all', () => {
  const counts = (invalid: number, missing: number, valid: number) => ({
    valid,
    outdated: 0,
    invalid,
    missing,
  })
  expect(rejectedShare(counts(1, 2, 3))).toEqual({ rejected: 3, all: 6 })
  expect(rejectsMany(counts(5, 4, 0))).toBe(false)
  expect(rejectsMany(counts(5, 5, 0))).toBe(true)
  expect(rejectsMany(counts(10, 0, 190))).toBe(true)
  expect(rejectsMany(counts(10, 0, 191))).toBe(false)
})
