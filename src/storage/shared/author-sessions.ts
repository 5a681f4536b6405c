import { AppError } from '../../core/errors.ts'
import {
  maxAuthorSessions,
  maxAuthorSessionsInAll,
  maxKeptProposals,
  maxProposals,
  maxWrongCodes,
  ticketMs,
  visitIdleMs,
  visitLongestMs,
} from '../../core/organisation/sessions.ts'
import type {
  AuthorSession,
  AuthorVisit,
  NewAuthorSession,
  Proposal,
  Spent,
} from '../interfaces/author.ts'

/** How long it is reported that a session has ended, milliseconds. */
const toldMs = 5 * 60_000

/** A session as it is kept; JSON can carry it. */
export interface KeptSession extends Omit<NewAuthorSession, 'ticketSha256' | 'codeSha256'> {
  orgRow: number
  /** Null once spent. */
  ticketSha256: string | null
  codeSha256: string | null
  wrongCodes: number
  visit: { tokenSha256: string; since: number; usedAt: number } | null
  proposed: number
  proposals: Proposal[]
}

const visitOf = ({ organisation, flow, step, code }: KeptSession): AuthorVisit => ({
  organisation,
  flow,
  step,
  code,
})

const endOf = ({ visit, begunAt }: KeptSession): number =>
  visit ? Math.min(visit.usedAt + visitIdleMs, visit.since + visitLongestMs) : begunAt + ticketMs

function stateOf(session: KeptSession, now: number): AuthorSession['state'] {
  if (now >= endOf(session)) return 'ended'
  if (session.visit) return 'connected'
  return session.ticketSha256 === null ? 'ended' : 'waiting'
}

/** From when on it is not even reported any more that a session has ended. */
const forgottenAt = (session: KeptSession): number => endOf(session) + toldMs

/**
 * Author sessions of all organisations. A server alone has them in memory, and writes nothing of them anywhere.
 */
export class AuthorSessions {
  private readonly sessions: Map<string, KeptSession>

  constructor(held: readonly KeptSession[] = []) {
    const inOrder = held.toSorted((a, b) => a.begunAt - b.begunAt)
    this.sessions = new Map(inOrder.map(session => [session.id, session]))
  }

  get held(): Iterable<KeptSession> {
    return this.sessions.values()
  }

  begin(orgRow: number, session: NewAuthorSession): void {
    this.expire(session.begunAt)
    const own = [...this.sessions.values()].filter(kept => kept.orgRow === orgRow)
    if (own.length >= maxAuthorSessions) {
      const oldest = own.reduce((a, b) => (endOf(b) < endOf(a) ? b : a))
      this.sessions.delete(oldest.id)
    } else if (this.sessions.size >= maxAuthorSessionsInAll) {
      throw new AppError('overloaded', 'Too many pages are being authored at once: try later')
    }
    const fresh = { orgRow, wrongCodes: 0, visit: null, proposed: 0, proposals: [] }
    this.sessions.set(session.id, { ...session, ...fresh })
  }

  read(orgRow: number, id: string, author: string, now: number): AuthorSession | null {
    const session = this.own(orgRow, id, author)
    if (!session) return null
    const { flow, step, code, url, origin, proposals } = session
    const state = stateOf(session, now)
    return { id, flow, step, code, url, origin, state, expiresAt: endOf(session), proposals }
  }

  end(orgRow: number, id: string, author: string): boolean {
    const session = this.own(orgRow, id, author)
    return session !== null && this.sessions.delete(id)
  }

  redeem(spent: Spent, origin: string, tokenSha256: string, now: number): AuthorVisit | null {
    const session = this.spend(spent, origin)
    if (session?.origin !== origin || now >= endOf(session)) return null
    session.visit = { tokenSha256, since: now, usedAt: now }
    return visitOf(session)
  }

  visit(tokenSha256: string, origin: string, now: number): AuthorVisit | null {
    const session = this.enter(tokenSha256, origin, now)
    return session && visitOf(session)
  }

  propose(
    tokenSha256: string,
    origin: string,
    proposal: Omit<Proposal, 'number'>,
    now: number,
  ): boolean {
    const session = this.enter(tokenSha256, origin, now)
    if (!session || session.proposed >= maxProposals) return false
    session.proposals.push({ number: ++session.proposed, ...proposal })
    if (session.proposals.length > maxKeptProposals) session.proposals.shift()
    return true
  }

  /** Forgets sessions that ended a while ago. To be called every so often. */
  expire(now: number): void {
    for (const session of this.sessions.values()) {
      if (now >= forgottenAt(session)) this.sessions.delete(session.id)
    }
  }

  private own(orgRow: number, id: string, author: string): KeptSession | null {
    const session = this.sessions.get(id)
    return session?.orgRow === orgRow && session.author === author ? session : null
  }

  /** The session whose ticket or code this is. It is spent from now on, wherever it came from. */
  private spend({ sha256, isTyped }: Spent, origin: string): KeptSession | null {
    for (const session of this.sessions.values()) {
      // A code is short enough to be guessed elsewhere, so it counts only at its own origin.
      const isIts = isTyped
        ? session.codeSha256 === sha256 && session.origin === origin
        : session.ticketSha256 === sha256
      if (!isIts) continue
      session.ticketSha256 = null
      session.codeSha256 = null
      return session
    }
    if (isTyped) this.noteWrongCode(origin)
    return null
  }

  private noteWrongCode(origin: string): void {
    for (const session of this.sessions.values()) {
      if (session.origin !== origin || session.codeSha256 === null) continue
      if (++session.wrongCodes >= maxWrongCodes) session.codeSha256 = null
    }
  }

  private enter(tokenSha256: string, origin: string, now: number): KeptSession | null {
    for (const session of this.sessions.values()) {
      const { visit } = session
      if (visit?.tokenSha256 !== tokenSha256) continue
      if (session.origin !== origin || now >= endOf(session)) return null
      visit.usedAt = now
      return session
    }
    return null
  }
}
