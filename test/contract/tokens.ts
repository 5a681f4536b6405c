import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'

/** Session tokens besides those that `cairn token issue` makes. Each one is different in one thing. */

export const providerSecret = 'a secret of at least thirty-two bytes, shared with the provider'

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

const signed = (claims: JWTPayload, secret: Uint8Array, alg = 'HS256', more: object = {}) =>
  new SignJWT(claims).setProtectedHeader({ alg, ...more }).sign(secret)

/**
 * Tokens of the embedded issuer.
 *
 * @param secret what `session.key` holds
 */
export async function tokensOfAcme(secret: Uint8Array, organisationId: string) {
  const good = { org: organisationId, iss: 'cairn', aud: 'cairn', exp: inSeconds(3_600) }
  const token = (claims: JWTPayload) => signed(claims, secret)
  return {
    'slug token': await token({ ...good, org: 'acme' }),
    'expired token': await token({ ...good, exp: inSeconds(-1) }),
    'early token': await token({ ...good, nbf: inSeconds(600) }),
    'endless token': await token({ ...good, exp: undefined }),
    'other audience token': await token({ ...good, aud: 'another' }),
    'other issuer token': await token({ ...good, iss: 'another' }),
    'unknown organisation token': await token({ ...good, org: 'org_unknown' }),
    'no organisation token': await token({ ...good, org: undefined }),
    'forged token': await signed(good, new TextEncoder().encode('x'.repeat(32))),
    'unsigned token': new UnsecuredJWT(good).encode(),
    'access token': await signed(good, secret, 'HS256', { typ: 'at+jwt' }),
    'logout token': await signed(good, secret, 'HS256', { typ: 'logout+jwt' }),
    'millisecond token': await token({ ...good, exp: Date.now() / 1_000 }),
    'HS512 token': await signed(good, Buffer.concat([secret, secret]), 'HS512'),
  }
}

/** Tokens of an identity provider that shares a secret with Cairn. */
export async function tokensOfProvider(organisationId: string) {
  const good = {
    tenant: organisationId,
    iss: 'https://id.example',
    aud: 'cairn-api',
    exp: inSeconds(3_600),
  }
  const token = (claims: JWTPayload) => signed(claims, new TextEncoder().encode(providerSecret))
  return {
    'provided token': await token(good),
    'provided slug token': await token({ ...good, tenant: 'narrow' }),
    'provided expired token': await token({ ...good, exp: inSeconds(-1) }),
    'provided other audience token': await token({ ...good, aud: 'cairn' }),
    'provided other issuer token': await token({ ...good, iss: 'cairn' }),
    'provided other claim token': await token({ ...good, tenant: undefined, org: organisationId }),
  }
}
