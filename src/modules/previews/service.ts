import { AppError, flowNotFound, unauthorized } from '../../core/errors.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import { pageFlow } from '../../core/flow/forms.ts'
import type { Actor, AuditEntry } from '../../core/organisation/audit.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { newId } from '../../core/organisation/ids.ts'
import {
  endOfPreview,
  maxPreviews,
  previewMark,
  previewMinutes,
} from '../../core/organisation/preview-link.ts'
import { authorSecretHash, newAuthorSecret } from '../../core/organisation/sessions.ts'
import { type Clock, isoTime } from '../../core/time/clock.ts'
import type { FlowStore } from '../../storage/interfaces/authoring.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import type { NewPreview, Preview, PreviewStore } from '../../storage/interfaces/previews.ts'
import { newestDefinition } from '../authoring/rules.ts'
import { pageFor } from './page.ts'
import type { PreviewAnswer } from './schema.ts'

/** What to look at: a stored flow by its key, or a flow that the caller hands in. */
export interface Shown {
  flow: string | FlowDefinition
  url?: string
  minutes?: number
}

/** What the audit log records about a link, never its ticket. */
const noted = ({ id, url, origin, isFile, expiresAt }: Preview) => ({
  ...{ id, url, origin },
  ...(isFile && { isFile }),
  expiresAt: isoTime(expiresAt),
})

/** Shows drafts in the real page to those who hold a link. Nothing that such a page sends changes anything. */
export class Previews {
  constructor(
    private readonly store: PreviewStore,
    private readonly flows: Pick<FlowStore, 'read'>,
    private readonly stores: Pick<GateStores, 'catalogue'>,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError `validation_failed`, `flow_not_found`, `too_many_previews`, `overloaded` */
  async begin(
    organisation: Organisation,
    { flow, url, minutes = previewMinutes.usual }: Shown,
    actor: Actor,
  ): Promise<Preview & { link: string }> {
    const isFile = typeof flow !== 'string'
    const definition = isFile ? flow : await this.stored(organisation, flow)
    if (!definition) throw flowNotFound(String(flow))
    const page = pageFor(url, definition, organisation)
    const ticket = newAuthorSecret()
    const now = this.clock.now()
    const preview: NewPreview = {
      ...{ id: newId('preview'), organisation: organisation.id, flow: definition.key, isFile },
      ...{ url: page.href, origin: page.origin, madeBy: actor.name, madeAt: now },
      expiresAt: endOfPreview(now, minutes),
      ticketSha256: authorSecretHash(ticket)!,
      definition: isFile ? flow : null,
    }
    if (!(await this.store.begin(organisation.ref, preview))) {
      throw new AppError(
        'too_many_previews',
        `There are ${maxPreviews} links to previews already: end one first`,
      )
    }
    const told: Preview = { ...preview, openedAt: null }
    try {
      await this.note(organisation, told, 'flow.preview', actor)
    } catch (error) {
      // A link that is missing in the audit log is never handed out.
      await this.store.end(organisation.ref, preview.id, now)
      throw error
    }
    // After whatever fragment the page itself has.
    return { ...told, link: `${page.href}#${previewMark}=${ticket}` }
  }

  /** Ends a link. Pages that show its draft notice when they next ask. @throws AppError `not_found` */
  async end(organisation: Organisation, id: string, actor: Actor): Promise<void> {
    const ended = await this.store.end(organisation.ref, id, this.clock.now())
    if (!ended) throw new AppError('not_found', 'There is no such preview, or it has ended')
    await this.note(organisation, ended, 'flow.end_preview', actor)
  }

  /** The draft for a page that has a link's ticket and is of its origin. @throws AppError `unauthorized` */
  async look(ticket: string, origin: string | null): Promise<PreviewAnswer> {
    const sha256 = authorSecretHash(ticket)
    const now = this.clock.now()
    const visit = sha256 && origin !== null && (await this.store.visit(sha256, origin, now))
    if (!visit) throw unauthorized('unknown_preview')
    const organisation = this.stores.catalogue().organisationByName(visit.organisation)
    if (!organisation) throw unauthorized('unknown_organisation')
    const definition = visit.definition ?? (await this.stored(organisation, visit.flow))
    if (!definition) throw unauthorized('unknown_preview')
    const flow = pageFlow({ definition, version: 0, publishedAt: now })
    const { theme } = organisation
    return { flow, expiresAt: isoTime(visit.expiresAt), ...(theme && { theme }) }
  }

  /** What the author of a flow wrote last; undefined if there is no such flow. */
  private async stored({ ref }: Organisation, key: string): Promise<FlowDefinition | undefined> {
    const [flow] = (await this.flows.read(ref, [key])).flows
    return flow && newestDefinition(flow)
  }

  private note({ ref }: Organisation, preview: Preview, action: string, actor: Actor) {
    const isBegun = action === 'flow.preview'
    const entry: AuditEntry = {
      ...{ at: this.clock.now(), actor, action, subject: preview.flow, note: null },
      before: isBegun ? null : noted(preview),
      after: isBegun ? noted(preview) : null,
    }
    return this.store.note(ref, entry)
  }
}
