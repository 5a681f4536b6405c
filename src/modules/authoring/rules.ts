import { AppError } from '../../core/errors.ts'
import { type FlowDefinition, isPromoted } from '../../core/flow/flow.ts'
import { itemsOf } from '../../core/flow/items.ts'
import type {
  AuthoredFlow,
  FlowChange,
  FlowOrigin,
  FlowsRead,
} from '../../storage/interfaces/authoring.ts'
import type { FlowRecord } from './schema.ts'

/**
 * How many flows an organisation may have, not counting archived ones. Every page fetches all
 * published flows, and a push of all of them must not keep a running server from writing for long.
 */
export const maxFlows = 1_000

/** What a push did to a flow. */
export type PushOutcome = 'created' | 'updated' | 'unchanged'

/** What publishing did to a flow. */
export type Publication = 'published' | 'published again' | 'already published'

/** What a change of status did to a flow. */
export type StatusOutcome = Publication | 'changed' | 'unchanged'

/** The decision about one flow: its change, or null if it stays as it is. */
export interface FlowChangeDecision<Outcome> {
  key: string
  outcome: Outcome
  change: FlowChange | null
}

const isEqual = <T>(a: T, b: T) => Bun.deepEquals(a, b, true)

/** The definition that a flow's author wrote last. */
export const newestDefinition = (flow: AuthoredFlow): FlowDefinition =>
  (flow.draft ?? flow.newest?.definition)!

/**
 * The strong ETag (RFC 9110, section 8.8.3) of what an author has read of a flow: its newest definition,
 * its status, and the version that was published last.
 */
export function etagOf(flow: AuthoredFlow): string {
  const { status, draft, newest } = flow
  const read = JSON.stringify([status, newest?.version ?? 0, draft])
  return `"${Bun.hash.xxHash64(read).toString(36)}"`
}

const originOf = ({ source, isLocked }: FlowOrigin): FlowOrigin => ({ source, isLocked })

/**
 * Makes a definition the draft of a flow. If it equals the newest published version, the flow has no draft.
 *
 * @param origin where it comes from; unchanged if absent
 */
export function pushed(
  flow: AuthoredFlow | undefined,
  definition: FlowDefinition,
  origin?: FlowOrigin,
): FlowChangeDecision<PushOutcome> {
  const { key } = definition
  if (!flow) {
    const change: FlowChange = { key, status: 'draft', draft: definition, publish: null }
    if (origin) change.origin = origin
    return { key, outcome: 'created', change }
  }
  const isPublished = flow.newest !== null && isEqual(flow.newest.definition, definition)
  const draft = isPublished ? null : definition
  const isSame = isEqual(flow.draft, draft)
  if (isSame && (!origin || isEqual(originOf(flow), origin))) {
    return { key, outcome: 'unchanged', change: null }
  }
  const change: FlowChange = { key, status: flow.status, draft, publish: null }
  if (origin) change.origin = origin
  return { key, outcome: isSame || isPublished ? 'unchanged' : 'updated', change }
}

/** Publishes a draft as the next version. Without a draft, a withdrawn flow shows its newest version again. */
export function published({ key, status, draft }: AuthoredFlow): FlowChangeDecision<Publication> {
  if (draft !== null) {
    const change: FlowChange = { key, status: 'published', draft: null, publish: draft }
    return { key, outcome: 'published', change }
  }
  if (status === 'published') return { key, outcome: 'already published', change: null }
  const change: FlowChange = { key, status: 'published', draft: null, publish: null }
  return { key, outcome: 'published again', change }
}

/** Takes a flow back to draft, or archives it. */
export function withdrawn(
  { key, status, draft }: AuthoredFlow,
  to: 'draft' | 'archived',
): FlowChangeDecision<StatusOutcome> {
  if (status === to) return { key, outcome: 'unchanged', change: null }
  return { key, outcome: 'changed', change: { key, status: to, draft, publish: null } }
}

/** A flow as it would be after a change at a moment. A new flow has no id yet. */
export function after(
  flow: AuthoredFlow | undefined,
  { key, change }: FlowChangeDecision<unknown>,
  now: number,
): AuthoredFlow {
  const before: AuthoredFlow = flow ?? {
    id: '',
    key,
    status: 'draft',
    draft: null,
    newest: null,
    updatedAt: now,
    source: null,
    isLocked: false,
  }
  if (!change) return before
  const { status, draft, publish, origin } = change
  const version = (before.newest?.version ?? 0) + 1
  const newest = publish ? { version, publishedAt: now, definition: publish } : before.newest
  return { ...before, ...origin, status, draft, newest, updatedAt: now }
}

/** Unlocks a flow that can only be changed in its repository. */
export function unlocked(flow: AuthoredFlow): FlowChangeDecision<StatusOutcome> {
  const { key, status, draft, source, isLocked } = flow
  if (!isLocked) return { key, outcome: 'unchanged', change: null }
  const change = { key, status, draft, publish: null, origin: { source, isLocked: false } }
  return { key, outcome: 'changed', change }
}

/** A flow as the API returns it. */
export function recordOf(flow: AuthoredFlow): FlowRecord {
  const { id, key, status, draft, newest, updatedAt, source, isLocked } = flow
  const definition = newestDefinition(flow)
  const { name, kind, steps } = definition
  return {
    id,
    key,
    name,
    kind,
    status,
    version: newest?.version ?? null,
    publishedAt: newest?.publishedAt ?? null,
    hasDraft: draft !== null,
    updatedAt,
    stepCount: steps.length,
    itemCount: itemsOf(definition).length,
    etag: etagOf(flow),
    source: isPromoted(source) ? null : source,
    ...(isPromoted(source) && { promotedFrom: source }),
    isLocked,
  }
}

/** Flows after a change as the API returns them, with what it did to each. */
export const recordsOf = <Outcome extends { flow: AuthoredFlow }>(changed: readonly Outcome[]) =>
  changed.map(({ flow, ...outcome }) => ({ ...recordOf(flow), ...outcome }))

/** @throws AppError `flow_locked` if the flow can only be changed in its repository */
export function requireUnlocked({ isLocked, source }: AuthoredFlow): void {
  if (!isLocked) return
  const where = source && !isPromoted(source) ? source.repository : 'its repository'
  throw new AppError(
    'flow_locked',
    `The flow can only be changed in ${where}. Change it there, or unlock it`,
  )
}

/** @throws AppError `too_many_flows` if there would be more than an organisation may have */
export function requireRoom(
  { flows, inUse }: Pick<FlowsRead, 'flows' | 'inUse'>,
  changes: readonly FlowChange[],
): void {
  const byKey = new Map(flows.map(flow => [flow.key, flow]))
  const isInUse = (status: string | undefined) =>
    Number(status !== undefined && status !== 'archived')
  const more = changes.reduce(
    (sum, { key, status }) => sum + isInUse(status) - isInUse(byKey.get(key)?.status),
    0,
  )
  const count = inUse + more
  if (more <= 0 || count <= maxFlows) return
  throw new AppError(
    'too_many_flows',
    `An organisation can have at most ${maxFlows} flows that are not archived, and this would make ${count}. Archive some, or leave some out`,
  )
}
