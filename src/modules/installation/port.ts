import type { RejectionCode } from '../../core/event/event.ts'
import type { PersonIds } from '../../core/event/stored-event.ts'
import type { Bucket } from '../../core/organisation/buckets.ts'
import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { PresenceMark } from '../../core/organisation/presence.ts'
import type { UserHashCounts } from '../../core/organisation/verified-identity.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { SeenAtGate } from '../../http/port.ts'
/** What tells of an installation beyond what pages are told asks of storage. */
export interface SeenStore {
  /** Writes what is only noted in memory, so that it can be read; where nothing can be written, it does not. */
  write(): Promise<void>
  /** The current snippet key; null where there is none. */
  snippetKey(orgRef: OrganisationRef): Promise<string | null>
}

/** What liveness asks of storage. */
export interface InstallationStores {
  catalogue(): Catalogue
  checklists: {
    /** See `ChecklistReader`: another text after each change of a person's progress. */
    version(orgRef: OrganisationRef, person: PersonIds): string
  }
  presence: PresenceBook
}

export interface Presence {
  seen: Readonly<Record<PresenceMark, { firstAt: number; lastAt: number } | null>>
  snippetVersion: string | null
  /** The latest clock skews in milliseconds, at most 101. */
  skews: readonly number[]
  /** Events refused over the last 24 hours, by code. */
  rejections: Readonly<Partial<Record<RejectionCode, number>>>
  /** Reports of people who were erased over the last 24 hours: for the operator alone. */
  erased: number
  /** Requests refused over the last 24 hours for their origin. */
  refusedOrigins: number
  /** Minutes of the last 24 hours in which requests were refused for their number. */
  limitedMinutes: Readonly<Partial<Record<Bucket, number>>>
  /** Calls and events of the last 24 hours that named a user, by what became of the hash. */
  userHashes: Readonly<UserHashCounts>
}

/**
 * Since when what is counted by the hour has gone on, with less than a day between two such hours: the
 * beginning of the first, epoch milliseconds, as far back as counts are kept.
 */
export interface CountedSince {
  /** Events refused, by code. */
  rejections: Readonly<Partial<Record<RejectionCode, number>>>
  refusedOrigins: number | null
  limited: Readonly<Partial<Record<Bucket, number>>>
  /** Calls and events without the right hash. */
  wrongHashes: number | null
}

/** Where the heartbeats of an organisation may lie, and what its window has left. Milliseconds. */
export interface BeatBounds {
  /** How many are kept: for the next of a page, and for one that came unasked. */
  moments: 1 | 2
  soonestMs: number
  /** How far apart they lie, and how far where many pages wait. */
  apartMs: number
  apartInCrowdMs: number
  latestMs: number
  remaining: number
  resetInMs: number
}

export interface PresenceBook extends Pick<SeenAtGate, 'mark'> {
  /** Undefined where there is nothing to wait for: the version was recorded a moment ago. */
  recordSnippetVersion(
    orgRef: OrganisationRef,
    version: string,
    at: number,
  ): Promise<void> | undefined
  /**
   * Keeps a moment for a heartbeat, after those that were kept before: so many milliseconds from now,
   * which is monotonic. Costs no statement.
   */
  reserveBeat(orgRef: OrganisationRef, now: number, bounds: BeatBounds): number
  read(orgRef: OrganisationRef, now: number): Promise<Presence>
  since(orgRef: OrganisationRef, now: number): Promise<CountedSince>
}
