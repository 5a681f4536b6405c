import { AppError, flowNotFound } from '../../core/errors.ts'
import type { FlowDefinition } from '../../core/flow/flow.ts'
import { foreignOrigins, promotionStateOf } from '../../core/flow/promotion.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { patientSlices } from '../../scheduling/cooperative.ts'
import type { AuthoredFlow, FlowStore } from '../../storage/interfaces/authoring.ts'
import { etagOf, newestDefinition, requireUnlocked } from '../authoring/rules.ts'
import {
  type Authoring,
  baselineOf,
  type Expected,
  expectationOf,
  type Flows,
  pushFlows,
  withLastChange,
} from '../authoring/service.ts'
import type { Compared, ProductionFlow, StagingFlow } from './schema.ts'

/**
 * Promotes flows of a staging organisation to its production. Of staging, only flows are read and nothing
 * is changed.
 */

/** Whether the published version or the draft of a flow in staging is promoted. */
type Side = 'published' | 'draft'

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

/** @throws AppError `flow_not_found`, `version_not_found` */
async function stagedFlow(
  store: FlowStore,
  { ref }: Organisation,
  key: string,
  side: Side | undefined,
): Promise<Staged> {
  const [flow] = (await store.read(ref, [key])).flows
  if (!flow || !isInUse(flow)) throw flowNotFound(key)
  const staged = sideOf(flow, side)
  if (staged) return staged
  throw new AppError('version_not_found', 'The flow was never published there: promote its draft')
}

/** What the audit log and notes call the promoted flow. */
const named = ({ slug }: Organisation, { flow, side }: Staged) =>
  side === 'draft' && flow.draft ? `${slug}, its draft` : `${slug} version ${flow.newest?.version}`

const production = ({ newest, draft, status, isLocked }: AuthoredFlow): ProductionFlow => ({
  version: newest?.version ?? null,
  hasDraft: draft !== null,
  status,
  isLocked,
})

const staging = ({ flow: { newest, draft, status }, side }: Staged): StagingFlow => ({
  side,
  version: newest?.version ?? null,
  hasDraft: draft !== null,
  status,
})

/** The flows of both organisations by key, with how they compare. */
export async function comparedFlows(
  store: FlowStore,
  here: Organisation,
  there: Organisation,
): Promise<Compared[]> {
  const tried = (await store.read(there.ref)).flows.filter(isInUse)
  const own = new Map((await store.read(here.ref)).flows.map(flow => [flow.key, flow]))
  const slices = patientSlices()
  const compared: Compared[] = []
  for (const flow of tried) {
    await slices.rest()
    const { key } = flow
    const staged = sideOf(flow, undefined)!
    const ownFlow = own.get(key)
    own.delete(key)
    const state = promotionStateOf(staged.definition, ownFlow ? newestDefinition(ownFlow) : null)
    const { name } = staged.definition
    const ours = ownFlow ? production(ownFlow) : null
    compared.push({ key, name, state, staging: staging(staged), production: ours })
  }
  for (const flow of own.values()) {
    if (!isInUse(flow)) continue
    const { key, name } = newestDefinition(flow)
    compared.push({ key, name, state: 'missing', staging: null, production: production(flow) })
  }
  return compared.sort((a, b) => (a.key < b.key ? -1 : 1))
}

/** What promoting a flow would change. @throws AppError `flow_not_found`, `version_not_found` */
export async function promotionDifference(
  flows: Flows,
  here: Organisation,
  there: Organisation,
  key: string,
  side: Side | undefined,
) {
  const { store, flowWork, orgRef } = flows
  const staged = await stagedFlow(store, there, key, side)
  const own = (await store.read(orgRef, [key])).flows[0] ?? null
  const before = own && newestDefinition(own)
  const to = `${key} (${named(there, staged)})`
  const difference = before
    ? await flowWork(
        orgRef,
        'flowDifference',
        await baselineOf(flows, key, before),
        staged.definition,
        [`${key} (${own.draft ? 'draft' : `version ${own.newest?.version}`})`, to],
      )
    : await flowWork(orgRef, 'newFlowDifference', staged.definition, [key, to])
  return {
    ...difference,
    key,
    state: promotionStateOf(staged.definition, before),
    staging: { ...staging(staged), etag: etagOf(staged.flow) },
    production: own && { ...production(own), etag: etagOf(own) },
    foreignOrigins: foreignOrigins(staged.definition, there.origins, here.origins),
  }
}

/**
 * Makes what was read in staging the draft here, and publishes it if `publish` is set.
 *
 * @param requested.stagingEtag the ETag of what was read in staging
 * @param requested.isExpected checks what was read here
 * @throws AppError `flow_not_found`, `version_not_found`, `precondition_failed`, `flow_locked`, and what
 *   a push throws
 */
export async function promoteFlow(
  authoring: Authoring,
  here: Organisation,
  there: Organisation,
  key: string,
  requested: {
    side: Side | undefined
    stagingEtag: string
    isExpected: Expected
    publish: boolean
  },
) {
  const { store, audit, note } = authoring
  const { side, stagingEtag, isExpected, publish } = requested
  const staged = await stagedFlow(store, there, key, side)
  const { flow, definition } = staged
  const isRead = expectationOf(stagingEtag, null)
  await withLastChange({ ...authoring, orgRef: there.ref }, () => isRead(flow, key))
  const isDraft = staged.side === 'draft' && flow.draft !== null
  const version = isDraft ? null : (flow.newest?.version ?? null)
  const source = { organisation: there.slug, version }
  const after = { to: here.slug, version, publish }
  const promoter = { ...authoring, note: note ?? `promoted from ${named(there, staged)}` }
  return pushFlows(promoter, [definition], {
    publish,
    isExpected(flow) {
      isExpected(flow, key)
      if (flow) requireUnlocked(flow)
    },
    origins: new Map([[key, { source, isLocked: false }]]),
    action: 'flow.promote',
    witness: { org: there.ref, entry: audit('flow.promoted', key, { after }) },
  })
}
