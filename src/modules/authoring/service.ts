import { AppError, flowNotFound, invalid, type Problem } from '../../core/errors.ts'
import type { FlowDifference } from '../../core/flow/difference.ts'
import type { FlowDefinition, FlowStatus } from '../../core/flow/flow.ts'
import type { StoredVersion } from '../../core/flow/forms.ts'
import type { FlowWork } from '../../core/flow/work.ts'
import type { AuditEntry, Auditor } from '../../core/organisation/audit.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { revised } from '../../core/revised.ts'
import { isoTimeOrNull } from '../../core/time/clock.ts'
import { patientSlices } from '../../scheduling/cooperative.ts'
import type {
  AuthoredFlow,
  FlowChanges,
  FlowOrigin,
  FlowStore,
  StoredChange,
} from '../../storage/interfaces/authoring.ts'
import {
  after,
  etagOf,
  type FlowChangeDecision,
  newestDefinition,
  type Publication,
  type PushOutcome,
  published,
  pushed,
  requireRoom,
  requireUnlocked,
  type StatusOutcome,
  unlocked,
  withdrawn,
} from './rules.ts'

/** The flows of an organisation. */
export interface Flows {
  store: FlowStore
  flowWork: FlowWork
  orgRef: OrganisationRef
}

/** The same for somebody who may change them. */
export interface Authoring extends Flows {
  audit: Auditor
  /** Epoch milliseconds. */
  now: number
  note: string | null
}

/** A flow after an operation, and the status before; null for a new flow. */
interface Changed {
  flow: AuthoredFlow
  before: FlowStatus | null
}

export interface PushOptions {
  publish?: boolean
  /** Returns what would be done, and does nothing. */
  isTrial?: boolean
  isExpected?: Expected
  /** Where flows come from, by their keys; unchanged if absent. */
  origins?: ReadonlyMap<string, FlowOrigin>
  /** The action in the audit log, if it is not a push. */
  action?: string
  witness?: FlowChanges['witness']
}

/**
 * Throws if a flow is not the one that the caller has read.
 *
 * @throws AppError `precondition_failed`, `precondition_required`
 */
export type Expected = (flow: AuthoredFlow | null, key: string) => void

const anything: Expected = () => {}

const changedMeanwhile = (fields: Record<string, unknown>) =>
  new AppError('precondition_failed', 'The flow has changed since you read it', { fields })

/**
 * What the headers of a request require of a flow (RFC 9110, sections 13.1.1 and 13.1.2). `If-Match`: the
 * flow has one of these tags, compared strongly, or exists if it is `*`. `If-None-Match: *`: the flow does
 * not exist.
 */
export function expectationOf(ifMatch: string | null, ifNoneMatch: string | null): Expected {
  const tags = ifMatch?.split(',').map(tag => tag.trim()) ?? []
  return (flow, key) => {
    if (ifMatch === null && ifNoneMatch?.trim() !== '*') {
      throw new AppError(
        'precondition_required',
        'Send the ETag that you have read as If-Match, or If-None-Match: * for a new flow',
      )
    }
    if (flow === null ? ifMatch === null : tags.includes('*') || tags.includes(etagOf(flow))) return
    throw changedMeanwhile({ key, etag: flow && etagOf(flow) })
  }
}

/** If a flow is not what the caller has read, adds to the error who changed it and when. */
export async function withLastChange<T>(
  { store, orgRef }: Flows,
  check: () => T | Promise<T>,
): Promise<T> {
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'precondition_failed') throw error
    const { key, etag } = error.fields as { key: string; etag: string | null }
    const last = await store.lastChange(orgRef, key)
    const changedAt = isoTimeOrNull(last?.at ?? null)
    throw changedMeanwhile({ etag, changedBy: last?.by ?? null, changedAt })
  }
}

/** @throws AppError `flow_not_found` */
export async function flowNamed({ store, orgRef }: Flows, key: string): Promise<AuthoredFlow> {
  const [flow] = (await store.read(orgRef, [key])).flows
  if (!flow) throw flowNotFound(key)
  return flow
}

/** @throws AppError `flow_not_found`, `version_not_found` */
export async function versionOf(
  flows: Flows,
  key: string,
  version: number,
): Promise<StoredVersion> {
  await flowNamed(flows, key)
  const found = await flows.store.version(flows.orgRef, key, version)
  if (!found) throw versionNotFound()
  return found
}

const versionNotFound = () =>
  new AppError('version_not_found', 'The flow has no version with this number')

/** What would change if one side, `draft` or a version, replaced the other. @throws AppError */
export async function differenceOf(
  flows: Flows,
  key: string,
  from: string | undefined,
  to = 'draft',
): Promise<FlowDifference> {
  const flow = await flowNamed(flows, key)
  const sideOf = async (side: string): Promise<FlowDefinition> =>
    side === 'draft'
      ? newestDefinition(flow)
      : (await versionOf(flows, key, Number(side))).definition
  const before = from ?? String(flow.newest?.version ?? 'draft')
  const named = (side: string) => `${key} (${side === 'draft' ? side : `version ${side}`})`
  const baseline = await baselineOf(flows, key, await sideOf(before))
  const names: [string, string] = [named(before), named(to)]
  return flows.flowWork(flows.orgRef, 'flowDifference', baseline, await sideOf(to), names)
}

/** A definition of a flow, for another to be compared with it. */
export async function baselineOf(flows: Flows, key: string, definition: FlowDefinition) {
  const { stepKeys, itemKeys } = await flows.store.publishedParts(flows.orgRef, key)
  return { definition, stepKeys: new Set(stepKeys), itemKeys: new Set(itemKeys) }
}

/**
 * Makes each definition the draft of its flow, all or none, and publishes them if `publish` is set.
 *
 * @throws AppError `too_many_flows`; `validation_failed` if something to be published has mistakes
 */
export async function pushFlows(
  authoring: Authoring,
  definitions: readonly FlowDefinition[],
  options: PushOptions = {},
): Promise<(Changed & { outcome: PushOutcome; publication: Publication | null })[]> {
  const { publish = false, isExpected = anything, origins } = options
  const { action = publish ? 'flow.push_and_publish' : 'flow.push' } = options
  const keys = definitions.map(({ key }) => key)
  type PushDecision = FlowChangeDecision<PushOutcome> & { publication: Publication | null }
  const decide = async (flows: ByKey): Promise<PushDecision[]> => {
    for (const key of keys) isExpected(flows.get(key) ?? null, key)
    const pushes = definitions.map(definition =>
      pushed(flows.get(definition.key), definition, origins?.get(definition.key)),
    )
    if (!publish) return pushes.map(push => ({ ...push, publication: null }))
    const drafts = pushes.map(push => after(flows.get(push.key), push, authoring.now))
    await requireSound(authoring, drafts)
    return pushes.map((push, index) => {
      const { change, outcome: publication } = published(drafts[index]!)
      const origin = push.change?.origin
      if (change && origin) change.origin = origin
      return { ...push, change: change ?? push.change, publication }
    })
  }
  return change(authoring, keys, { ...options, action }, decide)
}

/**
 * Publishes drafts as the next version, or shows withdrawn flows again, all or none.
 *
 * @throws AppError `flow_not_found`; `validation_failed` with every mistake in what would be shown
 */
export const publishFlows = (
  authoring: Authoring,
  keys: readonly string[],
  isExpected: Expected = anything,
) =>
  changeStatus(authoring, keys, 'flow.publish', published, async flows => {
    for (const flow of flows) isExpected(flow, flow.key)
    await requireSound(authoring, flows)
  })

/** Hides flows from pages, all or none. @throws AppError `flow_not_found` */
export const withdrawFlows = (
  authoring: Authoring,
  keys: readonly string[],
  to: 'draft' | 'archived',
) =>
  changeStatus(authoring, keys, to === 'draft' ? 'flow.unpublish' : 'flow.archive', flow =>
    withdrawn(flow, to),
  )

/** Unlocks a flow that can only be changed in its repository. @throws AppError `flow_not_found` */
export async function unlockFlow(authoring: Authoring, key: string): Promise<AuthoredFlow> {
  const [changed] = await changeStatus(authoring, [key], 'flow.unlock', unlocked)
  return changed!.flow
}

/** Makes a definition the draft of the flow with its key, or makes that flow. */
export async function putDraft(
  authoring: Authoring,
  definition: FlowDefinition,
  isExpected: Expected,
): Promise<AuthoredFlow> {
  const { key } = definition
  const [changed] = await change(authoring, [key], { action: 'flow.edit' }, flows => {
    const flow = flows.get(key)
    isExpected(flow ?? null, key)
    if (flow) requireUnlocked(flow)
    return [pushed(flow, definition)]
  })
  return changed!.flow
}

/**
 * Makes another definition of a flow its draft.
 *
 * @param edited returns the new draft for the flow as it is; called again if somebody else changed the
 *   organisation first
 * @throws AppError `flow_not_found`, and what `isExpected` and `edited` throw
 */
export async function editDraft(
  authoring: Authoring,
  key: string,
  { isExpected, action }: { isExpected: Expected; action: string },
  edited: (flow: AuthoredFlow) => FlowDefinition,
): Promise<AuthoredFlow> {
  const [changed] = await change(authoring, [key], { action }, flows => {
    const flow = flows.get(key)
    if (!flow) throw flowNotFound(key)
    isExpected(flow, key)
    requireUnlocked(flow)
    return [pushed(flow, edited(flow))]
  })
  return changed!.flow
}

/** Discards a draft. @throws AppError `version_not_found` if the flow was never published */
export const discardDraft = (authoring: Authoring, key: string, isExpected: Expected) =>
  editDraft(authoring, key, { isExpected, action: 'flow.discard' }, ({ newest }) => {
    if (!newest) throw versionNotFound()
    return newest.definition
  })

/**
 * Makes an older version the draft again, and publishes it if `publish` is set. It gets a new number,
 * because numbers only grow.
 */
export async function restoreVersion(
  authoring: Authoring,
  key: string,
  version: number,
  options: { publish: boolean; isExpected: Expected },
) {
  const { definition } = await versionOf(authoring, key, version)
  const noted = { ...authoring, note: authoring.note ?? `version ${version}` }
  return pushFlows(noted, [definition], { ...options, action: 'flow.restore' })
}

/**
 * Checks what pages would be shown of flows, which may have been stored under older rules.
 *
 * @throws AppError `validation_failed`
 */
async function requireSound({ flowWork, orgRef }: Flows, flows: readonly AuthoredFlow[]) {
  const problems: Problem[] = []
  for (const flow of flows) {
    if (flow.draft === null && flow.status === 'published') continue
    const errors = await flowWork(orgRef, 'storedFlowErrors', newestDefinition(flow))
    problems.push(...errors.map(({ path, message }) => ({ path: `/${flow.key}${path}`, message })))
  }
  if (problems.length > 0) throw invalid(...problems)
}

function changeStatus<Outcome extends StatusOutcome>(
  authoring: Authoring,
  keys: readonly string[],
  action: string,
  decide: (flow: AuthoredFlow) => FlowChangeDecision<Outcome>,
  check: (flows: readonly AuthoredFlow[]) => Promise<void> = async () => {},
): Promise<(Changed & { outcome: Outcome })[]> {
  const unique = [...new Set(keys)]
  return change(authoring, unique, { action }, async flows => {
    const missing = unique.filter(key => !flows.has(key))
    if (missing.length > 0) throw flowNotFound(...missing)
    const selected = unique.map(key => flows.get(key)!)
    await check(selected)
    return selected.map(decide)
  })
}

type ByKey = ReadonlyMap<string, AuthoredFlow>

/**
 * Decides changes from what was read, and makes them; decides again if somebody else changed the
 * organisation first.
 */
async function change<D extends FlowChangeDecision<string>>(
  authoring: Authoring,
  keys: readonly string[],
  { action, isTrial = false, witness }: PushOptions & { action: string },
  decide: (flows: ByKey) => readonly D[] | Promise<readonly D[]>,
): Promise<(Changed & Omit<D, 'key' | 'change'>)[]> {
  const { store, orgRef, now } = authoring
  // With fifty flows each of these takes milliseconds, in which pages would wait, so others get a turn in
  // between.
  const slices = patientSlices()
  return revised(async () => {
    await slices.rest()
    const read = await store.read(orgRef, keys)
    await slices.rest()
    const before = new Map(read.flows.map(flow => [flow.key, flow]))
    const decisions = await withLastChange(authoring, () => decide(before))
    const changes = decisions.flatMap(({ change }) => change ?? [])
    requireRoom(read, changes)
    const { revision } = read
    const audit = entriesOf(authoring, action, decisions, before)
    await slices.rest()
    const isUnchanged = changes.length === 0 || isTrial
    const stored = isUnchanged
      ? []
      : await store.change(orgRef, { revision, changes, audit, ...(witness && { witness }) })
    if (stored === null) return null
    const storedByKey = new Map(stored.map(one => [one.key, one]))
    return decisions.map(decision => {
      const { key, change: _, ...rest } = decision
      const flow = asStored(after(before.get(key), decision, now), storedByKey.get(key))
      return { ...rest, flow, before: before.get(key)?.status ?? null }
    })
  })
}

/** A flow after its change, with what only storage knows about it. */
function asStored(flow: AuthoredFlow, stored: StoredChange | undefined): AuthoredFlow {
  if (!stored) return flow
  const { id, updatedAt, publishedAt } = stored
  const newest = flow.newest && { ...flow.newest, publishedAt: publishedAt! }
  return { ...flow, id, updatedAt, newest }
}

function entriesOf(
  { audit, now, note }: Authoring,
  action: string,
  decisions: readonly FlowChangeDecision<string>[],
  flows: ByKey,
): AuditEntry[] {
  const audited = ({ status, newest, draft, source, isLocked }: AuthoredFlow) => ({
    status,
    version: newest?.version ?? null,
    hasDraft: draft !== null,
    ...(source && { source }),
    ...(isLocked && { isLocked: true }),
  })
  return decisions.flatMap(decision => {
    if (!decision.change) return []
    const flow = flows.get(decision.key)
    const before = flow ? audited(flow) : null
    const state = audited(after(flow, decision, now))
    return audit(action, decision.key, { before, after: state, note })
  })
}
