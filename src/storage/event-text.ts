import { eventKinds, kindCode } from '../core/event.ts'
import type { NewEvent } from '../core/ports.ts'

/**
 * Events as they pass between threads: their values one after the other, with NUL between, which no
 * text of an event contains. What an event lacks is left out, and a number of bits says what is
 * there. It costs less than half of JSON on either side, and this is done for every event.
 */

const between = '\0'

/** What an event may lack, by the bit that says that it is there. */
const has = {
  userId: 1 << 0,
  anonymousId: 1 << 1,
  flowRow: 1 << 2,
  flowVersion: 1 << 3,
  stepRow: 1 << 4,
  itemRow: 1 << 5,
  runId: 1 << 6,
  sessionId: 1 << 7,
  reportedAt: 1 << 8,
  url: 1 << 9,
  name: 1 << 10,
  reason: 1 << 11,
  properties: 1 << 12,
} as const

export function encodeEvents(events: readonly NewEvent[]): string {
  let text = ''
  for (const event of events) {
    let bits = 0
    let rest = ''
    const add = (bit: number, value: string | number | null) => {
      if (value === null) return
      bits |= bit
      rest += between + value
    }
    add(has.userId, event.userId)
    add(has.anonymousId, event.anonymousId)
    add(has.flowRow, event.flowRow)
    add(has.flowVersion, event.flowVersion)
    add(has.stepRow, event.stepRow)
    add(has.itemRow, event.itemRow)
    add(has.runId, event.runId)
    add(has.sessionId, event.sessionId)
    add(has.reportedAt, event.reportedAt)
    add(has.url, event.url)
    add(has.name, event.name)
    add(has.reason, event.reason)
    add(has.properties, event.properties)
    text += `${between}${event.id}${between}${kindCode[event.kind]}${between}${event.occurredAt}${between}${bits}${rest}`
  }
  return text
}

/** @param values what stands behind each NUL of the text */
export function decodeEvents(values: readonly string[]): NewEvent[] {
  const events: NewEvent[] = []
  let at = 0
  const text = (isThere: number) => (isThere ? values[at++]! : null)
  const number = (isThere: number) => (isThere ? Number(values[at++]) : null)
  while (at < values.length) {
    const id = values[at]!
    const kind = eventKinds[Number(values[at + 1])]!
    const occurredAt = Number(values[at + 2])
    const bits = Number(values[at + 3])
    at += 4
    events.push({
      id,
      kind,
      userId: text(bits & has.userId),
      anonymousId: text(bits & has.anonymousId),
      flowRow: number(bits & has.flowRow),
      flowVersion: number(bits & has.flowVersion),
      stepRow: number(bits & has.stepRow),
      itemRow: number(bits & has.itemRow),
      runId: text(bits & has.runId),
      sessionId: text(bits & has.sessionId),
      occurredAt,
      reportedAt: number(bits & has.reportedAt),
      url: text(bits & has.url),
      name: text(bits & has.name),
      reason: text(bits & has.reason),
      properties: text(bits & has.properties),
    })
  }
  return events
}
