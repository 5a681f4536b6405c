import type { Static } from '@sinclair/typebox'
import { AppError, unauthorized } from '../../core/errors.ts'
import { pageFlow } from '../../core/flow/forms.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import {
  attendedMs,
  maxBuildRequests,
  maxChanges,
  maxWaitingChanges,
  maxWaitingText,
} from '../../core/organisation/ticket.ts'
import type { AuthorTicket, TicketStore } from '../../storage/interfaces/tickets.ts'
import { ownSession, type SessionOfAuthor, visitedSession } from './author-sessions.ts'
import { storedFlow } from './previews.ts'
import { type BuiltDraft, maxStartable, type NewChange, type SettledChanges } from './schema.ts'
import type { Holder, TicketDeps } from './tickets.ts'

/**
 * A page on which an author builds proposes changes of one draft. Nothing here writes it: the author's
 * dashboard reads the changes, saves them with the author's own rights, and says so.
 */

/** The session of a page that builds. Pages that pick an element have none. @throws AppError `unauthorized`, `rate_limited` */
function building<Result>(
  store: TicketStore,
  holder: Holder,
  now: number,
  work: (session: AuthorTicket) => Result,
): Promise<Result> {
  return store.use(tickets => {
    const session = visitedSession(tickets, holder, now)
    if (session?.task !== 'build') throw unauthorized('unknown_author_token')
    const second = Math.floor(now / 1_000)
    const count = session.requests.second === second ? session.requests.count + 1 : 1
    session.requests = { second, count }
    if (count > maxBuildRequests) {
      throw new AppError('rate_limited', 'Rate limit exceeded', { retryAfterSeconds: 1 })
    }
    return work(session)
  })
}

/** Stores a change for the author's dashboard, once. @throws AppError `unauthorized`, `too_many_changes` */
export async function proposeChange(
  store: TicketStore,
  holder: Holder,
  { id, change }: NewChange,
  now: number,
): Promise<void> {
  await building(store, holder, now, session => {
    if (session.changeIds.includes(id)) return
    const waiting = [...session.changes, { number: session.changeCount + 1, at: now, change }]
    if (
      waiting.length > maxWaitingChanges ||
      session.changeCount >= maxChanges ||
      JSON.stringify(waiting).length > maxWaitingText
    ) {
      throw new AppError('too_many_changes', 'Open the dashboard: too many changes wait for it')
    }
    session.changes = waiting
    session.changeCount++
    session.changeIds = [...session.changeIds, id].slice(-2 * maxWaitingChanges)
  })
}

/** The stored draft of a page that builds, and how far the dashboard has come. @throws AppError `unauthorized` */
export async function builtDraft(
  deps: TicketDeps,
  holder: Holder,
  known: string | undefined,
  now: number,
): Promise<BuiltDraft> {
  const { organisation: name, ...session } = await building(
    deps.tickets,
    holder,
    now,
    ({ organisation, flow, settled, attendedAt, changes, changeIds }) => {
      // Of all ids, the last ones are those that wait.
      const waiting = changes.length === 0 ? [] : changeIds.slice(-changes.length)
      return { organisation, flow, settled, attendedAt, waiting }
    },
  )
  const organisation = deps.stores.catalogue().organisationByName(name)
  if (!organisation) throw unauthorized('unknown_organisation')
  const definition = await storedFlow(deps, organisation, session.flow)
  if (!definition) throw unauthorized('unknown_author_token')
  const flow = pageFlow({ definition, version: 0, publishedAt: 0 })
  const { theme } = organisation
  const tag = new Bun.CryptoHasher('sha256').update(JSON.stringify([flow, theme])).digest('base64')
  return {
    tag,
    ...(tag !== known && {
      flow,
      ...(theme && { theme }),
      startable: await startableFlows(deps, organisation, session.flow),
    }),
    isAttended: now - session.attendedAt < attendedMs,
    waiting: session.waiting,
    problem: session.settled.problem,
    undos: session.settled.undos,
  }
}

/** What a button of a flow can start, by name: other flows that visitors get, without what is in them. */
async function startableFlows(
  { flows }: Pick<TicketDeps, 'flows'>,
  { ref }: Organisation,
  but: string,
): Promise<NonNullable<BuiltDraft['startable']>> {
  const all = (await flows.read(ref)).flows
  return all
    .flatMap(({ key, status, newest }) => {
      const { name, kind } = newest?.definition ?? {}
      const isOffered = status === 'published' && key !== but && kind !== 'launcher'
      return isOffered && name !== undefined && kind !== undefined ? [{ key, name, kind }] : []
    })
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .slice(0, maxStartable)
}

/** Forgets the changes that the dashboard has settled, and keeps what it says for the page. @throws AppError `not_found` */
export async function settleChanges(
  store: TicketStore,
  own: SessionOfAuthor,
  { number, problem, undos }: Static<typeof SettledChanges>,
  now: number,
): Promise<void> {
  await store.use(tickets => {
    const session = ownSession(tickets, own)
    session.attendedAt = now
    session.settled = { problem, undos }
    session.changes = session.changes.filter(change => change.number > number)
  })
}
