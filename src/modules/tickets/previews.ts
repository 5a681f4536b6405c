import { AppError, flowNotFound, invalid, unauthorized } from '../../core/errors.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import { pageFlow } from '../../core/flow/forms.ts'
import type { FlowWork } from '../../core/flow/work.ts'
import type { Auditor } from '../../core/organisation/audit.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { newId } from '../../core/organisation/ids.ts'
import {
  newTicketSecret,
  previewMinutes,
  ticketSecretHash,
} from '../../core/organisation/ticket.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { isoTime } from '../../core/time/clock.ts'
import { minuteMs } from '../../core/time/durations.ts'
import type { Preview, PreviewTicket, TicketStore } from '../../storage/interfaces/tickets.ts'
import { definitionsIn } from '../authoring/requests.ts'
import { newestDefinition } from '../authoring/rules.ts'
import { previewPageOf } from './page.ts'
import type { NewPreview, PreviewedFlow } from './schema.ts'
import { addTicket, type Holder, openedTicket, type TicketDeps } from './tickets.ts'

/** A link without its secret. */
function previewOf({ kind, organisation, sha256, definition, ...preview }: PreviewTicket): Preview {
  return preview
}

/** What the audit log records about a link. */
const auditedOf = ({ id, url, origin, isFile, expiresAt }: PreviewTicket) => ({
  id,
  url,
  origin,
  ...(isFile && { isFile }),
  expiresAt: isoTime(expiresAt),
})

/**
 * Creates a link that shows a stored draft, or a flow from the request. It is returned here and never again.
 *
 * @throws AppError `validation_failed`, `flow_not_found`, `too_many_previews`, `overloaded`
 */
export async function createPreview(
  deps: TicketDeps & { flowWork: FlowWork },
  organisation: Organisation,
  { flow: key, definition: written, url, minutes = previewMinutes.default }: NewPreview,
  { madeBy, now, audit }: { madeBy: string; now: number; audit: Auditor },
): Promise<Preview & { link: string }> {
  if ((key === undefined) === (written === undefined)) {
    throw invalid({ path: '/flow', message: 'Is required, unless there is a definition' })
  }
  const definition = written ? await definitionIn(written, organisation.ref, deps.flowWork) : null
  const shown = definition ?? (await storedFlow(deps, organisation, key!))
  if (!shown) throw flowNotFound(key!)
  const page = previewPageOf(url, shown, organisation)
  const secret = newTicketSecret()
  const ticket: PreviewTicket = {
    kind: 'preview',
    id: newId('preview'),
    organisation: organisation.id,
    sha256: ticketSecretHash(secret),
    flow: shown.key,
    definition,
    isFile: definition !== null,
    url: page.href,
    origin: page.origin,
    madeBy,
    madeAt: now,
    expiresAt: now + minutes * minuteMs,
    openedAt: null,
  }
  await deps.tickets.use(tickets => addTicket(tickets, ticket, now))
  const entry = audit('flow.preview', ticket.flow, { after: auditedOf(ticket) })
  try {
    await deps.tickets.note(organisation.ref, entry)
  } catch (error) {
    // A link that is missing in the audit log is never returned.
    await deps.tickets.use(tickets => tickets.delete(ticket.id))
    throw error
  }
  // After whatever fragment the page itself has.
  return { ...previewOf(ticket), link: `${page.href}#cairn-preview=${secret}` }
}

/** The links that work, newest first. */
export async function listPreviews(
  store: TicketStore,
  organisation: Organisation,
  now: number,
): Promise<Preview[]> {
  const working = await store.use(tickets =>
    [...tickets.values()].filter(
      ticket =>
        ticket.kind === 'preview' &&
        ticket.organisation === organisation.id &&
        now < ticket.expiresAt,
    ),
  )
  const previews = working.map(ticket => previewOf(ticket as PreviewTicket))
  return previews.toSorted((a, b) => a.madeAt - b.madeAt).reverse()
}

/** Revokes a link. Pages that show its draft notice at their next load. @throws AppError `not_found` */
export async function endPreview(
  store: TicketStore,
  organisation: Organisation,
  id: string,
  { now, audit }: { now: number; audit: Auditor },
): Promise<void> {
  const ended = await store.use(tickets => {
    const ticket = tickets.get(id)
    if (ticket?.kind !== 'preview' || ticket.organisation !== organisation.id) return null
    tickets.delete(id)
    return ticket
  })
  if (!ended || now >= ended.expiresAt)
    throw new AppError('not_found', 'Preview link not found, or it has ended.')
  const entry = audit('flow.end_preview', ended.flow, { before: auditedOf(ended) })
  await store.note(organisation.ref, entry)
}

/** The draft for a page that holds a link. @throws AppError `unauthorized` */
export async function previewedFlow(
  deps: TicketDeps,
  holder: Holder,
  now: number,
): Promise<PreviewedFlow> {
  const ticket = await deps.tickets.use(tickets => {
    const opened = openedTicket(tickets, 'preview', holder, now)
    if (opened) opened.openedAt = now
    return opened
  })
  if (!ticket) throw unauthorized('unknown_preview')
  const organisation = deps.stores.catalogue().organisationByName(ticket.organisation)
  if (!organisation) throw unauthorized('unknown_organisation')
  const definition = ticket.definition ?? (await storedFlow(deps, organisation, ticket.flow))
  if (!definition) throw unauthorized('unknown_preview')
  const flow = pageFlow({ definition, version: 0, publishedAt: now })
  const { theme } = organisation
  return { flow, expiresAt: isoTime(ticket.expiresAt), ...(theme && { theme }) }
}

/** @throws AppError `validation_failed` */
async function definitionIn(
  written: unknown,
  orgRef: OrganisationRef,
  flowWork: FlowWork,
): Promise<FlowDefinition> {
  const [definition] = await definitionsIn(
    [{ flow: written, path: '/definition' }],
    orgRef,
    flowWork,
  )
  return definition!
}

/** What the author of a flow wrote last; undefined if there is no such flow. */
export async function storedFlow(
  { flows }: Pick<TicketDeps, 'flows'>,
  { ref }: Organisation,
  key: string,
): Promise<FlowDefinition | undefined> {
  const [flow] = (await flows.read(ref, [key])).flows
  return flow && newestDefinition(flow)
}
