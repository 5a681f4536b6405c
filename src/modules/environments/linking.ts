import { AppError, invalid } from '../../core/errors.ts'
import { isManagementToken, managementTokenHash } from '../../core/organisation/access.ts'
import type { Auditor } from '../../core/organisation/audit.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import {
  type AuditOfBoth,
  type EnvironmentStore,
  type LinkProblem,
  maxStaging,
} from '../../storage/interfaces/environments.ts'
import type { GateStores, KnownTokens } from '../../storage/interfaces/gate.ts'

export interface Linking {
  environments: EnvironmentStore
  stores: Pick<GateStores, 'catalogue'>
  managementTokens: Pick<KnownTokens, 'find'>
}

const linkProblems: Readonly<Record<LinkProblem, string>> = {
  itself: 'An organisation cannot be staging for itself',
  linked: 'That organisation is already staging for another one. Unlink it first',
  'is staging': 'This organisation is itself staging for another one',
  'has staging': 'That organisation has staging organisations of its own',
  'too many': `An organisation can have at most ${maxStaging} staging organisations`,
}

export const cannotLink = (problem: LinkProblem) =>
  new AppError('cannot_link', linkProblems[problem])

/** The same error if the organisation does not exist and if it is not linked, so that nobody learns of others. */
const notLinked = () =>
  new AppError('organisation_not_found', 'No organisation of that name is linked to this one')

/** @throws AppError `organisation_not_found` */
export function organisationNamed({ stores }: Linking, idOrSlug: string): Organisation {
  const found = stores.catalogue().organisationByName(idOrSlug)
  if (!found) throw notLinked()
  return found
}

/** The organisation of a token that may change its settings. @throws AppError `validation_failed` */
export async function organisationOf(
  { managementTokens, stores }: Linking,
  token: string,
  now: number,
): Promise<Organisation> {
  const found = isManagementToken(token)
    ? await managementTokens.find(managementTokenHash(token))
    : null
  const isValid =
    found !== null &&
    found.revokedAt === null &&
    found.expiresAt > now &&
    found.scopes.includes('settings:write')
  const organisation = isValid ? stores.catalogue().organisationByName(found.organisation) : null
  if (organisation) return organisation
  const message = 'Must be a valid management token with the scope settings:write'
  throw invalid({ path: '/token', message })
}

/** @throws AppError `cannot_link` */
export async function link(
  { environments }: Linking,
  production: Organisation,
  staging: Organisation,
  audit: Auditor,
): Promise<void> {
  const entries: AuditOfBoth = {
    production: audit('organisation.link', production.id, { after: { staging: staging.slug } }),
    staging: audit('organisation.link', staging.id, { after: { production: production.slug } }),
  }
  const pair = { production: production.ref, staging: staging.ref }
  const problem = await environments.link(pair, entries.production.at, entries)
  if (problem) throw cannotLink(problem)
}

/** Ends a link, from either side. @throws AppError `organisation_not_found` */
export async function unlink(
  linking: Linking,
  own: Organisation,
  idOrSlug: string,
  audit: Auditor,
): Promise<void> {
  const links = await linking.environments.links(own.ref)
  const linked = [...(links.production ? [links.production] : []), ...links.staging]
  const found = linked.find(({ id, slug }) => id === idOrSlug || slug === idOrSlug)
  if (!found) throw notLinked()
  const other = organisationNamed(linking, found.id)
  const isProduction = found !== links.production
  const [production, staging] = isProduction ? [own, other] : [other, own]
  const isUnlinked = await linking.environments.unlink(
    { production: production.ref, staging: staging.ref },
    {
      production: audit('organisation.unlink', production.id, {
        before: { staging: staging.slug },
      }),
      staging: audit('organisation.unlink', staging.id, {
        before: { production: production.slug },
      }),
    },
  )
  if (!isUnlinked) throw notLinked()
}

/** An organisation that is staging for this one. @throws AppError `organisation_not_found` */
export async function stagingOf(linking: Linking, { ref }: Organisation, idOrSlug: string) {
  const { staging } = await linking.environments.links(ref)
  const found = staging.find(({ id, slug }) => id === idOrSlug || slug === idOrSlug)
  if (!found) throw notLinked()
  return { ...organisationNamed(linking, found.id), linkedAt: found.linkedAt }
}
