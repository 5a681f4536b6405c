import { type EventSource, eventKinds, kindCode } from '../../../core/event/event.ts'
import type { NewEvent, StoredEvent } from '../../shared/in-rows.ts'
import { type EventFacts, factOf, type LedgerFact } from '../projections/facts.ts'

/**
 * Events as the ledger keeps them: two JSON objects, each in a line of its own. A field has an array with the value
 * of each event, or that of all if it is the same, and is left out if that is null. The first line has what
 * projections need, the second what only exports show.
 */

/** An event that says nothing. Cairn's own events begin with it. */
export const noEvent: Omit<NewEvent, 'id' | 'kind'> = {
  userId: null,
  anonymousId: null,
  flowRef: null,
  flowVersion: null,
  stepRef: null,
  itemRef: null,
  runId: null,
  sessionId: null,
  occurredAt: 0,
  reportedAt: null,
  url: null,
  name: null,
  reason: null,
  properties: null,
  traits: null,
  answer: null,
}

type Value = string | number | null

function columnOf(values: readonly Value[]): Value | readonly Value[] | undefined {
  const [first] = values
  return values.some(value => value !== first) ? values : (first ?? undefined)
}

/** @param receivedAts when each of the events was received, epoch milliseconds */
export function encodeEvents(events: readonly NewEvent[], receivedAts: readonly number[]): string {
  const facts = {
    id: columnOf(events.map(({ id }) => id)),
    kind: columnOf(events.map(({ kind }) => kindCode[kind])),
    userId: columnOf(events.map(({ userId }) => userId)),
    anonymousId: columnOf(events.map(({ anonymousId }) => anonymousId)),
    flowRef: columnOf(events.map(({ flowRef }) => flowRef)),
    flowVersion: columnOf(events.map(({ flowVersion }) => flowVersion)),
    stepRef: columnOf(events.map(({ stepRef }) => stepRef)),
    itemRef: columnOf(events.map(({ itemRef }) => itemRef)),
    runId: columnOf(events.map(({ runId }) => runId)),
    sessionId: columnOf(events.map(({ sessionId }) => sessionId)),
    occurredAt: columnOf(events.map(({ occurredAt }) => occurredAt)),
    url: columnOf(events.map(({ url }) => url)),
    name: columnOf(events.map(({ name }) => name)),
    traits: columnOf(events.map(({ traits }) => traits)),
    answer: columnOf(events.map(({ answer }) => answer)),
  }
  const details = {
    receivedAt: columnOf(receivedAts),
    reportedAt: columnOf(events.map(({ reportedAt }) => reportedAt)),
    reason: columnOf(events.map(({ reason }) => reason)),
    properties: columnOf(events.map(({ properties }) => properties)),
  }
  return `${JSON.stringify(facts)}\n${JSON.stringify(details)}`
}

/** Gives for each field the function from an event's place to its value. */
function fieldsOf(json: string) {
  const columns = JSON.parse(json) as Record<string, unknown>
  return <Field extends Value>(name: keyof StoredEvent): ((place: number) => Field) => {
    const column = columns[name] ?? null
    return Array.isArray(column) ? place => column[place] : () => column as Field
  }
}

/** The first line of the text, and the second. */
function linesOf(text: string): [facts: string, details: string] {
  const end = text.indexOf('\n')
  return [text.slice(0, end), text.slice(end + 1)]
}

function factsReader(json: string): (place: number) => EventFacts {
  const field = fieldsOf(json)
  const text = field<string | null>
  const number = field<number | null>
  const [id, kind, occurredAt] = [
    field<string>('id'),
    field<number>('kind'),
    field<number>('occurredAt'),
  ]
  const [userId, anonymousId] = [text('userId'), text('anonymousId')]
  const [flowRef, flowVersion] = [number('flowRef'), number('flowVersion')]
  const [stepRef, itemRef] = [number('stepRef'), number('itemRef')]
  const [runId, sessionId, name] = [text('runId'), text('sessionId'), text('name')]
  const [url, traits, answer] = [text('url'), text('traits'), text('answer')]
  return place => ({
    id: id(place),
    kind: eventKinds[kind(place)]!,
    userId: userId(place),
    anonymousId: anonymousId(place),
    flowRef: flowRef(place),
    flowVersion: flowVersion(place),
    stepRef: stepRef(place),
    itemRef: itemRef(place),
    runId: runId(place),
    sessionId: sessionId(place),
    occurredAt: occurredAt(place),
    url: url(place),
    name: name(place),
    traits: traits(place),
    answer: answer(place),
  })
}

/** What the first so many events of a text say, as far as anything follows from it. */
export function decodeFacts(
  text: string,
  events: number,
  orgRow: number,
  source: EventSource,
): LedgerFact[] {
  const facts = factsReader(linesOf(text)[0])
  return Array.from({ length: events }, (_, place) => factOf(orgRow, facts(place), source))
}

export function decodeEvents(text: string, events: number, source: EventSource): StoredEvent[] {
  const [first, second] = linesOf(text)
  const facts = factsReader(first)
  const field = fieldsOf(second)
  const receivedAt = field<number>('receivedAt')
  const reportedAt = field<number | null>('reportedAt')
  const [reason, properties] = [field<string | null>('reason'), field<string | null>('properties')]
  return Array.from({ length: events }, (_, place) => ({
    ...facts(place),
    receivedAt: receivedAt(place),
    reportedAt: reportedAt(place),
    reason: reason(place),
    properties: properties(place),
    source,
  }))
}
