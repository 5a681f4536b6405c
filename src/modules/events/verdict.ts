import {
  type EventKind,
  needsFlow,
  needsItem,
  needsStep,
  type RejectionCode,
} from '../../core/event/event.ts'
import type { NewEvent } from '../../core/event/stored-event.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import {
  type Catalogue,
  type FlowEntry,
  type ItemEntry,
  latestVersion,
  type Organisation,
  type StepEntry,
} from '../../core/organisation/catalogue.ts'
import { newEventId } from '../../core/organisation/ids.ts'
import type { FlowRef, ItemRef, StepRef } from '../../core/reference.ts'
import { parseTime } from '../../core/time/rfc3339.ts'
import { shapeOf } from '../../http/checked.ts'
import { isCleanText } from '../../http/shapes.ts'
import { Event, propertyBounds } from './model.ts'
import { type PropertiesFault, propertiesOf, type SentBatch } from './properties.ts'
import type { BatchUserHashes } from './user-hashes.ts'

/** Why an event is not kept, in words that say what to change. */
export interface Rejection {
  code: RejectionCode
  message: string
}

/** What a whole batch has in common. */
export interface BatchContext {
  organisation: Organisation
  receivedAt: number
  /** Added to every time that the sender gave; 0 where its clock is near enough. */
  correctionMs: number
  /** Events before this are not taken. */
  oldestAt: number
  /** The batch as it was sent. */
  sent: SentBatch
  /** Null where the organisation does not look at them. */
  userHashes: BatchUserHashes | null
}

const shape = shapeOf(Event)

const reject = (code: RejectionCode, message: string): Rejection => ({ code, message })

const foreign = reject('unauthorized', 'This belongs to another organisation')

const unproven = {
  missing: reject('unauthorized', 'Identities are verified: send the userHash of this userId'),
  wrong: reject('unauthorized', 'The userHash is not that of this userId'),
}

const isRejection = (value: unknown): value is Rejection =>
  typeof value === 'object' && value !== null && 'code' in value

const areClean = (event: Event) =>
  isClean(event.id) &&
  isClean(event.userId) &&
  isClean(event.anonymousId) &&
  isClean(event.runId) &&
  isClean(event.sessionId) &&
  isClean(event.url) &&
  isClean(event.name) &&
  isClean(event.reason)

const isClean = (text: string | null | undefined) => !text || isCleanText(text)

/** The rules that the shape cannot say. */
function ruleBroken(event: Event): Rejection | null {
  const kind: EventKind = event.kind
  if (!event.userId && !event.anonymousId) {
    return reject('invalid', 'Name a userId or an anonymousId')
  }
  if (kind === 'custom' && !event.name) return reject('invalid', 'A custom event needs a name')
  if (needsFlow(kind) && !event.flowId) return reject('invalid', `${kind} needs a flowId`)
  if (needsStep(kind) && !event.stepId) return reject('invalid', `${kind} needs a stepId`)
  if (needsItem(kind) && !event.itemId) return reject('invalid', `${kind} needs an itemId`)
  if (!areClean(event)) return reject('invalid', 'Texts must be well-formed Unicode without NUL')
  return null
}

const ofProperties: Readonly<Record<PropertiesFault, Rejection>> = {
  'too many keys': reject('too_large', `properties may have at most ${propertyBounds.keys} keys`),
  'too deep': reject(
    'too_large',
    `properties may be nested at most ${propertyBounds.depth} levels deep`,
  ),
  'too large': reject(
    'too_large',
    `properties may take at most ${propertyBounds.bytes} bytes of JSON`,
  ),
  'beyond 2^53': reject(
    'invalid',
    'properties hold a number beyond 2^53: send it as text, it would change',
  ),
  inexact: reject(
    'invalid',
    'properties hold a number with more digits than are kept: send it as text, it would change',
  ),
}

interface Names {
  flowRef: FlowRef | null
  stepRef: StepRef | null
  itemRef: ItemRef | null
}

/** What an event names, as the catalogue knows it, whoever owns it. */
export interface Named {
  flow: FlowEntry | null
  step: StepEntry | null
  item: ItemEntry | null
}

/** Null where there is no text, or an empty one. */
const idIn = (sent: unknown, name: 'flowId' | 'stepId' | 'itemId') => {
  const id = (sent as Record<string, unknown> | null)?.[name]
  return typeof id === 'string' && id !== '' ? id : null
}

/** Looks up what an event names, of whatever shape it is. */
export function namedBy(sent: unknown, catalogue: Catalogue): MaybePromise<Named> {
  const flowId = idIn(sent, 'flowId')
  const stepId = idIn(sent, 'stepId')
  const itemId = idIn(sent, 'itemId')
  const flow = flowId === null ? null : catalogue.flow(flowId)
  const step = stepId === null ? null : catalogue.step(stepId)
  const item = itemId === null ? null : catalogue.item(itemId)
  if (flow instanceof Promise || step instanceof Promise || item instanceof Promise) {
    return Promise.all([flow, step, item]).then(([flow, step, item]) => ({ flow, step, item }))
  }
  return { flow, step, item }
}

/** Whether anything of it belongs to another organisation. */
const isForeign = ({ flow, step, item }: Named, { ref }: Organisation) =>
  (flow !== null && flow.organisation.ref !== ref) ||
  (step !== null && step.flow.organisation.ref !== ref) ||
  (item !== null && item.flow.organisation.ref !== ref)

/** Why an event whose shape is wrong is refused: even then, whose flow it names counts first. */
function misshapen(sent: unknown, named: Named, { organisation }: BatchContext): Rejection {
  if (isForeign(named, organisation)) return foreign
  const [problem] = shape.problemsIn(sent)
  return reject('invalid', `${problem?.path || 'The event'}: ${problem?.message ?? 'Is not valid'}`)
}

/** Flow, step and item. They must be the organisation's, once published, and belong together. */
function namesOf(event: Event, named: Named, { organisation }: BatchContext): Names | Rejection {
  if (isForeign(named, organisation)) return foreign
  const { flow, step, item } = named
  const newest = flow && latestVersion(flow)
  if (event.flowId && newest === null) {
    return reject('unknown_flow', 'No flow with this flowId was ever published')
  }
  const isOfFlow = (part: StepEntry | ItemEntry | null) =>
    part?.isPublished && (!flow || part.flow.ref === flow.ref)
  if (event.stepId && !isOfFlow(step)) {
    return reject('unknown_step', 'The flow never had a step with this stepId')
  }
  if (event.itemId && !isOfFlow(item)) {
    return reject('unknown_item', 'The flow never had an item with this itemId')
  }
  if (newest !== null && event.flowVersion && event.flowVersion > newest) {
    return reject('invalid', 'This flowVersion was never published')
  }
  return { flowRef: flow?.ref ?? null, stepRef: step?.ref ?? null, itemRef: item?.ref ?? null }
}

/**
 * When an event occurred: corrected for the sender's clock, and never after its receipt.
 * An event without a time occurred now.
 */
function timeOf(
  event: Event,
  context: BatchContext,
): { occurredAt: number; reportedAt: number | null } | Rejection {
  const given = event.occurredAt ?? null
  if (given === null) return { occurredAt: context.receivedAt, reportedAt: null }
  const reportedAt = parseTime(given)
  if (reportedAt === null) {
    return reject('invalid', 'occurredAt must be an RFC 3339 time or epoch milliseconds')
  }
  const occurredAt = Math.min(reportedAt + context.correctionMs, context.receivedAt)
  if (occurredAt < context.oldestAt) {
    return reject('too_old', 'This occurred longer ago than events are kept')
  }
  return { occurredAt, reportedAt }
}

/**
 * One event of a batch: as it will be stored, or why not.
 *
 * @param index its place in the batch, from 0
 * @param named as `namedBy` finds it
 */
export function judge(
  sent: unknown,
  index: number,
  named: Named,
  context: BatchContext,
): NewEvent | Rejection {
  if (!shape.fits(sent)) return misshapen(sent, named, context)
  // Before all other rules: a batch in which nothing may be said by this caller is a 401.
  const names = namesOf(sent, named, context)
  if (isRejection(names)) return names
  const doubt = sent.userId ? context.userHashes?.refusalOf(sent.userId, sent.userHash) : null
  if (doubt) return doubt === 'missing' ? unproven.missing : unproven.wrong
  const broken = ruleBroken(sent)
  if (broken) return broken
  const properties = sent.properties ? propertiesOf(sent.properties, index, context.sent) : null
  if (properties?.fault) return ofProperties[properties.fault]
  const time = timeOf(sent, context)
  if (isRejection(time)) return time
  return {
    id: sent.id ?? newEventId(),
    kind: sent.kind,
    userId: sent.userId ?? null,
    anonymousId: sent.anonymousId ?? null,
    flowRef: names.flowRef,
    stepRef: names.stepRef,
    itemRef: names.itemRef,
    flowVersion: sent.flowVersion ?? null,
    runId: sent.runId ?? null,
    sessionId: sent.sessionId ?? null,
    occurredAt: time.occurredAt,
    reportedAt: time.reportedAt,
    url: sent.url ?? null,
    name: sent.name ?? null,
    reason: sent.reason ?? null,
    properties: properties?.text ?? null,
  }
}
