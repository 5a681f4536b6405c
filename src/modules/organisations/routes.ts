import { summedHours } from '../../core/organisation/verified-identity.ts'
import { type Clock, isoTime, isoTimeOrNull } from '../../core/time/clock.ts'
import { actorOf, requireScope } from '../../http/principal.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type {
  OrganisationRecord,
  OrganisationStore,
} from '../../storage/interfaces/organisations.ts'
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
import { maxListed, Organisations } from './service.ts'

const told = ({ ref: _, id, slug, name, limits, createdAt, ...settings }: OrganisationRecord) => ({
  id,
  slug,
  name,
  limits,
  ...settings,
  createdAt: isoTime(createdAt),
})

const operates = managing('operator')
const owns = managing('settings:write')

/** Routes for the organisations of a server, and for what their owners set. */
export function organisationRoutes({
  organisations: store,
  clock,
}: {
  organisations: OrganisationStore
  clock: Clock
}): Route[] {
  const organisations = new Organisations(store, clock)
  return [
    route({
      ...operates,
      method: 'GET',
      path: '/manage/organisations',
      operation: 'listOrganisations',
      summary: 'Organisations of the server, by slug',
      query: OrganisationQuery,
      responses: { 200: { description: `At most ${maxListed}.`, schema: OrganisationList } },
      async handle(call) {
        const { organisations: listed, ...rest } = await organisations.list(call.query)
        return json(200, { organisations: listed.map(told), ...rest })
      },
    }),
    route({
      ...operates,
      method: 'POST',
      path: '/manage/organisations',
      operation: 'createOrganisation',
      errors: [
        ...(['slug_taken', 'too_many_organisations'] as const),
        ...(['organisation_not_found', 'cannot_link'] as const),
      ],
      summary: 'Make an organisation with its snippet key',
      body: NewOrganisationBody,
      responses: { 201: { description: 'The organisation.', schema: CreatedOrganisation } },
      async handle(call) {
        const { createdAt, ...made } = await organisations.create(call.body, actorOf(call))
        return json(201, made)
      },
    }),
    route({
      ...owns,
      method: 'GET',
      path: '/manage/settings',
      operation: 'getSettings',
      summary: 'What is set for the organisation',
      responses: { 200: { description: 'The settings.', schema: Settings } },
      async handle(call) {
        return json(200, told(await organisations.settings(call.org.ref)))
      },
    }),
    route({
      ...owns,
      method: 'PATCH',
      path: '/manage/settings',
      operation: 'changeSettings',
      summary: 'Set what is named, all or nothing; the rest stays',
      description: 'Limits are for the operator alone.',
      body: SettingsBody,
      responses: { 200: { description: 'The settings after it.', schema: Settings } },
      async handle(call) {
        if (call.body.limits) requireScope(call.principal!, 'operator')
        const { ref } = call.org
        return json(200, told(await organisations.changeSettings(ref, call.body, actorOf(call))))
      },
    }),
    route({
      ...owns,
      method: 'GET',
      path: '/manage/keys',
      operation: 'listKeys',
      summary: 'The snippet keys that work, the current one first',
      responses: { 200: { description: 'The keys.', schema: KeyList } },
      async handle(call) {
        const keys = await organisations.keys(call.org.ref)
        return json(200, {
          keys: keys.map(({ key, createdAt, retiredAt }) => ({
            key,
            createdAt: isoTime(createdAt),
            worksUntil: isoTimeOrNull(retiredAt),
          })),
        })
      },
    }),
    route({
      ...owns,
      method: 'POST',
      path: '/manage/keys/rotate',
      operation: 'rotateKey',
      summary: 'Make a new snippet key; the one before works for the grace time',
      body: RotateBody,
      responses: { 200: { description: 'The new key.', schema: RotatedKey } },
      async handle(call) {
        const { graceHours } = call.body
        const rotated = await organisations.rotateKey(call.org.ref, graceHours, actorOf(call))
        const previousUntil = isoTime(rotated.previousUntil)
        return json(200, { snippetKey: rotated.text, previousUntil })
      },
    }),
    route({
      ...owns,
      method: 'GET',
      path: '/manage/identity',
      operation: 'getIdentity',
      summary: 'How user ids are verified, and how many calls had the right hash',
      query: IdentityQuery,
      responses: { 200: { description: 'As of now.', schema: IdentityAnswer } },
      async handle(call) {
        const { mode, secrets, hours } = await organisations.identity(call.org.ref)
        const isShown = call.query.secrets !== undefined
        return json(200, {
          mode,
          secrets: secrets.map(({ secret, createdAt, retiredAt }) => ({
            createdAt: isoTime(createdAt),
            worksUntil: isoTimeOrNull(retiredAt),
            ...(isShown && { secret }),
          })),
          last24h: summedHours(hours),
          hours: hours.map(({ at, ...counts }) => ({ at: isoTime(at), ...counts })),
        })
      },
    }),
    route({
      ...owns,
      method: 'POST',
      path: '/manage/identity/rotate',
      operation: 'rotateIdentitySecret',
      errors: ['two_secrets_work'],
      summary: 'Make a new identity secret; the one before works for the grace time',
      body: RotateBody,
      responses: { 200: { description: 'The new secret.', schema: RotatedSecret } },
      async handle(call) {
        const { graceHours } = call.body
        const rotated = await organisations.rotateSecret(call.org.ref, graceHours, actorOf(call))
        return json(200, { secret: rotated.text, previousUntil: isoTime(rotated.previousUntil) })
      },
    }),
  ]
}
