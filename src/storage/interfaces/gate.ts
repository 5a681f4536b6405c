import type { Scope } from '../../core/organisation/access.ts'
import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { Bucket } from '../../core/organisation/limits.ts'
import type { DashboardSession } from '../../core/organisation/sessions.ts'
import type { UserHashCounts } from '../../core/organisation/verified-identity.ts'
import type { OrganisationRef } from '../../core/reference.ts'

export const presenceStages = ['key_used', 'flows_fetched', 'heartbeat', 'events_flowing'] as const

/** What is recorded about an organisation by first and last time: the stages, and a hint at a problem. */
export const presenceMarks = [...presenceStages, 'old_key_used'] as const

export type PresenceMark = (typeof presenceMarks)[number]

/** What is needed from storage before a route is reached. */
export interface GateStores {
  catalogue(): Catalogue
  ledger: Room
  presence: SeenAtGate
}

export interface Room {
  /** Throws `overloaded` if there is no room for a write, however small. */
  requireRoom(): void
}

/** What requests reveal about an installation before they reach a route. */
export interface SeenAtGate {
  /** Notes that something was seen now. Runs no statement; a crash loses at most the last few seconds. */
  mark(orgRef: OrganisationRef, mark: PresenceMark, now: number): void
  /** Counts a request that was refused for its origin. */
  recordRejectedOrigin(orgRef: OrganisationRef, at: number): Promise<void>
  /** Notes that a limit was reached: once a minute, however many requests are refused. */
  recordLimited(orgRef: OrganisationRef, bucket: Bucket, at: number): Promise<void>
  /** Counts user hashes that were judged. Runs no statement; a crash loses at most the last few seconds. */
  countUserHashes(orgRef: OrganisationRef, counts: Partial<UserHashCounts>): void
}

/** Any management token that was ever made, as the gate sees it. */
export interface KnownToken {
  /** `token_…`. */
  id: string
  name: string
  /** `org_…`. */
  organisation: string
  scopes: readonly Scope[]
  expiresAt: number
  revokedAt: number | null
}

/** How the gate looks up management tokens. */
export interface KnownTokens {
  /** By the hash of its text; null if there is none. */
  find(sha256: string): KnownToken | null
  /** Notes that a token was used; not awaited. */
  used(id: string, at: number): void
}

/** Somebody who is or was signed in to the dashboard, as the gate sees them. */
export interface KnownSession extends DashboardSession {
  /** Of the cookie. */
  sha256: string
  /** `org_…`. */
  organisation: string
}

/** How the gate looks up who is signed in. */
export interface KnownSessions {
  /** By the hash of the cookie; null if there is none. */
  find(sha256: string): KnownSession | null
  /** Notes that somebody was active; not awaited. */
  seen(sha256: string, at: number): void
}
