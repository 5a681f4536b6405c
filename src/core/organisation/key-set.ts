import { createPublicKey } from 'node:crypto'

/** A public key of an identity provider: a JWK (RFC 7517) with only its public members. */
export interface PublicKey {
  readonly kty: string
  readonly kid?: string
  /** The only algorithm that the provider uses it for, if it says so. */
  readonly alg?: string
  readonly crv?: string
  readonly x?: string
  readonly y?: string
  readonly n?: string
  readonly e?: string
}

/** More keys than any provider has at once. Keys after these are ignored. */
const maxKeys = 100

/** Shorter keys can be broken (RFC 7518, section 3.3), and longer ones take long to compute with. */
const rsaBits = { least: 2_048, most: 8_192 }

const ofRsa = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']

const ofCurve: Readonly<Record<string, readonly string[]>> = {
  'EC P-256': ['ES256'],
  'EC P-384': ['ES384'],
  'EC P-521': ['ES512'],
  // RFC 9864 gave it a name of its own.
  'OKP Ed25519': ['EdDSA', 'Ed25519'],
}

/** Every algorithm that a public key can have. Never `none`, and never one with a shared secret. */
export const signatureAlgorithms: readonly string[] = [...ofRsa, ...Object.values(ofCurve).flat()]

/** The algorithms that a key's type allows; only one if the key names it. */
export function algorithmsOf({ kty, crv, alg }: PublicKey): readonly string[] {
  const allowed = kty === 'RSA' ? ofRsa : (ofCurve[`${kty} ${crv}`] ?? [])
  return alg === undefined ? allowed : allowed.filter(name => name === alg)
}

/**
 * The keys of a JWK set (RFC 7517, section 5) with which a signature can be verified. Others are ignored,
 * as the RFC asks: symmetric and private keys, keys for encryption, of unknown types, too short or broken.
 * The list is empty if nothing is usable, or if this is not a JWK set.
 */
export function publicKeysIn(document: unknown): PublicKey[] {
  const { keys } = (document ?? {}) as { keys?: unknown }
  if (!Array.isArray(keys)) return []
  return keys.slice(0, maxKeys).flatMap(key => publicKey(key) ?? [])
}

const isTextOrAbsent = (value: unknown) => value === undefined || typeof value === 'string'

function publicKey(jwk: unknown): PublicKey | null {
  if (jwk === null || typeof jwk !== 'object') return null
  const { kty, kid, alg, use, key_ops: operations, d } = jwk as Record<string, unknown>
  if (typeof kty !== 'string' || !isTextOrAbsent(kid) || !isTextOrAbsent(alg)) return null
  // A published private key no longer proves anything, because anybody can sign with it.
  if (d !== undefined) return null
  if (use !== undefined && use !== 'sig') return null
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) {
    return null
  }
  const members = soundMembers(jwk)
  if (members === null) return null
  const named = { ...(kid === undefined ? {} : { kid }), ...(alg === undefined ? {} : { alg }) }
  const key = { ...members, ...named }
  return algorithmsOf(key).length > 0 ? key : null
}

/** The members that make up the key, if they form a sound one. */
function soundMembers(jwk: object): Omit<PublicKey, 'kid' | 'alg'> | null {
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const { modulusLength: bits, publicExponent: exponent } = key.asymmetricKeyDetails ?? {}
    const isSound =
      key.asymmetricKeyType !== 'rsa' ||
      // With an exponent of one, or an even one, anybody could sign.
      (bits! >= rsaBits.least && bits! <= rsaBits.most && exponent! > 2n && exponent! % 2n === 1n)
    return isSound ? (key.export({ format: 'jwk' }) as PublicKey) : null
  } catch {
    return null
  }
}

/** Whether a token is signed with an unknown key, which the provider may have made since. */
export function isNewTo(
  keys: readonly PublicKey[],
  { kid }: { kid?: string | undefined },
): boolean {
  return kid === undefined ? keys.length === 0 : !keys.some(key => key.kid === kid)
}
