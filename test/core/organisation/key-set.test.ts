import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { algorithmsOf, isNewTo, publicKeysIn } from '../../../src/core/organisation/key-set.ts'

const rsa = (modulusLength = 2_048) =>
  generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' })
const ec = (namedCurve: string) =>
  generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' })
const ed25519 = generateKeyPairSync('ed25519')

const rsaKey = rsa()
const ecKey = ec('P-256')
const edKey = ed25519.publicKey.export({ format: 'jwk' })

const allowed = (...keys: unknown[]) => publicKeysIn({ keys }).map(algorithmsOf)

describe('the type of a key decides what it may verify', () => {
  test('RSA: RS and PS', () => {
    expect(allowed(rsaKey)).toEqual([['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']])
  })

  test('EC: the algorithm of its curve', () => {
    expect(allowed(ecKey, ec('P-384'), ec('P-521'))).toEqual([['ES256'], ['ES384'], ['ES512']])
  })

  test('Ed25519: by its old name and its new one', () => {
    expect(allowed(edKey)).toEqual([['EdDSA', 'Ed25519']])
  })

  test('and a key that names an algorithm may verify only with that one', () => {
    expect(allowed({ ...rsaKey, alg: 'PS256' }, { ...edKey, alg: 'EdDSA' })).toEqual([
      ['PS256'],
      ['EdDSA'],
    ])
  })
})

describe('a key of a set is skipped', () => {
  const passedOver: [string, unknown][] = [
    ['that is a shared secret', { kty: 'oct', k: 'c2VjcmV0', alg: 'HS256' }],
    ['that is private', ed25519.privateKey.export({ format: 'jwk' })],
    ['for encryption', { ...rsaKey, use: 'enc' }],
    ['for other operations', { ...rsaKey, key_ops: ['encrypt', 'wrapKey'] }],
    ['with operations that are no list', { ...rsaKey, key_ops: 'verify' }],
    ['for an algorithm of encryption', { ...rsaKey, alg: 'RSA-OAEP' }],
    ['for an algorithm of another type', { ...rsaKey, alg: 'ES256' }],
    ['that says HS256 of a public key', { ...rsaKey, alg: 'HS256' }],
    ['that says none', { ...rsaKey, alg: 'none' }],
    ['of 1,024 bits', rsa(1_024)],
    ['of 32,768 bits', { ...rsaKey, n: Buffer.alloc(4_096, 255).toString('base64url') }],
    ['with the exponent 1', { ...rsaKey, e: 'AQ' }],
    ['with an even exponent', { ...rsaKey, e: 'Ag' }],
    ['off its curve', { ...ecKey, y: ecKey.x }],
    ['of an unknown curve', { ...ecKey, crv: 'secp256k1' }],
    ['for agreement', { ...edKey, crv: 'X25519' }],
    ['of an unknown type', { ...ecKey, kty: 'LWE' }],
    ['without a type', { ...ecKey, kty: undefined }],
    ['without its numbers', { kty: 'RSA', kid: 'a' }],
    ['with numbers as numbers', { kty: 'RSA', n: 1, e: 3 }],
    ['with a kid that is no text', { ...ecKey, kid: 1 }],
    ['with an alg that is no text', { ...ecKey, alg: ['ES256'] }],
    ['that is null', null],
    ['that is a text', 'key'],
  ]
  test.each(passedOver)('%s', (_, key) => {
    expect(publicKeysIn({ keys: [key, ecKey] })).toEqual(publicKeysIn({ keys: [ecKey] }))
  })
})

test('a key may have other operations besides verifying', () => {
  expect(allowed({ ...ecKey, use: 'sig', key_ops: ['sign', 'verify'] })).toEqual([['ES256']])
})

test('only public members are kept, whatever stands beside them', () => {
  const [key] = publicKeysIn({
    keys: [{ ...ecKey, kid: 'a', alg: 'ES256', use: 'sig', x5c: ['MII'], __proto__: null }],
  })
  expect(Object.keys(key!).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'x', 'y'])
})

test('a key set that has been read is the same when it is read again', () => {
  const keys = publicKeysIn({ keys: [{ ...rsaKey, kid: 'a' }, ecKey, edKey] })
  expect(publicKeysIn({ keys })).toEqual(keys)
})

test('at most a hundred keys are read', () => {
  const keys = Array.from({ length: 101 }, (_, i) => ({ ...ecKey, kid: String(i) }))
  expect(publicKeysIn({ keys })).toHaveLength(100)
})

test('any JSON is read without an error', () => {
  const odd = fc.oneof(
    fc.json().map(text => JSON.parse(text)),
    fc.dictionary(fc.string(), fc.anything()),
  )
  const type = fc.constantFrom('RSA', 'EC', 'OKP', 'AKP', 'oct')
  const key = fc.tuple(odd, type).map(([members, kty]) => ({ ...(members as object), kty }))
  fc.assert(
    fc.property(
      fc.oneof(
        odd,
        fc.array(key).map(keys => ({ keys })),
      ),
      document => {
        expect(publicKeysIn(document)).toEqual([])
      },
    ),
  )
})

test('a token’s key is new if its id is not known', () => {
  const keys = publicKeysIn({ keys: [{ ...rsaKey, kid: 'r' }, ecKey] })
  expect(isNewTo(keys, { kid: 'x' })).toBe(true)
  expect(isNewTo(keys, { kid: 'r' })).toBe(false)
  expect(isNewTo(keys, {})).toBe(false)
  expect(isNewTo([], {})).toBe(true)
})
