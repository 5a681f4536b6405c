import type { OrganisationRef } from '../../core/reference.ts'
import type { Fingerprint } from '../../core/step/fingerprint.ts'
import type { JudgedSelector } from '../../core/step/proposal.ts'

/** A selector that a page proposes. */
export interface Candidate extends JudgedSelector {
  selector: string
  /** How many elements of the page it matched. */
  matchCount: number
}

/** An element that an author has picked on a page. */
export interface Proposal {
  /** Of the session, counted from 1. */
  number: number
  at: number
  /** The page, without query and fragment. */
  page: string
  /** The element in a few words. */
  element: string
  /** Best first. */
  candidates: readonly Candidate[]
  fingerprint: Fingerprint
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

/** A session as it is begun; its ticket and its code are known by their hashes alone. */
export interface NewAuthorSession extends AuthorTask {
  /** `author_…`. */
  id: string
  /** `org_…`. */
  organisation: string
  /** Who has begun it: nobody else sees it. */
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
  /** When it ends as it stands, if nothing happens. */
  expiresAt: number
  proposals: readonly Proposal[]
}

/** What a page may know that has spent a ticket. */
export interface AuthorVisit extends AuthorTask {
  /** `org_…`. */
  organisation: string
}

/** What is spent for the token of a page: a ticket, or a code that somebody has typed. */
export interface Spent {
  sha256: string
  isTyped: boolean
}

/** Author sessions: in memory alone, so they end when the server does. */
export interface AuthorStore {
  /** @throws AppError `overloaded` where there are too many of all organisations */
  begin(orgRef: OrganisationRef, session: NewAuthorSession): Promise<void>
  read(
    orgRef: OrganisationRef,
    id: string,
    author: string,
    now: number,
  ): Promise<AuthorSession | null>
  /** False where there is none. */
  end(orgRef: OrganisationRef, id: string, author: string): Promise<boolean>
  /** Null for what was spent or is too old, or comes from another origin: then it is spent, too. */
  redeem(
    spent: Spent,
    origin: string,
    tokenSha256: string,
    now: number,
  ): Promise<AuthorVisit | null>
  /** Null for a token that is none, has ended, or comes from another origin. */
  visit(tokenSha256: string, origin: string, now: number): Promise<AuthorVisit | null>
  /** False where `visit` is null, and where a page has proposed too much. */
  propose(
    tokenSha256: string,
    origin: string,
    proposal: Omit<Proposal, 'number'>,
    now: number,
  ): Promise<boolean>
}
