import { AppError, invalid, type Problem } from '../../core/errors.ts'
import { traitProblem } from '../../core/event/traits.ts'
import { type MaybeTheme, storedTheme } from '../../core/flow/merged-theme.ts'
import { unknownColours } from '../../core/flow/theme-rules.ts'
import { newIdentitySecret, newSnippetKey } from '../../core/organisation/ids.ts'
import type { Bucket } from '../../core/organisation/limits.ts'
import { readOrigin } from '../../core/organisation/origin.ts'
import { maxSlugLength, slugFrom } from '../../core/text/slug.ts'
import { isoTime } from '../../core/time/clock.ts'
import { wrongZone, zoneNamed } from '../../core/time/time-range.ts'
import {
  type ChangedSettings,
  maxNameLength,
  type OrganisationChange,
  type OrganisationRead,
} from '../../storage/interfaces/organisations.ts'

const slugPattern = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/

const sentence = (problem: string) => problem.replace(/^[a-z]/, first => first.toUpperCase())

/** A name without blanks around it. @throws AppError `validation_failed` */
export function nameIn(text: string): string {
  const name = text.trim()
  if (name === '') throw invalid({ path: '/name', message: 'An organisation needs a name' })
  if (name.length <= maxNameLength && name.isWellFormed() && !/\p{Cc}/u.test(name)) return name
  const message = `A name is at most ${maxNameLength} characters of text without line breaks`
  throw invalid({ path: '/name', message })
}

/** The slug that was requested, or one made from the name. @throws AppError `validation_failed` */
export function slugIn(requested: string | undefined, name: string): string {
  const slug = requested ?? slugFrom(name)
  if (requested === undefined && slug === '') {
    const message = 'The name has no letter a-z or digit to make a slug from: choose a slug'
    throw invalid({ path: '/slug', message })
  }
  if (slug.length <= maxSlugLength && slugPattern.test(slug)) return slug
  const message = `Use a-z, 0-9 and "-" between them, at most ${maxSlugLength} characters`
  throw invalid({ path: '/slug', message })
}

/** @throws AppError `validation_failed`, with every text that is not an origin */
function originsIn(texts: readonly string[]): string[] {
  const read = texts.map(readOrigin)
  const problems = read.flatMap((one, i): Problem[] =>
    'fault' in one ? [{ path: `/origins/${i}`, message: sentence(one.fault) }] : [],
  )
  if (problems.length > 0) throw invalid(...problems)
  return [...new Set(read.flatMap(one => ('origin' in one ? one.origin : [])))].sort()
}

/** The usual name of a time zone. @throws AppError `validation_failed` */
function timezoneIn(name: string | null): string | null {
  if (name === null) return null
  const zone = zoneNamed(name)
  if (zone === null) throw invalid({ path: '/timezone', message: wrongZone })
  return zone
}

/** @throws AppError `validation_failed`, with every text that cannot name a trait */
function traitsIn(names: readonly string[]): string[] {
  const problems = names.flatMap((name, i): Problem[] => {
    const problem = traitProblem(name)
    return problem ? [{ path: `/traits/${i}`, message: sentence(problem) }] : []
  })
  if (problems.length > 0) throw invalid(...problems)
  return [...new Set(names)]
}

/** @throws AppError `validation_failed`, with every word that names no colour */
function themeIn(theme: MaybeTheme): ChangedSettings['theme'] {
  const problems = unknownColours(theme ?? {}).map(
    ({ path, expected, hint }): Problem => ({
      path: `/theme${path}`,
      message: expected + hint,
    }),
  )
  if (problems.length > 0) throw invalid(...problems)
  return storedTheme(theme)
}

/** Rules for settings beyond those of their schemas. Each returns what is stored. */
const rules: { [Name in keyof SettingsPatch]?: (value: never) => unknown } = {
  name: nameIn,
  origins: originsIn,
  timezone: timezoneIn,
  traits: traitsIn,
  theme: themeIn,
}

/** What to set; absent settings stay as they are. */
export type SettingsPatch = Partial<Omit<ChangedSettings, 'overrides' | 'theme'>> & {
  /** Replaces the whole theme. */
  theme?: MaybeTheme
  /** Requests per window by bucket; null removes an override. */
  limits?: Partial<Record<Bucket, number | null>>
}

/** A change without its revision and its audit entry. */
export type DecidedChange = Omit<OrganisationChange, 'revision' | 'audit'>

function overridden(
  before: NonNullable<ChangedSettings['overrides']>,
  limits: NonNullable<SettingsPatch['limits']>,
): ChangedSettings['overrides'] {
  const set = Object.entries({ ...before, ...limits }).filter(([, limit]) => limit !== null)
  return Object.fromEntries(set)
}

const areEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/**
 * Sets only what differs. The first mode other than `off` makes a secret; `off` keeps existing ones.
 *
 * @throws AppError `validation_failed`
 */
export function settingsChanged(
  { organisation, secrets }: OrganisationRead,
  { limits, ...patch }: SettingsPatch,
  now: number,
): DecidedChange & { settings: ChangedSettings } {
  const patched = Object.entries(patch).map(([name, value]) => {
    const rule = rules[name as keyof SettingsPatch]
    return [name, rule ? rule(value as never) : value] as const
  })
  const overrides = limits && overridden(organisation.overrides, limits)
  const all = overrides ? [...patched, ['overrides', overrides] as const] : patched
  const changed = all.filter(
    ([name, value]) => !areEqual(value, organisation[name as keyof ChangedSettings]),
  )
  const needsSecret = (patch.identityMode ?? 'off') !== 'off' && secrets.length === 0
  return {
    settings: Object.fromEntries(changed),
    ...(needsSecret && { identitySecret: newSecret(now, 0) }),
  }
}

const newSecret = (now: number, graceMs: number) => ({
  text: newIdentitySecret(),
  createdAt: now,
  othersEndAt: now + graceMs,
})

/**
 * A new current key. The one before works for the grace time. Without a grace time no other key of the
 * organisation works any longer, including those of earlier rotations.
 */
export const keyRotated = (now: number, graceMs: number) => ({
  snippetKey: { text: newSnippetKey(), createdAt: now, othersEndAt: now + graceMs },
})

/**
 * A new current secret. The one before works for the grace time. Without a grace time no older secret works.
 * There are never more than two.
 *
 * @throws AppError `two_secrets_work` while the one before the current one still works, unless all are
 *   ended
 */
export function secretRotated({ secrets }: OrganisationRead, now: number, graceMs: number) {
  const [, before] = secrets
  if (before && graceMs > 0) {
    throw new AppError(
      'two_secrets_work',
      `Two secrets work already, the previous one until ${isoTime(before.worksUntil ?? now)}: rotate after that, or without a grace time, which ends both at once`,
    )
  }
  return { identitySecret: newSecret(now, graceMs) }
}
