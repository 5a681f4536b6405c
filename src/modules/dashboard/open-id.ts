import { jwtVerify } from 'jose'
import * as oauth from 'oauth4webapi'
import { AppError } from '../../core/errors.ts'
import { type Role, roleIn } from '../../core/organisation/access.ts'
import { secureUrl } from '../../core/organisation/addresses.ts'
import { signatureAlgorithms } from '../../core/organisation/key-set.ts'
import { isIdentifier } from '../../core/organisation/sessions.ts'
import { shortReasonOf } from '../../core/reason.ts'
import { shown } from '../../core/text/wording.ts'
import type { Clock } from '../../core/time/clock.ts'
import { minuteMs } from '../../core/time/durations.ts'
import { type KeySource, keyFinder } from '../../http/session-tokens.ts'
import type { SignedOut } from '../../storage/interfaces/dashboard.ts'
import { openTransaction, sealTransaction } from './transaction.ts'

/** The configuration of an OpenID provider, and how it is reached. */
export interface ProviderSettings {
  issuer: string
  clientId: string
  /** Null for a public client. */
  clientSecret: string | null
  roleClaim: string
  organisationClaim: string
  /** The issuer's keys, which are fetched elsewhere. */
  keys: KeySource
  /** Fetches with limits on time and size. */
  fetch(url: string, init: RequestInit): Promise<Response>
}

/** How long the provider's metadata is kept, and how long a failure to fetch it is. */
const metadataMs = 10 * minuteMs
const failureMs = 1_000

/** Strangers can cause requests to the provider, so only this many run at once, each for a few seconds at most. */
const maxUnderWay = 16

/** A logout token older than this, or from the future, is rejected; the tolerance is in seconds. */
const logoutTokenAge = '10 minutes'
const clockTolerance = 30
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

type Claims = Readonly<Record<string, unknown>>

/** A person, according to the identity provider. */
export interface Identity {
  organisation: string
  /** Null if the provider names none. */
  role: Role | null
  name: string
  subject: string
  issuer: string
  sid: string | null
}

/** Why a person could not sign in, as it appears in the page's address. */
const signInProblems = [
  /** The provider does not respond, or its response is not valid. */
  'provider_unavailable',
  /** The sign-in started too long ago or in another browser, or is already finished. */
  'expired',
  /** The provider or the person declined. */
  'refused',
  /** The response does not match the request. */
  'mismatch',
  /** The provider names no organisation, or one that does not exist here. */
  'no_organisation',
  'unknown_organisation',
] as const
export type SignInProblem = (typeof signInProblems)[number]

/** A failed sign-in. The message is for the log and contains no secret. */
export class SignInFailure extends Error {
  override readonly name = 'SignInFailure'

  constructor(
    readonly problem: SignInProblem,
    message: string,
  ) {
    super(message)
  }
}

/**
 * Sign-in with an OpenID provider: the authorization code flow with PKCE, state, nonce and the issuer in
 * the answer (OpenID Connect Core 1.0, section 3.1; RFC 7636; RFC 9207), entirely on the server.
 */
export class OpenIdProvider {
  readonly issuer: string
  private readonly client: oauth.Client
  private readonly redirectUri: string
  private readonly keyOf
  private metadata: { of: Promise<oauth.AuthorizationServer>; until: number } | null = null
  private underWay = 0

  /** @param publicUrl where the provider sends people back to */
  constructor(
    private readonly settings: ProviderSettings,
    private readonly publicUrl: string,
    private readonly serverKey: () => Uint8Array,
    private readonly clock: Clock,
  ) {
    this.issuer = settings.issuer
    this.client = { client_id: settings.clientId }
    this.redirectUri = `${publicUrl}/dashboard/sign-in/callback`
    this.keyOf = keyFinder(settings.keys)
  }

  /** Where to send the browser, and what it keeps until it returns. @throws SignInFailure */
  begin(to: string): Promise<{ location: string; transaction: string }> {
    return this.limited(async () => {
      const { authorization_endpoint: endpoint } = await this.server()
      if (endpoint === undefined) throw down('it has no authorization endpoint')
      this.requireSafe(endpoint)
      const state = oauth.generateRandomState()
      const nonce = oauth.generateRandomNonce()
      const verifier = oauth.generateRandomCodeVerifier()
      const { issuer } = this
      const transaction = await sealTransaction(
        { issuer, state, nonce, verifier, to },
        this.serverKey(),
        this.clock.now(),
      )
      const location = withQuery(endpoint, {
        ...{ client_id: this.client.client_id, redirect_uri: this.redirectUri },
        ...{ response_type: 'code', scope: 'openid profile', state, nonce },
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      return { location, transaction }
    })
  }

  /** Who has come back, and where they wanted to go. @throws SignInFailure */
  finish(query: string, transaction: string | null): Promise<{ identity: Identity; to: string }> {
    return this.limited(async () => {
      const begun =
        transaction === null
          ? null
          : await openTransaction(transaction, this.serverKey(), this.clock.now())
      if (begun === null)
        throw new SignInFailure('expired', 'no sign-in was started in this browser')
      if (begun.issuer !== this.issuer)
        throw new SignInFailure('expired', 'the settings have changed')
      const server = await this.server()
      const sent = new URLSearchParams(query)
      const answer = oauth.validateAuthResponse(server, this.client, sent, begun.state)
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        this.client,
        this.authentication(server),
        answer,
        this.redirectUri,
        begun.verifier,
        this.options,
      )
      const tokens = await oauth.processAuthorizationCodeResponse(server, this.client, response, {
        expectedNonce: begun.nonce,
        requireIdToken: true,
      })
      await this.verify(tokens.id_token!)
      return { identity: await this.identityOf(server, tokens), to: begun.to }
    })
  }

  /** Where to send the browser to sign out at the provider; null if the provider has no such address. */
  async signOutAddress(): Promise<string | null> {
    try {
      const { end_session_endpoint: endpoint } = await this.limited(() => this.server())
      if (endpoint === undefined) return null
      this.requireSafe(endpoint)
      return withQuery(endpoint, {
        client_id: this.client.client_id,
        post_logout_redirect_uri: `${this.publicUrl}/dashboard/sign-in`,
      })
    } catch (error) {
      // They are signed out of Cairn in any case.
      if (error instanceof SignInFailure) return null
      throw error
    }
  }

  /**
   * Whose sessions a logout token ends (OpenID Connect Back-Channel Logout 1.0, section 2.6).
   *
   * @throws if the token is not valid
   */
  async signedOutBy(logoutToken: string): Promise<SignedOut> {
    const { payload, protectedHeader } = await this.verify(logoutToken, {
      requiredClaims: ['iat', 'jti', 'events'],
      maxTokenAge: logoutTokenAge,
      clockTolerance,
    })
    const { events, sub, sid, nonce, iat = 0 } = payload
    const { typ = 'logout+jwt' } = protectedHeader
    const isOne =
      /^(?:application\/)?(?:logout\+jwt|jwt)$/i.test(typ) &&
      isObject(isObject(events) ? events[logoutEvent] : null) &&
      nonce === undefined
    const subject = isIdentifier(sub) ? sub : null
    const session = isIdentifier(sid) ? sid : null
    if (!isOne || (subject === null && session === null)) throw new Error('not a logout token')
    return { issuer: this.issuer, subject, sid: session, begunBy: (iat + clockTolerance) * 1_000 }
  }

  /** Verifies that the provider signed a token for this client, with the same keys as for session tokens. */
  private verify(token: string, more: Parameters<typeof jwtVerify>[2] = {}) {
    return jwtVerify(token, this.keyOf, {
      algorithms: [...signatureAlgorithms],
      issuer: this.issuer,
      audience: this.client.client_id,
      currentDate: new Date(this.clock.now()),
      clockTolerance,
      ...more,
    })
  }

  /** Reads the identity from the ID token. If that names no organisation, asks the provider for more, once. */
  private async identityOf(
    server: oauth.AuthorizationServer,
    tokens: oauth.TokenEndpointResponse,
  ): Promise<Identity> {
    const { organisationClaim, roleClaim } = this.settings
    const claims = oauth.getValidatedIdTokenClaims(tokens)!
    const { sub, sid = null } = claims
    if (!isIdentifier(sub)) throw mismatch('the ID token has no valid "sub"')
    if (sid !== null && !isIdentifier(sid)) throw mismatch('the ID token has no valid "sid"')
    let person: Claims = claims
    if (!isText(person[organisationClaim]) && server.userinfo_endpoint !== undefined) {
      const { access_token: token } = tokens
      const response = await oauth.userInfoRequest(server, this.client, token, this.options)
      person = {
        ...claims,
        ...(await oauth.processUserInfoResponse(server, this.client, sub, response)),
      }
    }
    const organisation = person[organisationClaim]
    if (!isText(organisation)) {
      throw new SignInFailure(
        'no_organisation',
        `the provider sends none in "${organisationClaim}"`,
      )
    }
    const names = [person.name, person.preferred_username, person.email]
    return {
      organisation,
      role: roleIn(person[roleClaim]),
      name: names.find(isText) ?? sub,
      subject: sub,
      issuer: this.issuer,
      sid,
    }
  }

  /**
   * The provider's metadata, which is fetched again from time to time. If that fails, the last known one
   * stays in use.
   */
  private async server(): Promise<oauth.AuthorizationServer> {
    const now = this.clock.monotonic()
    const before = this.metadata
    if (before && now < before.until) return before.of
    const of = this.discover().catch(error => {
      const last = before?.of ?? Promise.reject(error)
      this.metadata = { of: last, until: this.clock.monotonic() + failureMs }
      return last
    })
    this.metadata = { of, until: now + metadataMs }
    return of
  }

  private async discover(): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(this.issuer)
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...this.options })
    const server = await oauth.processDiscoveryResponse(issuer, response)
    if (server.issuer === this.issuer) return server
    throw down(`its document is of the issuer "${shown(server.issuer)}"`)
  }

  private authentication(server: oauth.AuthorizationServer): oauth.ClientAuth {
    const { clientSecret } = this.settings
    if (clientSecret === null) return oauth.None()
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return methods.includes('client_secret_basic')
      ? oauth.ClientSecretBasic(clientSecret)
      : oauth.ClientSecretPost(clientSecret)
  }

  private get options() {
    const { fetch } = this.settings
    return {
      [oauth.customFetch]: (url: string, init: RequestInit) => {
        this.requireSafe(url)
        return fetch(url, init).catch(error => {
          throw down(String((error as { code?: unknown }).code ?? (error as Error).name))
        })
      },
      [oauth.allowInsecureRequests]: this.issuer.startsWith('http:'),
    }
  }

  /** Otherwise a provider on another machine could send people to services on this one. */
  private requireSafe(address: string): void {
    const url = secureUrl(address)
    if (url && (url.protocol === 'https:' || this.issuer.startsWith('http:'))) return
    throw down('it sends an address that is not https')
  }

  /** Turns any error into one that says where the problem is, and limits how many requests run at once. */
  private async limited<T>(work: () => Promise<T>): Promise<T> {
    if (this.underWay >= maxUnderWay) throw down('too many sign-ins at once')
    this.underWay++
    try {
      return await work()
    } catch (error) {
      throw failureOf(error)
    } finally {
      this.underWay--
    }
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const mismatch = (reason: string) => new SignInFailure('mismatch', reason)

const down = (reason: string) => new SignInFailure('provider_unavailable', reason)

function withQuery(endpoint: string, query: Record<string, string>): string {
  const url = new URL(endpoint)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url.href
}

/**
 * Turns what oauth4webapi and jose throw into a word for the person and a sentence for the log, without
 * what was sent. Whatever else comes of what the provider has sent is a mismatch.
 */
function failureOf(error: unknown): unknown {
  if (error instanceof SignInFailure) return error
  if (error instanceof oauth.AuthorizationResponseError) {
    return new SignInFailure('refused', `the provider returned ${shown(error.error)}`)
  }
  if (error instanceof oauth.ResponseBodyError) {
    const message = `the provider returned ${error.status} ${shown(error.error)}`
    return error.error === 'invalid_grant' ? new SignInFailure('refused', message) : down(message)
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    return down(`the provider returned ${error.status}: check the client's id and secret`)
  }
  if (error instanceof AppError) {
    return error.code === 'unauthorized' ? mismatch(String(error.cause)) : error
  }
  const { code, message, syscall } = error as Partial<NodeJS.ErrnoException>
  // Of this server's own files.
  if (syscall !== undefined) return error
  const reason =
    typeof code === 'string' ? `${code}: ${shown(message ?? '', 200)}` : shortReasonOf(error)
  const isInvalidResponse =
    code === oauth.RESPONSE_IS_NOT_CONFORM ||
    code === oauth.RESPONSE_IS_NOT_JSON ||
    code === oauth.PARSE_ERROR
  return isInvalidResponse ? down(reason) : mismatch(reason)
}
