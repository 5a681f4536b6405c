import { AppError } from '../../core/errors.ts'
import type { Auditor } from '../../core/organisation/audit.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { newId, newSnippetKey } from '../../core/organisation/ids.ts'
import { limitsWith } from '../../core/organisation/limits.ts'
import { revised } from '../../core/revised.ts'
import { hourMs } from '../../core/time/durations.ts'
import type {
  NewOrganisation,
  NewStaging,
  OrganisationQuery,
  OrganisationRead,
  OrganisationStore,
  Settings,
} from '../../storage/interfaces/organisations.ts'
import { cannotLink } from '../environments/linking.ts'
import {
  type DecidedChange,
  keyRotated,
  nameIn,
  type SettingsPatch,
  secretRotated,
  settingsChanged,
  slugIn,
} from './rules.ts'

/** The most organisations in one list, because more would hold up other requests. */
export const maxListed = 1_000

type Changeable = Pick<Organisation, 'ref' | 'id'>

/** A page of organisations, by slug. `next` is what to continue after; null on the last page. */
export async function listOrganisations(store: OrganisationStore, query: OrganisationQuery) {
  const { organisations, total } = await store.list(query, maxListed)
  const next = organisations.length === maxListed ? organisations.at(-1)!.slug : null
  return { organisations, total, next }
}

/**
 * Creates an organisation with its first snippet key.
 *
 * @throws AppError `validation_failed`, `slug_taken`, `too_many_organisations`, `organisation_not_found`,
 *   `cannot_link`
 */
export async function createOrganisation(
  store: OrganisationStore,
  requested: { name: string; slug?: string; stagingOf?: string },
  audit: Auditor,
): Promise<NewOrganisation> {
  const name = nameIn(requested.name)
  const slug = slugIn(requested.slug, name)
  const id = newId('org')
  const entry = audit('organisation.create', id, { after: { slug, name } })
  const created = { id, slug, name, snippetKey: newSnippetKey(), createdAt: entry.at }
  const staging = await stagingOf(store, requested.stagingOf, created, audit)
  const outcome = await store.add(created, entry, staging)
  if (outcome === 'slug taken') {
    throw new AppError('slug_taken', `The slug "${slug}" is taken: choose another`)
  }
  if (outcome === 'full') {
    throw new AppError(
      'too_many_organisations',
      `There are already ${store.most} organisations, the most for one Cairn: start another one with its own data directory`,
    )
  }
  if (outcome !== 'added') throw cannotLink(outcome)
  return created
}

/** The organisation that a new one is the staging of. @throws AppError `organisation_not_found` */
async function stagingOf(
  store: OrganisationStore,
  named: string | undefined,
  { id, slug }: NewOrganisation,
  audit: Auditor,
): Promise<NewStaging | undefined> {
  if (named === undefined) return undefined
  const [production] = (await store.list({ named }, 1)).organisations
  if (!production) throw new AppError('organisation_not_found', 'Organisation not found')
  return {
    production: production.id,
    audit: {
      production: audit('organisation.link', production.id, { after: { staging: slug } }),
      staging: audit('organisation.link', id, { after: { production: production.slug } }),
    },
  }
}

/** Changes the named settings, all or nothing. @throws AppError `validation_failed` */
export async function changeSettings(
  store: OrganisationStore,
  org: Changeable,
  patch: SettingsPatch,
  audit: Auditor,
): Promise<Settings> {
  const { read, change } = await decideAndChange(store, org, audit, (read, now) => {
    const change = settingsChanged(read, patch, now)
    const names = Object.keys(change.settings) as (keyof typeof change.settings)[]
    if (names.length === 0) return null
    const before = Object.fromEntries(names.map(name => [name, read.organisation[name]]))
    const secret = change.identitySecret && { identitySecret: 'made' }
    const after = { ...change.settings, ...secret }
    return { change, action: 'settings.change', before, after }
  })
  const settings = { ...read.organisation, ...change?.settings }
  return { ...settings, limits: limitsWith(settings.overrides) }
}

/** Creates a new current snippet key. */
export async function rotateKey(
  store: OrganisationStore,
  org: Changeable,
  graceHours: number,
  audit: Auditor,
) {
  const { change } = await decideAndChange(store, org, audit, (_, now) => ({
    change: keyRotated(now, graceHours * hourMs),
    action: 'key.rotate',
    after: { graceHours },
  }))
  const { text, othersEndAt } = change!.snippetKey
  return { snippetKey: text, previousUntil: othersEndAt }
}

/** Creates a new current identity secret. @throws AppError `two_secrets_work` */
export async function rotateSecret(
  store: OrganisationStore,
  org: Changeable,
  graceHours: number,
  audit: Auditor,
) {
  const { change } = await decideAndChange(store, org, audit, (read, now) => ({
    change: secretRotated(read, now, graceHours * hourMs),
    action: 'identity_secret.rotate',
    after: { graceHours },
  }))
  const { text, othersEndAt } = change!.identitySecret
  return { secret: text, previousUntil: othersEndAt }
}

/** What a change is to be, with its line of the audit log. */
interface Decision<C extends DecidedChange> {
  change: C
  action: string
  before?: Readonly<Record<string, unknown>>
  after: Readonly<Record<string, unknown>>
}

/**
 * Reads, decides and changes. The change is made only if nobody has changed the organisation since it was
 * read; otherwise all of it is repeated.
 */
async function decideAndChange<C extends DecidedChange>(
  store: OrganisationStore,
  { ref, id }: Changeable,
  audit: Auditor,
  decide: (read: OrganisationRead, now: number) => Decision<C> | null,
): Promise<{ read: OrganisationRead; change: C | null }> {
  const now = audit('', id).at
  return revised(async () => {
    const read = await store.read(ref, now)
    const decision = decide(read, now)
    if (!decision) return { read, change: null }
    const { change, action, ...states } = decision
    const { revision } = read
    const changed = { revision, ...change, audit: [audit(action, id, states)] }
    return (await store.change(ref, changed)) ? { read, change } : null
  })
}
