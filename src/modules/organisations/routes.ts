import { summedHours } from '../../core/organisation/verified-identity.ts'
import type { Clock } from '../../core/time/clock.ts'
import { auditOf, management } from '../../http/management.ts'
import { requireScope } from '../../http/principal.ts'
import type { Route } from '../../http/route.ts'
import type { OrganisationStore } from '../../storage/interfaces/organisations.ts'
import {
  CreatedOrganisation,
  IdentityAnswer,
  IdentityQuery,
  KeyList,
  NewOrganisationBody,
  OrganisationList,
  OrganisationQuery,
  RotateBody,
  RotatedKey,
  RotatedSecret,
  Settings,
  SettingsBody,
} from './schema.ts'
import {
  changeSettings,
  createOrganisation,
  listOrganisations,
  maxListed,
  rotateKey,
  rotateSecret,
} from './service.ts'

const operator = management('operator')
const owner = management('settings:write')

/** Routes for the organisations of a server, and for what their owners set. */
export const organisationRoutes = ({
  organisations: store,
  clock,
}: {
  organisations: OrganisationStore
  clock: Clock
}): Route[] => [
  operator.get(
    '/manage/organisations',
    'listOrganisations',
    'List organisations, by slug',
    {
      query: OrganisationQuery,
      returns: OrganisationList,
      response: `At most ${maxListed} organisations.`,
    },
    ({ query }) => listOrganisations(store, query),
  ),
  operator.post(
    '/manage/organisations',
    'createOrganisation',
    'Create an organisation with its snippet key',
    {
      body: NewOrganisationBody,
      returns: CreatedOrganisation,
      errors: ['slug_taken', 'too_many_organisations', 'organisation_not_found', 'cannot_link'],
    },
    async call => {
      const { createdAt, ...created } = await createOrganisation(store, call.body, auditOf(call))
      return created
    },
  ),
  owner.get(
    '/manage/settings',
    'getSettings',
    'Get the settings of the organisation',
    { returns: Settings },
    async ({ org }) => (await store.read(org.ref, clock.now())).organisation,
  ),
  owner.patch(
    '/manage/settings',
    'changeSettings',
    'Change settings, all or nothing',
    {
      description: 'Settings that are left out stay as they are. Only the operator can set limits.',
      body: SettingsBody,
      returns: Settings,
      response: 'The settings after the change.',
    },
    call => {
      if (call.body.limits) requireScope(call.principal!, 'operator')
      return changeSettings(store, call.org, call.body, auditOf(call))
    },
  ),
  owner.get(
    '/manage/keys',
    'listKeys',
    'List the snippet keys that work, the current one first',
    { returns: KeyList },
    async ({ org }) => ({ keys: (await store.read(org.ref, clock.now())).keys }),
  ),
  owner.post(
    '/manage/keys/rotate',
    'rotateKey',
    'Create a new snippet key. The current one works until the grace time ends',
    { status: 200, body: RotateBody, returns: RotatedKey, response: 'The new key.' },
    call => rotateKey(store, call.org, call.body.graceHours, auditOf(call)),
  ),
  owner.get(
    '/manage/identity',
    'getIdentity',
    'Get how user IDs are verified, and how many calls had a valid hash',
    { query: IdentityQuery, returns: IdentityAnswer },
    async ({ org, query }) => {
      const now = clock.now()
      const hours = await store.identityHours(org.ref, now)
      const { organisation, secrets } = await store.read(org.ref, now)
      return {
        mode: organisation.identityMode,
        secrets:
          query.secrets === undefined ? secrets.map(({ secret, ...times }) => times) : secrets,
        last24h: summedHours(hours),
        hours,
      }
    },
  ),
  owner.post(
    '/manage/identity/rotate',
    'rotateIdentitySecret',
    'Create a new identity secret. The current one works until the grace time ends',
    {
      status: 200,
      body: RotateBody,
      returns: RotatedSecret,
      response: 'The new secret.',
      errors: ['two_secrets_work'],
    },
    call => rotateSecret(store, call.org, call.body.graceHours, auditOf(call)),
  ),
]
