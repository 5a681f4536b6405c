import type { Bucket } from '../core/organisation/buckets.ts'
import type { Catalogue, MaybePromise } from '../core/organisation/catalogue.ts'
import type { DashboardSession } from '../core/organisation/dashboard-session.ts'
import type { Scope } from '../core/organisation/management-token.ts'
import type { PresenceMark } from '../core/organisation/presence.ts'
import type { UserHashCounts } from '../core/organisation/verified-identity.ts'
import type { OrganisationRef } from '../core/reference.ts'

/** What the way to a route asks of storage. */
export interface GateStores {
  catalogue(): Catalogue
  ledger: Room
  presence: SeenAtGate
}

export interface Room {
  /** Throws `overloaded` where there is no room for a write, however small. */
  requireRoom(): void
}

/** What requests show of an installation, before any route. */
export interface SeenAtGate {
  /** Notes that something was seen now. Costs no statement; lost at most some seconds in a crash. */
  mark(orgRef: OrganisationRef, mark: PresenceMark, now: number): void
  /** Counts a request that was refused for its origin. */
  recordRefusedOrigin(orgRef: OrganisationRef, at: number): Promise<void>
  /** Notes that a limit was reached: once a minute, however many requests are refused. */
  recordLimited(orgRef: OrganisationRef, bucket: Bucket, at: number): Promise<void>
  /** Counts hashes of users that were judged. Costs no statement; lost at most some seconds in a crash. */
  countUserHashes(orgRef: OrganisationRef, counts: Partial<UserHashCounts>): void
}

/** A management token that was ever made, as the gate looks at it. */
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

/** Management tokens as the gate asks for them. */
export interface KnownTokens {
  /** By the hash of its text; null where there is none. */
  find(sha256: string): MaybePromise<KnownToken | null>
  /** Notes that it was used; nobody waits for it. */
  used(id: string, at: number): void
}

/** Somebody who is signed in to the dashboard, or was, as the gate looks at it. */
export interface KnownSession extends DashboardSession {
  /** Of the cookie. */
  sha256: string
  /** `org_…`. */
  organisation: string
}

/** Who is signed in, as the gate asks for them. */
export interface KnownSessions {
  /** By the hash of the cookie; null where there is none. */
  find(sha256: string): MaybePromise<KnownSession | null>
  /** Notes that somebody was there; nobody waits for it. */
  seen(sha256: string, at: number): void
}
