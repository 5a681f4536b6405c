import { dayMs } from '../../../src/core/time/durations.ts'

/** An organisation with one flow. */
export interface Tenant {
  snippetKey: string
  flowId: string
  stepIds: string[]
}

/**
 * A long history of one flow, the same each time it is made, so that any of its events can be sent
 * again: runs of ten events each, in the order in which they began, evenly over so many calendar days
 * of UTC, today included.
 */
export interface History {
  tenant: Tenant
  ids: 'v7' | 'v4'
  runs: number
  people: number
  days: number
  /** When it ends, epoch milliseconds. */
  until: number
}

export const eventsOfRun = 10

/** How long before its end a history's last run begins, so that none of its events is in the future. */
const lastMs = 3_600_000

/** As many runs as a request has room for. */
const runsOfBatch = 5

/** What people do, one letter per event: see `kinds`. A digit is the step that the event is about. */
const courses = [
  'S V0 C0 V1 C1 V2 C2 E E F',
  'S V0 C0 V1 C1 V2 C2 E E F',
  'S V0 C0 V1 V1 E E E V1 D',
  'S V0 C0 V0 V1 M1 V1 E E V1',
].map(course => course.split(' '))

const kinds: Record<string, string> = {
  S: 'flow_started',
  V: 'step_viewed',
  C: 'step_completed',
  M: 'target_missing',
  E: 'custom","name":"project_opened',
  F: 'flow_completed',
  D: 'flow_dismissed',
}

const quads = Array.from({ length: 65_536 }, (_, i) => i.toString(16).padStart(4, '0'))

/** 32 bits that look random; with one salt, no two numbers give the same (MurmurHash3's finalizer). */
function mixed(n: number, salt: number): number {
  let h = n ^ Math.imul(salt, 0x9e3779b1)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

const quad = (bits: number) => quads[bits & 0xffff] as string
const eight = (bits: number) => quad(bits >>> 16) + quad(bits)

/** The end that both kinds of UUID share, from bits that look random. */
const tail = (n: number, salt: number) => {
  const [a, b] = [mixed(n, salt), mixed(n, salt + 1)]
  return `${quad(a >>> 16).slice(1)}-8${quad(a).slice(1)}-${quad(b)}${eight(mixed(n, salt + 2))}`
}

const uuidV4 = (n: number, salt: number) =>
  `${eight(mixed(n, salt + 3))}-${quad(mixed(n, salt + 4))}-4${tail(n, salt)}`

/** RFC 9562, section 5.7: 48 bits of time first. */
const uuidV7 = (at: number, n: number, salt: number) =>
  `${quad(at / 2 ** 32)}${quad((at % 2 ** 32) >>> 16)}-${quad(at)}-7${tail(n, salt)}`

/** The events of one run as JSON, in order, with commas between. */
function runText({ tenant, ids, runs, people, days, until }: History, run: number): string {
  const salt = ids === 'v7' ? 100 : 200
  const course = courses[mixed(run, salt + 10) % courses.length] as string[]
  const from = (Math.floor(until / dayMs) - days + 1) * dayMs
  const startedAt = from + Math.floor(((until - lastMs - from) * run) / runs)
  const person =
    `"userId":"user-${mixed(run, salt + 11) % people}",` +
    `"runId":"${uuidV4(run, salt + 20)}","sessionId":"${uuidV4(run, salt + 30)}"`
  return course
    .map((what, i) => {
      const n = run * eventsOfRun + i
      const at = startedAt + i * 7_000 + (mixed(n, salt) % 5_000)
      const id = ids === 'v7' ? uuidV7(at, n, salt) : uuidV4(n, salt)
      const step =
        what[1] === undefined
          ? ''
          : `"stepId":"${tenant.stepIds[Number(what[1]) % tenant.stepIds.length]}",`
      return (
        `{"id":"${id}","kind":"${kinds[what[0] as string]}","flowId":"${tenant.flowId}",${step}` +
        `"flowVersion":1,${person},"occurredAt":"${new Date(at).toISOString()}",` +
        `"url":"https://app.example.com/projects/${n % 900}",` +
        `"properties":{"plan":"pro","seats":${n % 50},"locale":"en-GB"}}`
      )
    })
    .join(',')
}

/** The request bodies for some of a history's runs. Each body holds whole runs. */
export function* bodies(history: History, from: number, to: number): Generator<string> {
  for (let run = from; run < to; run += runsOfBatch) {
    const texts: string[] = []
    for (let i = run; i < Math.min(to, run + runsOfBatch); i++) texts.push(runText(history, i))
    yield `{"events":[${texts.join(',')}]}`
  }
}
