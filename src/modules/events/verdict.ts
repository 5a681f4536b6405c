import {
  type EventKind,
  type NewEvent,
  needsFlow,
  needsItem,
  needsStep,
  type RejectionCode,
} from '../../core/event/event.ts'
import { isStartReason, startReasonTrait } from '../../core/event/start-reason.ts'
import { listedTraits } from '../../core/event/traits.ts'
import { type Answer, fitsQuestion, maxAnswerLength } from '../../core/flow/answer.ts'
import type { Question } from '../../core/flow/question.ts'
import {
  type Catalogue,
  type FlowEntry,
  type ItemEntry,
  latestVersion,
  type Organisation,
  type StepEntry,
} from '../../core/organisation/catalogue.ts'
import { newEventId } from '../../core/organisation/ids.ts'
import {
  isRejected,
  judgeUserHash,
  noUserHashes,
  type UserHashVerdict,
  type VerifiedIdentity,
} from '../../core/organisation/verified-identity.ts'
import type { FlowRef, ItemRef, StepRef } from '../../core/reference.ts'
import { parseTime } from '../../core/time/clock.ts'
import { isCleanText, shapeOf } from '../../http/input.ts'
import { Event, propertyBounds } from './schema.ts'

/**
 * Judges and counts the user hashes of one batch, with one HMAC per user, however many events name them.
 * Caching hashes across batches saved a seventh of the time at best, and cost half as much again when they
 * were not in the cache.
 */
export class BatchUserHashes {
  readonly counts = { ...noUserHashes }
  private readonly verdicts = new Map<string, UserHashVerdict>()

  /** @param now epoch milliseconds */
  constructor(
    private readonly identity: VerifiedIdentity,
    private readonly now: number,
  ) {}

  /** @returns why an event that names this user is not kept; null if it may be kept */
  problemWith(userId: string, sent: string | null | undefined): UserHashVerdict | null {
    // Includes the length, so that no two different pairs give the same text.
    const pair = `${userId.length} ${userId}${sent ?? ''}`
    const verdict = this.verdicts.get(pair) ?? judgeUserHash(this.identity, userId, sent, this.now)
    this.verdicts.set(pair, verdict)
    this.counts[verdict]++
    return this.identity.isEnforced && isRejected(verdict) ? verdict : null
  }
}

/** Why an event is not kept, in a sentence that says what to change. */
export interface Rejection {
  code: RejectionCode
  message: string
}

/** What all events of a batch have in common. */
export interface BatchContext {
  organisation: Organisation
  receivedAt: number
  /** Added to every time that the sender gave; 0 if its clock is close enough. */
  correctionMs: number
  /** Older events are rejected. */
  oldestAt: number
  /**
   * Whether a text in the batch may contain NUL or half a surrogate pair: UTF-8 cannot contain such a half, and JSON
   * cannot contain NUL, except by an escape. One search in the body spares one for each text of each event.
   */
  hasEscapes: boolean
  /** Null if the organisation does not check user hashes. */
  userHashes: BatchUserHashes | null
}

const shape = shapeOf(Event)

const reject = (code: RejectionCode, message: string): Rejection => ({ code, message })

const foreign = reject('unauthorized', 'This belongs to another organisation')

const unverified = {
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

/** The rules that the shape cannot express. */
function ruleBroken(event: Event, hasEscapes: boolean): Rejection | null {
  const kind: EventKind = event.kind
  if (!event.userId && !event.anonymousId) {
    return reject('invalid', 'Name a userId or an anonymousId')
  }
  if (kind === 'custom' && !event.name) return reject('invalid', 'A custom event needs a name')
  if (needsFlow(kind) && !event.flowId) return reject('invalid', `${kind} needs a flowId`)
  if (needsStep(kind) && !event.stepId) return reject('invalid', `${kind} needs a stepId`)
  if (needsItem(kind) && !event.itemId) return reject('invalid', `${kind} needs an itemId`)
  if (hasEscapes && !areClean(event)) {
    return reject('invalid', 'Texts must be well-formed Unicode without NUL')
  }
  return null
}

type Properties = Readonly<Record<string, unknown>>

/** Why properties are not kept. */
type PropertiesProblem = 'too many keys' | 'too deep' | 'too large' | 'beyond 2^53'

/**
 * Whether a number can be what its sender meant. 1e999 would become null, and a whole number beyond 2^53 has
 * usually been rounded without its sender knowing.
 */
const isPlausible = (value: number) =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))

/** Walks through the values of one event, and stops as soon as there are certainly too many. */
class PropertiesWalk {
  /** Bytes of JSON that are still allowed. */
  private left = propertyBounds.bytes

  /** What is wrong in a value that may be `depth` levels deep. */
  problemIn(value: unknown, depth: number): PropertiesProblem | null {
    // Includes the comma or brace after the value. Escapes and other scripts only make it longer.
    this.left -= typeof value === 'string' ? value.length + 3 : 2
    if (this.left < 0) return 'too large'
    if (typeof value === 'number') return isPlausible(value) ? null : 'beyond 2^53'
    if (typeof value !== 'object' || value === null) return null
    if (depth === 0) return 'too deep'
    for (const part of Array.isArray(value) ? value : Object.values(value)) {
      const problem = this.problemIn(part, depth - 1)
      if (problem) return problem
    }
    return null
  }
}

interface PropertiesVerdict {
  text: string | null
  problem: PropertiesProblem | null
}

const rejected = (problem: PropertiesProblem): PropertiesVerdict => ({ text: null, problem })

/** The JSON text of an event's properties, or why they are not kept. */
function propertiesOf(properties: Properties): PropertiesVerdict {
  const { keys, depth, bytes } = propertyBounds
  if (Object.keys(properties).length > keys) return rejected('too many keys')
  const problem = new PropertiesWalk().problemIn(properties, depth)
  if (problem) return rejected(problem)
  const text = JSON.stringify(properties)
  // A UTF-16 unit takes at most three bytes, so most texts need not be measured.
  if (text.length * 3 > bytes && Buffer.byteLength(text) > bytes) return rejected('too large')
  return { text, problem: null }
}

/** What an answer adds to the counts, or what is wrong with it. */
type AnswerVerdict = { counted: string } | { problem: string }

/** Stands in for a text answer, whose words are only in the properties. */
const inWords = JSON.stringify('')

const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'number' ||
  (typeof value === 'string' && isCleanText(value)) ||
  (Array.isArray(value) && value.every(key => typeof key === 'string'))

/**
 * Judges the answer to a question by every question that its step ever had, because a page may show an older version of the flow.
 *
 * @param questions newest first
 */
function judgeAnswer(answer: unknown, questions: readonly Question[]): AnswerVerdict {
  if (questions.length === 0) return { problem: 'This step never had a question' }
  if (answer === undefined) return { problem: 'question_answered needs properties.answer' }
  if (!isAnswer(answer)) {
    return { problem: 'properties.answer must be a number, a text or a list of keys' }
  }
  const fitting = questions.find(question => fitsQuestion(question, answer))
  if (!fitting) {
    const problem =
      typeof answer === 'string' && answer.length > maxAnswerLength
        ? `properties.answer may have at most ${maxAnswerLength} characters`
        : 'properties.answer fits no question that this step ever had'
    return { problem }
  }
  if (fitting.type === 'text') return { counted: inWords }
  // Sorted, so that the same answer always gives the same text.
  return { counted: JSON.stringify(Array.isArray(answer) ? answer.toSorted() : answer) }
}

const ofProperties: Readonly<Record<PropertiesProblem, Rejection>> = {
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
}

interface Names {
  flowRef: FlowRef | null
  stepRef: StepRef | null
  itemRef: ItemRef | null
}

/** What an event names, as found in the catalogue, whichever organisation owns it. */
export interface NamedParts {
  flow: FlowEntry | null
  step: StepEntry | null
  item: ItemEntry | null
}

/** Null if there is no text, or an empty one. */
const idIn = (sent: unknown, name: 'flowId' | 'stepId' | 'itemId') => {
  const id = (sent as Record<string, unknown> | null)?.[name]
  return typeof id === 'string' && id !== '' ? id : null
}

/** Looks up what an event names. The event may have any shape. */
export function namedBy(sent: unknown, catalogue: Catalogue): NamedParts {
  const flowId = idIn(sent, 'flowId')
  const stepId = idIn(sent, 'stepId')
  const itemId = idIn(sent, 'itemId')
  return {
    flow: flowId === null ? null : catalogue.flow(flowId),
    step: stepId === null ? null : catalogue.step(stepId),
    item: itemId === null ? null : catalogue.item(itemId),
  }
}

/** Whether any of it belongs to another organisation. */
const isForeign = ({ flow, step, item }: NamedParts, { ref }: Organisation) =>
  (flow !== null && flow.organisation.ref !== ref) ||
  (step !== null && step.flow.organisation.ref !== ref) ||
  (item !== null && item.flow.organisation.ref !== ref)

/** Why an event of the wrong shape is rejected. Even then, naming another organisation's flow counts first. */
function misshapen(sent: unknown, named: NamedParts, { organisation }: BatchContext): Rejection {
  if (isForeign(named, organisation)) return foreign
  const [problem] = shape.problemsIn(sent)
  return reject('invalid', `${problem?.path || 'The event'}: ${problem?.message ?? 'Is not valid'}`)
}

/** The flow, step and item of an event. They must be the organisation's, once published, and belong together. */
function namesOf(
  event: Event,
  named: NamedParts,
  { organisation }: BatchContext,
): Names | Rejection {
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

const tooOldBySentAt =
  'By sentAt, the clock of the sender is ahead, so this occurred longer ago than events are kept: correct sentAt, or leave it out'

/**
 * When an event occurred: corrected for the sender's clock, and never after its receipt.
 * An event without a time occurred now.
 */
function timeOf(
  event: Event,
  context: BatchContext,
): { occurredAt: number; reportedAt: number | null } | Rejection {
  const sent = event.occurredAt ?? null
  if (sent === null) return { occurredAt: context.receivedAt, reportedAt: null }
  const reportedAt = parseTime(sent)
  if (reportedAt === null) {
    return reject('invalid', 'occurredAt must be an RFC 3339 time or epoch milliseconds')
  }
  const occurredAt = Math.min(reportedAt + context.correctionMs, context.receivedAt)
  if (occurredAt < context.oldestAt) {
    const isBySentAt = reportedAt >= context.oldestAt
    return reject(
      'too_old',
      isBySentAt ? tooOldBySentAt : 'This occurred longer ago than events are kept',
    )
  }
  return { occurredAt, reportedAt }
}

/** The traits that the organisation lists, and what started the run. All else is dropped as if it was not sent. */
function traitsOf({ kind, traits, reason }: Event, { traits: names }: Organisation): string | null {
  if (kind !== 'flow_started') return null
  const listed = traits ? Object.entries(listedTraits(names, traits) ?? {}) : []
  const stored = listed.filter(([, value]) => isCleanText(value))
  if (isStartReason(reason)) stored.push([startReasonTrait, reason])
  return stored.length > 0 ? JSON.stringify(Object.fromEntries(stored)) : null
}

/** What an answered question adds to the counts; null for all other events. */
function answerOf({ kind, properties }: Event, { step }: NamedParts): string | null | Rejection {
  if (kind !== 'question_answered' || !step) return null
  const verdict = judgeAnswer(properties?.answer, step.flow.questions.get(step.ref) ?? [])
  return 'problem' in verdict ? reject('invalid', verdict.problem) : verdict.counted
}

/**
 * Judges one event of a batch: returns it as it will be stored, or why it is rejected.
 *
 * @param named the result of `namedBy`
 */
export function judge(
  sent: unknown,
  named: NamedParts,
  context: BatchContext,
): NewEvent | Rejection {
  if (!shape.fits(sent)) return misshapen(sent, named, context)
  // Before all other rules, because a batch in which this caller may not say anything is a 401.
  const names = namesOf(sent, named, context)
  if (isRejection(names)) return names
  const hashProblem = sent.userId
    ? context.userHashes?.problemWith(sent.userId, sent.userHash)
    : null
  if (hashProblem) return hashProblem === 'missing' ? unverified.missing : unverified.wrong
  const broken = ruleBroken(sent, context.hasEscapes)
  if (broken) return broken
  const properties = sent.properties ? propertiesOf(sent.properties) : null
  if (properties?.problem) return ofProperties[properties.problem]
  const answer = answerOf(sent, named)
  if (isRejection(answer)) return answer
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
    traits: traitsOf(sent, context.organisation),
    answer,
  }
}
