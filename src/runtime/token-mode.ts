import type { Config } from '../config/settings.ts'

/** How session tokens are checked. It is written to `server.json`, so it holds no secret. */
export interface TokenMode {
  /** Cairn with its own key, whoever shares the HS256 secret, or an identity provider with its keys. */
  signer: 'own' | 'secret' | 'provider'
  issuer: string | null
  audience: string | null
  type: string | null
  organisationClaim: string
}

export type TokenSettings = Pick<
  Config,
  'sessionSecret' | 'sessionIssuer' | 'sessionAudience' | 'sessionType' | 'organisationClaim'
>

/** Issuer and audience of the tokens that Cairn makes for itself. */
const ownName = 'cairn'

export function tokenModeOf(config: TokenSettings): TokenMode {
  const { sessionIssuer: issuer, sessionAudience: audience, organisationClaim } = config
  const rules = { issuer, audience, type: config.sessionType, organisationClaim }
  if (config.sessionSecret !== null) return { signer: 'secret', ...rules }
  if (issuer !== null) return { signer: 'provider', ...rules }
  return { signer: 'own', ...rules, issuer: ownName, audience: ownName }
}

/**
 * Says that a running server refuses the tokens that these settings mean, and what to do; null if both mean
 * the same, or if the server does not say. Two different secrets look the same.
 */
export function tokenConflict(
  running: TokenMode | undefined,
  config: TokenSettings,
): { what: string; fix: string } | null {
  const ours = tokenModeOf(config)
  if (running === undefined || Bun.deepEquals(running, ours)) return null
  return {
    what: `the running server accepts session tokens ${described(running)}, but these settings are for tokens ${described(ours)}`,
    fix: "run this with the server's settings, or restart the server with these",
  }
}

function described({ signer, issuer, audience, type, organisationClaim }: TokenMode): string {
  const by = {
    own: 'signed by Cairn itself',
    secret: `signed with a shared HS256 secret${issuer === null ? '' : ` by ${issuer}`}`,
    provider: `signed by ${issuer}`,
  }[signer]
  const forWhom = audience === null || signer === 'own' ? '' : ` for the audience "${audience}"`
  const ofType = type === null ? '' : ` of the type "${type}"`
  return `${by}${forWhom}${ofType}, with the organisation in "${organisationClaim}"`
}
