import { AppError, invalid, type Problem } from '../../core/errors.ts'
import { traitProblem } from '../../core/event/traits.ts'
import type { MaybeTheme } from '../../core/flow/merged-theme.ts'
import { unknownColours } from '../../core/flow/theme-rules.ts'
import type { Actor, AuditEntry } from '../../core/organisation/audit.ts'
import { newId, newSnippetKey } from '../../core/organisation/ids.ts'
import { readOrigin } from '../../core/organisation/origin.ts'
import type { IdentityHour, IdentityMode } from '../../core/organisation/verified-identity.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { slugFrom } from '../../core/text/slug.ts'
import type { Clock } from '../../core/time/clock.ts'
import { hourMs } from '../../core/time/durations.ts'
import { wrongZone, zoneNamed } from '../../core/time/time-range.ts'
import type {
  IdentitySecret,
  IssuedKey,
  NewOrganisation,
  NewStaging,
  OrganisationQuestion,
  OrganisationRead,
  OrganisationRecord,
  OrganisationStore,
} from '../../storage/interfaces/organisations.ts'
import { cannotLink } from '../environments/linking.ts'
import {
  type DecidedChange,
  keyRotated,
  nameProblem,
  type SettingsPatch,
  secretRotated,
  settingsChanged,
  slugProblem,
  withSettings,
} from './rules.ts'

/** How an organisation verifies identities. */
export interface Identity {
  mode: IdentityMode
  /** Those that work, the current one first. */
  secrets: readonly IdentitySecret[]
  /** Counts of user hashes in each of the last 24 hours that had any, oldest first. */
  hours: readonly IdentityHour[]
}

/** A key or secret that was just made, and until when the older ones work. */
export interface Rotated {
  text: string
  previousUntil: number
}

/** The most organisations in one list, because more would hold up other requests. */
export const maxListed = 1_000

/** How many times a change is retried because somebody else changed the organisation first. */
const maxTries = 20

const sentence = (problem: string) => problem.replace(/^[a-z]/, first => first.toUpperCase())

/** A decision with its entry for the audit log. */
type Decided = DecidedChange & Pick<AuditEntry, 'action' | 'before' | 'after'>

/** @throws AppError `validation_failed`, with every text that is not an origin */
function originsIn(given: readonly string[]): string[] {
  const read = given.map(readOrigin)
  const problems = read.flatMap((one, i): Problem[] =>
    'fault' in one ? [{ path: `/origins/${i}`, message: sentence(one.fault) }] : [],
  )
  if (problems.length > 0) throw invalid(...problems)
  return [...new Set(read.flatMap(one => ('origin' in one ? one.origin : [])))].sort()
}

/** A name without blanks around it. @throws AppError `validation_failed` */
function nameIn(given: string): string {
  const problem = nameProblem(given)
  if (problem) throw invalid({ path: '/name', message: sentence(problem) })
  return given.trim()
}

/** The usual name of a time zone, by the same rule as for ranges of days. @throws AppError `validation_failed` */
function timezoneIn(given: string): string {
  const zone = zoneNamed(given)
  if (zone === null) throw invalid({ path: '/timezone', message: wrongZone })
  return zone
}

/** @throws AppError `validation_failed`, with every text that cannot name a trait */
function traitsIn(given: readonly string[]): string[] {
  const problems = given.flatMap((name, i): Problem[] => {
    const problem = traitProblem(name)
    return problem ? [{ path: `/traits/${i}`, message: sentence(problem) }] : []
  })
  if (problems.length > 0) throw invalid(...problems)
  return [...new Set(given)]
}

/** @throws AppError `validation_failed`, with every word that names no colour */
function themeIn(given: MaybeTheme): MaybeTheme {
  const problems = unknownColours(given ?? {}).map(
    ({ path, asked, hint }): Problem => ({ path: `/theme${path}`, message: asked + hint }),
  )
  if (problems.length > 0) throw invalid(...problems)
  return given
}

/** @throws AppError `validation_failed` */
function slugIn(given: string | undefined, name: string): string {
  const slug = given ?? slugFrom(name)
  const problem =
    given === undefined && slug === ''
      ? 'the name has no letter a-z or digit to make a slug of: choose one'
      : slugProblem(slug)
  if (problem) throw invalid({ path: '/slug', message: sentence(problem) })
  return slug
}

/**
 * Organisations, which the operator makes and lists, with their settings, snippet keys and identity
 * secrets. A change is decided from what was read, and made only if nobody has changed the organisation
 * since.
 */
export class Organisations {
  constructor(
    private readonly store: OrganisationStore,
    private readonly clock: Clock,
  ) {}

  /** A page of organisations, by slug. `next` is what to continue after; null on the last page. */
  async list(question: OrganisationQuestion) {
    const { organisations, total } = await this.store.list(question, maxListed)
    const next = organisations.length === maxListed ? organisations.at(-1)!.slug : null
    return { organisations, total, next }
  }

  /**
   * Makes an organisation with its first snippet key.
   *
   * @throws AppError `validation_failed`, `slug_taken`, `too_many_organisations`, `organisation_not_found`,
   *   `cannot_link`
   */
  async create(
    requested: { name: string; slug?: string; stagingOf?: string },
    actor: Actor,
  ): Promise<NewOrganisation> {
    const name = nameIn(requested.name)
    const slug = slugIn(requested.slug, name)
    const at = this.clock.now()
    const made = { id: newId('org'), slug, name, snippetKey: newSnippetKey(), createdAt: at }
    const entry = { at, actor, action: 'organisation.create', subject: made.id, before: null }
    const audit = { ...entry, after: { slug, name }, note: null }
    const staging = await this.stagingOf(requested.stagingOf, made, audit)
    const outcome = await this.store.add(made, audit, ...staging)
    if (outcome === 'slug taken') {
      throw new AppError('slug_taken', `The slug "${slug}" is taken: choose another`)
    }
    if (outcome === 'full') {
      const { most } = this.store
      throw new AppError(
        'too_many_organisations',
        `There are already ${most} organisations, the most for one Cairn: start another one with its own data directory`,
      )
    }
    if (outcome !== 'added') throw cannotLink(outcome)
    return made
  }

  /** The organisation that a new one will try flows for. @throws AppError `organisation_not_found` */
  private async stagingOf(
    named: string | undefined,
    { id, slug }: NewOrganisation,
    audit: AuditEntry,
  ): Promise<[] | [NewStaging]> {
    if (named === undefined) return []
    const [production] = (await this.store.list({ named }, 1)).organisations
    if (!production) throw new AppError('organisation_not_found', 'There is no such organisation')
    const link = { ...audit, action: 'organisation.link' }
    const ofBoth = {
      production: { ...link, subject: production.id, after: { staging: slug } },
      staging: { ...link, subject: id, after: { production: production.slug } },
    }
    return [{ production: production.ref, audit: ofBoth }]
  }

  async settings(orgRef: OrganisationRef): Promise<OrganisationRecord> {
    return (await this.read(orgRef)).organisation
  }

  /** Changes the named settings, all or nothing. @throws AppError `validation_failed` */
  async changeSettings(
    orgRef: OrganisationRef,
    { origins, traits, ...others }: SettingsPatch,
    actor: Actor,
  ): Promise<OrganisationRecord> {
    const patch = {
      ...others,
      ...(others.name !== undefined && { name: nameIn(others.name) }),
      ...(origins && { origins: originsIn(origins) }),
      ...(typeof others.timezone === 'string' && { timezone: timezoneIn(others.timezone) }),
      ...(traits && { traits: traitsIn(traits) }),
      ...(others.theme && { theme: themeIn(others.theme) }),
    }
    const { read, decided } = await this.change(orgRef, actor, (read, now) => {
      const decision = settingsChanged(read, patch, now)
      const names = Object.keys(decision.settings) as (keyof typeof decision.settings)[]
      if (names.length === 0) return null
      const before = Object.fromEntries(names.map(name => [name, read.organisation[name]]))
      const made = decision.identitySecret && { identitySecret: 'made' }
      const after = { ...decision.settings, ...made }
      return { ...decision, action: 'settings.change', before, after }
    })
    return withSettings(read.organisation, decided?.settings ?? {})
  }

  /** The snippet keys that work, the current one first. */
  async keys(orgRef: OrganisationRef): Promise<readonly IssuedKey[]> {
    return (await this.read(orgRef)).keys
  }

  /** Makes a new current snippet key. */
  async rotateKey(orgRef: OrganisationRef, graceHours: number, actor: Actor): Promise<Rotated> {
    const { decided } = await this.change(orgRef, actor, (_, now) => {
      const decision = keyRotated(now, graceHours * hourMs)
      const after = { graceHours }
      return { ...decision, action: 'key.rotate', before: null, after }
    })
    const { text, othersEndAt } = decided!.snippetKey
    return { text, previousUntil: othersEndAt }
  }

  async identity(orgRef: OrganisationRef): Promise<Identity> {
    const hours = await this.store.identityHours(orgRef, this.clock.now())
    const { organisation, secrets } = await this.read(orgRef)
    return { mode: organisation.identityMode, secrets, hours }
  }

  /** Makes a new current identity secret. @throws AppError `two_secrets_work` */
  async rotateSecret(orgRef: OrganisationRef, graceHours: number, actor: Actor): Promise<Rotated> {
    const { decided } = await this.change(orgRef, actor, (read, now) => {
      const decision = secretRotated(read, now, graceHours * hourMs)
      return { ...decision, action: 'identity_secret.rotate', before: null, after: { graceHours } }
    })
    const { text, othersEndAt } = decided!.identitySecret
    return { text, previousUntil: othersEndAt }
  }

  private read(orgRef: OrganisationRef): Promise<OrganisationRead> {
    return this.store.read(orgRef, this.clock.now())
  }

  /** Reads, decides and changes; repeats this if somebody else was first. Does nothing if `decide` returns null. */
  private async change<D extends Decided>(
    orgRef: OrganisationRef,
    actor: Actor,
    decide: (read: OrganisationRead, now: number) => D | null,
  ): Promise<{ read: OrganisationRead; decided: D | null }> {
    for (let tries = 1; tries <= maxTries; tries++) {
      const at = this.clock.now()
      const read = await this.store.read(orgRef, at)
      const decided = decide(read, at)
      if (!decided) return { read, decided }
      const { action, before, after, ...change } = decided
      const { revision, organisation } = read
      const audit = [{ at, actor, action, subject: organisation.id, before, after, note: null }]
      if (await this.store.change(orgRef, { revision, ...change, audit })) return { read, decided }
    }
    throw new AppError('overloaded', 'Others are changing this organisation too; try again', {
      retryAfterSeconds: 1,
    })
  }
}
