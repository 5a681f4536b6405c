import { createHmac } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { unauthorized } from '../core/errors.ts'
import type { Clock } from '../core/time/clock.ts'
import { tokenRejection } from './session-tokens.ts'

/** These tokens always carry exactly this header. */
const header = { alg: 'HS256', typ: 'cairn-dashboard+jwt' } as const
/** The start of every such token. It distinguishes them from all other tokens before anything is verified. */
export const dashboardTokenPrefix = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.`
const name = 'cairn-dashboard'

const lifetimeSeconds = 5 * 60
/** The server's own tokens have about 300 characters. */
const maxLength = 1_024

/** The claims of a dashboard token, which is valid only with the cookie that it names. */
export interface DashboardClaims {
  /** SHA-256 of the cookie. */
  sha256: string
  /** `org_…`. */
  organisation: string
}

/**
 * The tokens with which the dashboard's pages call the API: short-lived, and bound to the cookie of a
 * session. Their key is derived from the server's for this purpose alone, so that no other token passes for
 * one of these.
 */
export class DashboardTokens {
  private derivedKey: Uint8Array | null = null

  /** @param serverKey called when a token is first made or verified */
  constructor(
    private readonly serverKey: () => Uint8Array,
    private readonly clock: Clock,
  ) {}

  private get key(): Uint8Array {
    this.derivedKey ??= keyFor(this.serverKey(), 'dashboard token')
    return this.derivedKey
  }

  /** @param endsAt when the session ends, Unix milliseconds; no token outlives it */
  async issue(
    { sha256, organisation, role }: DashboardClaims & { role: string },
    endsAt: number,
  ): Promise<{ token: string; expiresAt: number }> {
    const seconds = Math.floor(this.clock.now() / 1000)
    const exp = Math.min(seconds + lifetimeSeconds, Math.floor(endsAt / 1000))
    const token = await new SignJWT({ org: organisation, role, cookie: sha256 })
      .setProtectedHeader(header)
      .setIssuer(name)
      .setAudience(name)
      .setIssuedAt(seconds)
      .setExpirationTime(exp)
      .sign(this.key)
    return { token, expiresAt: exp * 1000 }
  }

  /** @throws AppError `unauthorized` */
  async verify(token: string): Promise<DashboardClaims> {
    if (token.length > maxLength) throw unauthorized('token_too_long')
    const { payload } = await jwtVerify(token, this.key, {
      algorithms: [header.alg],
      issuer: name,
      audience: name,
      requiredClaims: ['exp'],
      currentDate: new Date(this.clock.now()),
    }).catch(problem => {
      throw tokenRejection(problem)
    })
    const { org, cookie, exp = 0 } = payload
    // Compared in milliseconds, because jose compares whole seconds.
    if (exp * 1000 <= this.clock.now()) throw unauthorized('token_expired')
    return { sha256: String(cookie), organisation: String(org) }
  }
}

/** Derives a key for one purpose. It reveals neither the server's key nor the key of another purpose. */
export const keyFor = (serverKey: Uint8Array, purpose: string): Uint8Array =>
  new Uint8Array(createHmac('sha256', serverKey).update(`cairn ${purpose}`).digest())
