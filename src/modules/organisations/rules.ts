import { AppError } from '../../core/errors.ts'
import { type MaybeTheme, storedTheme } from '../../core/flow/merged-theme.ts'
import { type Bucket, limitsWith } from '../../core/organisation/buckets.ts'
import { newIdentitySecret, newSnippetKey } from '../../core/organisation/ids.ts'
import { maxSlugLength } from '../../core/text/slug.ts'
import { isoTime } from '../../core/time/clock.ts'
import type {
  OrganisationChange,
  OrganisationRead,
  OrganisationRecord,
  OrganisationSettings,
} from '../../storage/interfaces/organisations.ts'

/** How organisations may be named, and what a change to one results in. */

export const maxNameLength = 200
const slugPattern = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/

/** What is wrong with a name, as a sentence without a capital letter; null if nothing is. */
export function nameProblem(given: string): string | null {
  const name = given.trim()
  if (name === '') return 'an organisation needs a name'
  if (name.length <= maxNameLength && name.isWellFormed() && !/\p{Cc}/u.test(name)) return null
  return `a name is at most ${maxNameLength} characters of text without line breaks`
}

/** The same for a slug. */
export function slugProblem(slug: string): string | null {
  if (slug.length <= maxSlugLength && slugPattern.test(slug)) return null
  return `use a-z, 0-9 and "-" between them, at most ${maxSlugLength} characters`
}

/** What to set; absent settings stay as they are. */
export interface SettingsPatch extends Partial<Omit<OrganisationSettings, 'overrides' | 'theme'>> {
  /** Replaces the whole theme. */
  theme?: MaybeTheme
  /** Requests per window by bucket; null removes an override. */
  limits?: Partial<Record<Bucket, number | null>>
}

/** A change without its revision and its audit entry. */
export type DecidedChange = Omit<OrganisationChange, 'revision' | 'audit'>

function overridden(
  before: OrganisationSettings['overrides'],
  limits: NonNullable<SettingsPatch['limits']>,
): OrganisationSettings['overrides'] {
  const kept = Object.entries({ ...before, ...limits }).filter(([, limit]) => limit !== null)
  return Object.fromEntries(kept)
}

const areEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** Sets only what differs. The first mode other than `off` makes a secret; `off` keeps existing ones. */
export function settingsChanged(
  { organisation, secrets }: OrganisationRead,
  { limits, theme, ...patch }: SettingsPatch,
  now: number,
): DecidedChange & { settings: Partial<OrganisationSettings> } {
  const requested: Partial<OrganisationSettings> = {
    ...(limits && { overrides: overridden(organisation.overrides, limits) }),
    ...patch,
    ...(theme !== undefined && { theme: storedTheme(theme) }),
  }
  const names = Object.keys(requested) as (keyof OrganisationSettings)[]
  const changed = names.filter(name => !areEqual(requested[name], organisation[name]))
  const settings = Object.fromEntries(changed.map(name => [name, requested[name]]))
  const needsSecret = (patch.identityMode ?? 'off') !== 'off' && secrets.length === 0
  return { settings, ...(needsSecret && { identitySecret: newSecret(now, 0) }) }
}

/** An organisation with other settings. */
export function withSettings(
  organisation: OrganisationRecord,
  settings: Partial<OrganisationSettings>,
): OrganisationRecord {
  const changed = { ...organisation, ...settings }
  return { ...changed, limits: limitsWith(changed.overrides) }
}

const newSecret = (now: number, graceMs: number) => ({
  text: newIdentitySecret(),
  createdAt: now,
  othersEndAt: now + graceMs,
})

/**
 * A new current key. The one before works for the grace time. Without a grace time no other key of the
 * organisation works any more, including those of earlier rotations.
 */
export const keyRotated = (now: number, graceMs: number) => ({
  snippetKey: { text: newSnippetKey(), createdAt: now, othersEndAt: now + graceMs },
})

/**
 * A new current secret. The one before works for the grace time. Without a grace time no older secret works
 * any more. There are never more than two.
 *
 * @throws AppError `two_secrets_work` while the one before the current one still works, unless all are
 *   ended
 */
export function secretRotated({ secrets }: OrganisationRead, now: number, graceMs: number) {
  const [, before] = secrets
  if (before && graceMs > 0) {
    throw new AppError(
      'two_secrets_work',
      `Two secrets work already, the one before until ${isoTime(before.retiredAt ?? now)}: rotate after that, or without a grace time, which ends both at once`,
    )
  }
  return { identitySecret: newSecret(now, graceMs) }
}
