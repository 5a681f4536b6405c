import { createHmac } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { unauthorized } from '../core/errors.ts'
import type { Clock } from '../core/time/clock.ts'
import { tokenRefusal } from './session-tokens.ts'

/** Written in one way alone. */
const header = { alg: 'HS256', typ: 'cairn-dashboard+jwt' } as const
/** By which these tokens can be told from all others before anything is verified. */
export const dashboardTokenBeginning = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.`
const name = 'cairn-dashboard'

const lifetimeSeconds = 5 * 60
/** Ours have some three hundred characters. */
const longest = 1_024

/** What the dashboard's token says: worth something only beside the cookie that it names. */
export interface DashboardClaims {
  /** SHA-256 of the cookie. */
  sha256: string
  /** `org_…`. */
  organisation: string
}

/**
 * The tokens by which the dashboard's pages ask the API: short, and bound to the cookie of a session. The
 * key is made from that of the server for this purpose alone, so that no other token is one of these.
 */
export class DashboardTokens {
  private known: Uint8Array | null = null

  /** @param serverKey asked for when a token is first made or verified */
  constructor(
    private readonly serverKey: () => Uint8Array,
    private readonly clock: Clock,
  ) {}

  private get key(): Uint8Array {
    this.known ??= keyFor(this.serverKey(), 'dashboard token')
    return this.known
  }

  /** @param endsAt the session's, Unix milliseconds: no token outlives it */
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
    if (token.length > longest) throw unauthorized('token_too_long')
    const { payload } = await jwtVerify(token, this.key, {
      algorithms: [header.alg],
      issuer: name,
      audience: name,
      requiredClaims: ['exp'],
      currentDate: new Date(this.clock.now()),
    }).catch(fault => {
      throw tokenRefusal(fault)
    })
    const { org, cookie, exp = 0 } = payload
    // By the millisecond: jose goes by whole seconds.
    if (exp * 1000 <= this.clock.now()) throw unauthorized('token_expired')
    return { sha256: String(cookie), organisation: String(org) }
  }
}

/** A key for one purpose, from which neither the server's nor that of another can be found. */
export const keyFor = (serverKey: Uint8Array, purpose: string): Uint8Array =>
  new Uint8Array(createHmac('sha256', serverKey).update(`cairn ${purpose}`).digest())
