import { createServer, type IncomingMessage, type Server } from 'node:http'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import type { Configuration } from 'oidc-provider'

/** Silences the provider, which reports its defaults, and that it was not made for Bun, on the console. */
async function quietly<T>(work: () => T | Promise<T>): Promise<T> {
  const { info, warn } = console
  console.info = console.warn = () => {}
  try {
    return await work()
  } finally {
    Object.assign(console, { info, warn })
  }
}

const { default: OidcProvider } = await quietly(() => import('oidc-provider'))

/** A private key of a provider, as a JWK. */
export interface SigningKey extends JWK {
  alg: string
  kid: string
}

export async function signingKey(alg: string, kid: string): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  return { ...(await exportJWK(privateKey)), alg, kid, use: 'sig' }
}

/** Signs claims with a key as a provider would, or with a header of the test's choice. */
export function signedWith(key: SigningKey, claims: JWTPayload, header: object = {}) {
  const { alg, kid } = key
  return new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(key)
}

const client = { id: 'analyst', secret: 'of the analyst' }

/** The client through which people sign in to the dashboard. */
export const dashboardClient = { id: 'dashboard', secret: 'of the dashboard' }

/** Who signs in next, without being asked anything: their claims, and where the provider returns those. */
export interface Person {
  sub: string
  claims?: Record<string, unknown>
  /** Claims that only the userinfo endpoint returns. */
  userinfo?: Record<string, unknown>
  /** Whether they refuse to sign in. */
  isUnwilling?: boolean
}

/** Audience of the tokens that it issues. */
export const audience = 'cairn'

/** To choose Cairn's port in advance, because the provider has to know where Cairn will be. */
export { freePort } from '../../scripts/support/ports.ts'

/** A real OpenID provider on this machine, which issues access tokens as JWTs. */
export class Provider {
  /** Requests for its discovery document and its keys. */
  asked = 0
  person: Person = { sub: 'nobody' }
  /** Where Cairn is, for the client of its dashboard. */
  private dashboardUrl: string | null = null
  private oidc: InstanceType<typeof OidcProvider> | null = null
  private constructor(
    readonly issuer: string,
    private server: Server,
    private answer: (request: IncomingMessage, response: never) => void,
  ) {}

  static async start(keys: SigningKey[]): Promise<Provider> {
    const server = createServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const provider = new Provider(`http://127.0.0.1:${port}`, server, () => {})
    provider.hear(server)
    await provider.use(keys)
    return provider
  }

  /** From the next `use` on, the provider has a client for the dashboard of a server. */
  serveDashboard(url: string): void {
    this.dashboardUrl = url
  }

  private get dashboardClients() {
    const url = this.dashboardUrl
    if (url === null) return []
    return [
      {
        client_id: dashboardClient.id,
        client_secret: dashboardClient.secret,
        redirect_uris: [`${url}/dashboard/sign-in/callback`],
        post_logout_redirect_uris: [`${url}/dashboard/sign-in`],
        backchannel_logout_uri: `${url}/dashboard/sign-in/logout`,
        backchannel_logout_session_required: true,
      },
    ]
  }

  /** From now on the provider has these keys, and signs with the first one of the requested algorithm. */
  async use(keys: SigningKey[]): Promise<void> {
    const configuration: Configuration = {
      jwks: { keys } as NonNullable<Configuration['jwks']>,
      clients: [
        {
          client_id: client.id,
          client_secret: client.secret,
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
          // The default, RS256, would require such a key.
          id_token_signed_response_alg: keys[0]!.alg as 'RS256',
        },
        ...this.dashboardClients.map(one => ({
          ...one,
          id_token_signed_response_alg: keys[0]!.alg as 'RS256',
        })),
      ],
      cookies: { keys: ['a key of the test'] },
      // Puts a person's claims into the ID token, and not only into the answer of the userinfo endpoint.
      conformIdTokenClaims: false,
      claims: { openid: ['sub', 'org', 'cairn_role'], profile: ['name'] },
      findAccount: (_, sub) => ({
        accountId: sub,
        claims: async use => ({
          sub,
          ...this.person.claims,
          ...(use === 'userinfo' && this.person.userinfo),
        }),
      }),
      loadExistingGrant: this.grantOf.bind(this) as never,
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      ttl: {
        ...{ ClientCredentials: 600, AccessToken: 600, IdToken: 600 },
        ...{ Interaction: 600, Grant: 600, Session: 600 },
      },
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: { enabled: true },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          useGrantedResource: () => true,
          // The requested resource names the algorithm and the organisation: `urn:ES256:acme`.
          getResourceServerInfo: (_, resource) => ({
            scope: '',
            audience,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: resource.split(':')[1] as 'RS256' } },
          }),
        },
      },
      extraTokenClaims: (_, token) => {
        const { resourceServer } = token as { resourceServer?: { identifier(): string } }
        return resourceServer && { org: resourceServer.identifier().split(':')[2] }
      },
    }
    const provider = await quietly(() => new OidcProvider(this.issuer, configuration))
    this.oidc = provider
    const callback = provider.callback() as typeof this.answer
    this.answer = (request, response) =>
      request.url?.startsWith('/interaction/')
        ? void this.interact(request, response)
        : callback(request, response)
  }

  /** Grants the dashboard access without asking anybody. */
  private async grantOf(context: {
    oidc: { client: { clientId: string }; session: { accountId: string } }
  }) {
    const { clientId } = context.oidc.client
    const grant = new this.oidc!.Grant({ clientId, accountId: context.oidc.session.accountId })
    grant.addOIDCScope('openid profile')
    await grant.save()
    return grant
  }

  private async interact(request: IncomingMessage, response: never): Promise<void> {
    const { sub, isUnwilling } = this.person
    const result = isUnwilling ? { error: 'access_denied' } : { login: { accountId: sub } }
    await this.oidc!.interactionFinished(request, response, result)
  }

  /** A token that the provider itself issues for an organisation. */
  async token(organisation: string, alg = 'RS256'): Promise<string> {
    const response = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${client.id}:${encodeURIComponent(client.secret)}`)}`,
      },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        resource: `urn:${alg}:${organisation}`,
      }),
    })
    const { access_token: token } = (await response.json()) as { access_token?: string }
    if (!token) throw new Error(`The provider answered ${response.status}`)
    return token
  }

  /** Stops listening, and closes all connections. */
  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise(resolve => this.server.close(resolve))
  }

  /** Listens again on the same port. */
  async resume(): Promise<void> {
    const server = createServer()
    await new Promise<void>(resolve =>
      server.listen(Number(new URL(this.issuer).port), '127.0.0.1', resolve),
    )
    this.hear(server)
    this.server = server
  }

  private hear(server: Server): void {
    server.on('request', (request, response) => {
      if (request.method === 'GET') this.asked++
      this.answer(request, response as never)
    })
  }
}
