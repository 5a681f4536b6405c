import type { PersonIds, RejectionCode } from '../../core/event/event.ts'
import type { Catalogue } from '../../core/organisation/catalogue.ts'
import type { Bucket } from '../../core/organisation/limits.ts'
import type { UserHashCounts } from '../../core/organisation/verified-identity.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import type { PresenceMark, SeenAtGate } from './gate.ts'

/** What the installation page for managers needs from storage beyond what pages may see. */
export interface SeenStore {
  /** Writes what is only noted in memory, so that it can be read. Does nothing if nothing can be written. */
  write(): Promise<void>
  /** The current snippet key; null if there is none. */
  snippetKey(orgRef: OrganisationRef): Promise<string | null>
}

/** What liveness needs from storage. */
export interface InstallationStores {
  catalogue(): Catalogue
  checklists: {
    /** See `ChecklistReader`: a text that changes whenever a person's progress does. */
    version(orgRef: OrganisationRef, person: PersonIds): Promise<string>
  }
  presence: PresenceBook
}

export interface Presence {
  seen: Readonly<Record<PresenceMark, { firstAt: number; lastAt: number } | null>>
  snippetVersion: string | null
  /** The latest clock skews in milliseconds, at most 101. */
  skews: readonly number[]
  /** Events rejected over the last 24 hours, by code. */
  rejections: Readonly<Partial<Record<RejectionCode, number>>>
  /** Reports about people who were erased, over the last 24 hours; only for the operator. */
  erased: number
  /** Requests of the last 24 hours that were rejected because of their origin. */
  rejectedOrigins: number
  /** Minutes of the last 24 hours in which requests were rejected because a limit was reached. */
  limitedMinutes: Readonly<Partial<Record<Bucket, number>>>
  /** Calls and events of the last 24 hours that named a user, by the verdict on the hash. */
  userHashes: Readonly<UserHashCounts>
}

/**
 * Since when something that is counted by the hour has gone on, with less than a day between two such
 * hours. This is the beginning of the first hour, in epoch milliseconds, as far back as counts are kept.
 */
export interface CountedSince {
  /** Events rejected, by code. */
  rejections: Readonly<Partial<Record<RejectionCode, number>>>
  rejectedOrigins: number | null
  limited: Readonly<Partial<Record<Bucket, number>>>
  /** Calls and events without the right hash. */
  wrongHashes: number | null
}

/** When the heartbeats of an organisation may come, and what its window has left. Times are in milliseconds. */
export interface BeatBounds {
  /**
   * How many moments are reserved: one for the page's next heartbeat, and one for the page itself if it
   * came without a turn.
   */
  moments: 1 | 2
  soonestMs: number
  /** How far apart heartbeats are, and how far if many pages wait. */
  apartMs: number
  apartInCrowdMs: number
  latestMs: number
  remaining: number
  resetInMs: number
}

export interface PresenceBook extends Pick<SeenAtGate, 'mark'> {
  /** Undefined if there is nothing to wait for, because the version was recorded a moment ago. */
  recordSnippetVersion(
    orgRef: OrganisationRef,
    version: string,
    at: number,
  ): Promise<void> | undefined
  /**
   * Reserves a moment for a heartbeat, after those already reserved. Returns how many milliseconds after
   * `now` (monotonic) it is. Costs no statement.
   */
  reserveBeat(orgRef: OrganisationRef, now: number, bounds: BeatBounds): number
  read(orgRef: OrganisationRef, now: number): Promise<Presence>
  since(orgRef: OrganisationRef, now: number): Promise<CountedSince>
}
