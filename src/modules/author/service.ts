import { invalid, unauthorized } from '../../core/errors.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { newId } from '../../core/organisation/ids.ts'
import {
  authorSecretHash,
  isTypedCode,
  newAuthorSecret,
  newMatchingCode,
  newTypedCode,
  typedCodeHash,
} from '../../core/organisation/sessions.ts'
import { allowedFingerprint } from '../../core/step/fingerprint-parts.ts'
import { judgeSelector, mayNamePerson } from '../../core/step/proposal.ts'
import type { Clock } from '../../core/time/clock.ts'
import type {
  AuthorStore,
  AuthorVisit,
  NewAuthorSession,
  Spent,
} from '../../storage/interfaces/author.ts'
import type { FlowStore } from '../../storage/interfaces/authoring.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import { newestDefinition } from '../authoring/rules.ts'
import type { PickBody, VisitAnswer } from './schema.ts'

/** A session that has just begun, with the secrets that are returned only this once. */
export interface BegunSession extends NewAuthorSession {
  ticket: string
  typedCode: string
  openAddress: string
}

const wrongUrl = (message: string) => invalid({ path: '/url', message })

/** The URL of a page on which elements may be picked. @throws AppError `validation_failed` */
export function pageOf(url: string, { origins }: Pick<Organisation, 'origins'>): URL {
  const page = URL.parse(url)
  if (page === null || !/^https?:$/.test(page.protocol)) {
    throw wrongUrl('Must be the whole address of a page, with https:// or http://')
  }
  if (page.username !== '' || page.password !== '') {
    throw wrongUrl('Must have no user name and no password in it')
  }
  if (origins !== null && !origins.has(page.origin)) {
    throw wrongUrl("Must be of one of the organisation's origins, which its settings list")
  }
  return page
}

/**
 * Authoring on a page: the page proposes elements, and whoever began the session accepts them or not.
 * Nothing that a page sends changes a flow.
 */
export class AuthorVisits {
  constructor(
    private readonly store: AuthorStore,
    private readonly flows: Pick<FlowStore, 'read'>,
    private readonly stores: Pick<GateStores, 'catalogue'>,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError `validation_failed`, `overloaded` */
  async begin(
    organisation: Organisation,
    author: string,
    { flow, step, url }: { flow: string; step: string; url: string },
  ): Promise<BegunSession> {
    const page = pageOf(url, organisation)
    const ticket = newAuthorSecret()
    const typedCode = newTypedCode()
    const session: NewAuthorSession = {
      ...{ flow, step, author, url: page.href, origin: page.origin },
      id: newId('author'),
      organisation: organisation.id,
      code: newMatchingCode(),
      ticketSha256: authorSecretHash(ticket)!,
      codeSha256: typedCodeHash(typedCode),
      begunAt: this.clock.now(),
    }
    await this.store.begin(organisation.ref, session)
    return { ...session, ticket, typedCode, openAddress: `${page.href}#cairn-author=${ticket}` }
  }

  /**
   * Admits a page that has the ticket, or the code, of a session for its own origin.
   *
   * @throws AppError `unauthorized` for every other page, without a reason
   */
  async redeem(
    { ticket, code }: { ticket?: string; code?: string },
    origin: string | null,
  ): Promise<VisitAnswer & { token: string }> {
    const spent = spentBy(ticket, code)
    if (!spent || origin === null) throw unauthorized('unknown_author_ticket')
    const token = newAuthorSecret()
    const now = this.clock.now()
    const visit = await this.store.redeem(spent, origin, authorSecretHash(token)!, now)
    if (!visit) throw unauthorized('unknown_author_ticket')
    return { token, ...(await this.told(visit)) }
  }

  /** What an admitted page may know. @throws AppError `unauthorized` */
  async look(token: string, origin: string | null): Promise<VisitAnswer> {
    const sha256 = authorSecretHash(token)
    const now = this.clock.now()
    const visit = sha256 && origin !== null && (await this.store.visit(sha256, origin, now))
    if (!visit) throw unauthorized('unknown_author_token')
    return this.told(visit)
  }

  /** Keeps a page's proposal for the author. @throws AppError `unauthorized`, `validation_failed` */
  async propose(token: string, origin: string | null, pick: PickBody): Promise<void> {
    const sha256 = authorSecretHash(token)
    if (sha256 === null || origin === null) throw unauthorized('unknown_author_token')
    const page = URL.parse(pick.page)
    if (page?.origin !== origin) {
      throw invalid({ path: '/page', message: 'Must be the address of the page that sends it' })
    }
    const print = allowedFingerprint(pick.fingerprint)
    const words = [pick.element, print.name, print.text, print.ariaLabel]
    const now = this.clock.now()
    const proposal = {
      at: now,
      page: page.origin + page.pathname,
      element: pick.element,
      candidates: pick.candidates.map(sent => ({ ...sent, ...judgeSelector(sent.selector) })),
      fingerprint: print,
      isWrapper: pick.isWrapper ?? false,
      mayNamePerson: words.some(word => word !== undefined && mayNamePerson(word)),
    }
    const isKept = await this.store.propose(sha256, origin, proposal, now)
    if (!isKept) throw unauthorized('unknown_author_token')
  }

  /** Reads the step anew each time, because its author may have edited it meanwhile. */
  private async told({ organisation, flow, step, code }: AuthorVisit): Promise<VisitAnswer> {
    const known = this.stores.catalogue().organisationByName(organisation)
    if (!known) throw unauthorized('unknown_organisation')
    const [stored] = (await this.flows.read(known.ref, [flow])).flows
    const drafted = stored && newestDefinition(stored).steps.find(({ key }) => key === step)
    const draft = drafted && { title: drafted.title, selector: drafted.target?.selector ?? null }
    return { flow, step, code, draft: draft ?? null }
  }
}

function spentBy(ticket: string | undefined, code: string | undefined): Spent | null {
  if ((ticket === undefined) === (code === undefined)) return null
  if (ticket !== undefined) {
    const sha256 = authorSecretHash(ticket)
    return sha256 === null ? null : { sha256, isTyped: false }
  }
  const typed = code!.trim().toUpperCase()
  return isTypedCode(typed) ? { sha256: typedCodeHash(typed), isTyped: true } : null
}
