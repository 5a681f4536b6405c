import type { OrganisationRef } from '../../core/reference.ts'
import type { Fingerprint } from '../../core/step/fingerprint.ts'
import type { JudgedSelector } from '../../core/step/proposal.ts'

/** A selector that a page proposes. */
export interface Candidate extends JudgedSelector {
  selector: string
  /** How many elements of the page it matched. */
  matchCount: number
}

/** An element that an author picked on a page. */
export interface Proposal {
  /** Its number within the session, counted from 1. */
  number: number
  at: number
  /** The page, without query and fragment. */
  page: string
  /** The element in a few words. */
  element: string
  /** Best first. */
  candidates: readonly Candidate[]
  fingerprint: Fingerprint
  /** Whether the element is only around what people use. */
  isWrapper: boolean
  /** Whether a text of the element may be the name of a person. */
  mayNamePerson: boolean
}

/** What a session is for. */
export interface AuthorTask {
  flow: string
  step: string
  /** Four letters that both sides show. */
  code: string
}

/** A session when it begins. Of its ticket and code only the hashes are known. */
export interface NewAuthorSession extends AuthorTask {
  /** `author_…`. */
  id: string
  /** `org_…`. */
  organisation: string
  /** Who began it. Nobody else can see it. */
  author: string
  url: string
  origin: string
  ticketSha256: string
  codeSha256: string
  begunAt: number
}

/** A session as its author sees it. */
export interface AuthorSession extends AuthorTask {
  id: string
  url: string
  origin: string
  state: 'waiting' | 'connected' | 'ended'
  /** When it ends if nothing happens until then. */
  expiresAt: number
  proposals: readonly Proposal[]
}

/** What a page may know after it has redeemed a ticket. */
export interface AuthorVisit extends AuthorTask {
  /** `org_…`. */
  organisation: string
}

/** What a page redeems for its token: a ticket, or a code that somebody has typed. */
export interface Spent {
  sha256: string
  isTyped: boolean
}

/** Author sessions. They are only in memory, so they end when the server does. */
export interface AuthorStore {
  /** @throws AppError `overloaded` if all organisations together have too many */
  begin(orgRef: OrganisationRef, session: NewAuthorSession): Promise<void>
  read(
    orgRef: OrganisationRef,
    id: string,
    author: string,
    now: number,
  ): Promise<AuthorSession | null>
  /** False if there is none. */
  end(orgRef: OrganisationRef, id: string, author: string): Promise<boolean>
  /**
   * Null if it was redeemed already, is too old, or comes from another origin. In the last case it is used
   * up, too.
   */
  redeem(
    spent: Spent,
    origin: string,
    tokenSha256: string,
    now: number,
  ): Promise<AuthorVisit | null>
  /** Null if the token is unknown, has ended, or comes from another origin. */
  visit(tokenSha256: string, origin: string, now: number): Promise<AuthorVisit | null>
  /** False if `visit` would be null, or if the page has proposed too much. */
  propose(
    tokenSha256: string,
    origin: string,
    proposal: Omit<Proposal, 'number'>,
    now: number,
  ): Promise<boolean>
}
