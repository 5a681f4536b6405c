import { createServer, type IncomingMessage, type Server } from 'node:http'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import type { Configuration } from 'oidc-provider'

/** It tells about its defaults, and that it was not made for Bun, on the console. */
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

/** Signs claims with a key as a provider would, or with a header of one's own. */
export function signedWith(key: SigningKey, claims: JWTPayload, header: object = {}) {
  const { alg, kid } = key
  return new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(key)
}

const client = { id: 'analyst', secret: 'of the analyst' }

/** Audience of the tokens that it issues. */
export const audience = 'cairn'

/** A real OpenID provider on this machine, which issues access tokens as JWTs. */
export class Provider {
  /** Requests for its discovery document and its keys. */
  asked = 0
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

  /** From now on it has these keys, and signs with the first one of the algorithm asked for. */
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
          // Its usual RS256 would ask for such a key.
          id_token_signed_response_alg: keys[0]!.alg as 'RS256',
        },
      ],
      ttl: { ClientCredentials: 600 },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          useGrantedResource: () => true,
          // The resource that is asked for says how and for whom: `urn:ES256:acme`.
          getResourceServerInfo: (_, resource) => ({
            scope: '',
            audience,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: resource.split(':')[1] as 'RS256' } },
          }),
        },
      },
      extraTokenClaims: (_, token) => {
        const { resourceServer } = token as { resourceServer: { identifier(): string } }
        return { org: resourceServer.identifier().split(':')[2] }
      },
    }
    const provider = await quietly(() => new OidcProvider(this.issuer, configuration))
    this.answer = provider.callback() as typeof this.answer
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

  /** Nothing listens any more. */
  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise(resolve => this.server.close(resolve))
  }

  /** It is back on the same port. */
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
