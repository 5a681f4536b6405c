import { AppError, flowNotFound } from '../../core/errors.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import { foreignOrigins, promotionStateOf } from '../../core/flow/promotion.ts'
import type { FlowWork } from '../../core/flow/work.ts'
import type { Actor } from '../../core/organisation/audit.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { type Clock, isoTimeOrNull } from '../../core/time/clock.ts'
import { patientSlices } from '../../scheduling/cooperative.ts'
import type { AuthoredFlow, FlowStore } from '../../storage/interfaces/authoring.ts'
import type { LinkedOrganisation } from '../../storage/interfaces/environments.ts'
import type { GateStores } from '../../storage/interfaces/gate.ts'
import { etagOf, newestDefinition, requireUnlocked } from '../authoring/rules.ts'
import { Authoring, type By, type Expected } from '../authoring/service.ts'

/** Whether the published version or the draft of a flow in staging is promoted. */
export type Side = 'published' | 'draft'

/** The flow and definition that is promoted. */
interface Staged {
  flow: AuthoredFlow
  side: Side
  definition: FlowDefinition
}

const isInUse = ({ status }: AuthoredFlow) => status !== 'archived'

/**
 * By default the version that was published last, because that is what was tried. A flow that was never
 * published only has its draft.
 */
function sideOf(flow: AuthoredFlow, requested: Side | undefined): Staged | null {
  const side = requested ?? (flow.newest ? 'published' : 'draft')
  const definition = side === 'draft' ? newestDefinition(flow) : flow.newest?.definition
  return definition ? { flow, side, definition } : null
}

/** What the audit log and notes call the promoted flow. */
const named = ({ slug }: LinkedOrganisation, { flow, side }: Staged) =>
  side === 'draft' && flow.draft ? `${slug}, its draft` : `${slug} version ${flow.newest?.version}`

/**
 * Takes flows over from an organisation in which they were tried. Nothing but its flows is read and nothing
 * in it is changed. Each statement names the one organisation that it is about.
 */
export class Promotion {
  private readonly authoring: Authoring

  constructor(
    private readonly flows: FlowStore,
    private readonly stores: Pick<GateStores, 'catalogue'>,
    private readonly flowWork: FlowWork,
    private readonly clock: Clock,
  ) {
    this.authoring = new Authoring(flows, flowWork, clock)
  }

  /** The flows of both organisations by key, with what each is in the other. */
  async compared(production: Organisation, staging: LinkedOrganisation) {
    const there = (await this.authoring.flows(staging.ref)).filter(isInUse)
    const here = await this.authoring.flows(production.ref)
    const known = new Map(here.map(flow => [flow.key, flow]))
    const tried = new Set(there.map(({ key }) => key))
    const slices = patientSlices()
    const compared = []
    for (const flow of there) {
      await slices.rest()
      const staged = sideOf(flow, undefined)!
      const own = known.get(flow.key) ?? null
      const state = promotionStateOf(staged.definition, own && newestDefinition(own))
      compared.push({ key: flow.key, name: staged.definition.name, state, staged, own })
    }
    for (const own of here) {
      if (!isInUse(own) || tried.has(own.key)) continue
      const { name } = newestDefinition(own)
      compared.push({ key: own.key, name, state: 'missing' as const, staged: null, own })
    }
    return compared.sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  /** What would change here. @throws AppError `flow_not_found`, `version_not_found` */
  async difference(
    production: Organisation,
    staging: LinkedOrganisation,
    key: string,
    side: Side | undefined,
  ) {
    const staged = await this.staged(staging, key, side)
    const own = (await this.flows.read(production.ref, [key])).flows[0] ?? null
    const before = own && newestDefinition(own)
    const to = `${key} (${named(staging, staged)})`
    const other = this.stores.catalogue().organisationByName(staging.id)
    const { ref } = production
    const difference = before
      ? await this.flowWork(
          ref,
          'flowDifference',
          await this.baseline(production, key, before),
          staged.definition,
          [`${key} (${own.draft ? 'draft' : `version ${own.newest?.version}`})`, to],
        )
      : await this.flowWork(ref, 'newFlowDifference', staged.definition, [key, to])
    return {
      staged,
      own,
      state: promotionStateOf(staged.definition, before),
      difference,
      foreignOrigins: foreignOrigins(staged.definition, other?.origins ?? null, production.origins),
    }
  }

  /**
   * Makes what was read in staging the draft here, and publishes it if that is asked for.
   *
   * @param stagingEtag the ETag of what was read in staging
   * @param isExpected checks what was read here
   * @throws AppError `flow_not_found`, `version_not_found`, `precondition_failed`, `flow_locked`, and what
   *   a push throws
   */
  async promote(
    production: Organisation,
    staging: LinkedOrganisation,
    key: string,
    requested: {
      side: Side | undefined
      stagingEtag: string
      isExpected: Expected
      publish: boolean
    },
    by: By,
  ) {
    const staged = await this.staged(staging, key, requested.side)
    await this.requireRead(staging, staged.flow, requested.stagingEtag)
    const { publish, isExpected } = requested
    const isDraft = staged.side === 'draft' && staged.flow.draft !== null
    const version = isDraft ? null : (staged.flow.newest?.version ?? null)
    const [promoted] = await this.authoring.push(
      production.ref,
      [staged.definition],
      { ...by, note: by.note ?? `promoted from ${named(staging, staged)}` },
      {
        publish,
        isExpected(flow) {
          isExpected(flow, key)
          if (flow) requireUnlocked(flow)
        },
        origins: new Map([
          [key, { source: { organisation: staging.slug, version }, isLocked: false }],
        ]),
        action: 'flow.promote',
        witness: {
          org: staging.ref,
          entry: this.told(by.actor, key, { to: production.slug, version, publish }),
        },
      },
    )
    return promoted!
  }

  private told(actor: Actor, subject: string, after: Record<string, unknown>) {
    const at = this.clock.now()
    return { at, actor, action: 'flow.promoted', subject, before: null, after, note: null }
  }

  private async staged({ ref }: LinkedOrganisation, key: string, side: Side | undefined) {
    const [flow] = (await this.flows.read(ref, [key])).flows
    if (!flow || !isInUse(flow)) throw flowNotFound(key)
    const staged = sideOf(flow, side)
    if (staged) return staged
    throw new AppError('version_not_found', 'The flow was never published there: promote its draft')
  }

  /** @throws AppError `precondition_failed`, with who changed the flow meanwhile */
  private async requireRead(
    { ref }: LinkedOrganisation,
    flow: AuthoredFlow,
    etag: string,
  ): Promise<void> {
    if (etag === '*' || etag === etagOf(flow)) return
    const last = await this.flows.lastChange(ref, flow.key)
    throw new AppError('precondition_failed', 'The flow is no longer what you have read', {
      fields: {
        etag: etagOf(flow),
        changedBy: last?.by ?? null,
        changedAt: isoTimeOrNull(last?.at ?? null),
      },
    })
  }

  private async baseline({ ref }: Organisation, key: string, definition: FlowDefinition) {
    const { stepKeys, itemKeys } = await this.flows.publishedParts(ref, key)
    return { definition, stepKeys: new Set(stepKeys), itemKeys: new Set(itemKeys) }
  }
}
