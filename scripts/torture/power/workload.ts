import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hourMs } from '../../../src/core/durations.ts'
import { openForReading } from '../../../src/storage/database.ts'
import { apiOf, tourFile } from '../../../test/support/binary.ts'
import type { Recording } from './recording.ts'

/** What is asked of a recorded Cairn, and how what it says is found in the recording. */

/** Something that was promised once it was told. */
export type Promised =
  | { what: 'event'; id: string }
  /** By a person of whom nothing else is reported. */
  | { what: 'completion' | 'tick' | 'health report'; person: string }
  | { what: 'organisation' | 'token'; text: string }
  | { what: 'version'; number: number }

/** A text that stands in the recording at the moment at which something was told. */
export interface Answer {
  text: string
  promised: readonly Promised[]
}

export interface Sent {
  method: string
  path: string
  body: unknown
  promised: readonly Promised[]
}

export interface History {
  answers: Answer[]
  /** All requests that store something, answered or not. */
  sent: Sent[]
  snippetKey: string
  /** Blocks of runs that were sealed. */
  blocks: number
}

/** How much: rounds of requests to each server, each of four clients at once. */
export interface Amount {
  servers: number
  rounds: number
}

const clients = 4
const eventsPerBatch = 50
/** By then a server has begun to make blocks of the runs that it found. */
const sealedWithinMs = 3_500
/** Padding, that checkpoints come soon. */
const url = `https://app.example.com/${'x'.repeat(600)}`

export async function liveThrough(recording: Recording, amount: Amount): Promise<History> {
  const answers: Answer[] = []
  const sent: Sent[] = []
  const say = async (promised: (text: string) => Promised[], ...args: string[]) => {
    const text = await recording.run(...args)
    answers.push({ text, promised: promised(text) })
    return text
  }
  const nothing = () => []
  const token = (text: string): Promised[] => [{ what: 'token', text: text.trim() }]
  const made = await say(
    text => [{ what: 'organisation', text: JSON.parse(text).id }],
    ...['org', 'create', 'Acme', '--json'],
  )
  const { snippetKey } = JSON.parse(made) as { snippetKey: string }
  await say(token, 'token', 'issue')
  await say(
    nothing,
    'org',
    'limits',
    'acme',
    '--events',
    '1000000',
    '--flows',
    '1000000',
    '--health',
    '1000000',
  )
  const file = join(dirname(recording.root), 'tour.yaml')
  const publish = async (number: number) => {
    writeFileSync(file, tourFile.replace('Hello', `Hello ${number}`))
    await say(nothing, 'flows', 'push', file)
    await say(() => [{ what: 'version', number }], 'flows', 'publish', 'tour', '--json')
  }
  await publish(1)
  let next = 0
  for (let round = 0; round < amount.servers; round++) {
    const server = await recording.serve('--threads', '2')
    const rested = Bun.sleep(sealedWithinMs)
    const api = apiOf(server, snippetKey)
    const flows = (await (await api('GET', '/flows')).json()) as {
      flows: { id: string; steps: { id: string }[] }[]
    }
    const { id: flowId, steps } = flows.flows[0]!
    const client = async () => {
      for (let i = 0; i < amount.rounds; i++) {
        const request = requestOf(next++, flowId, steps[0]!.id)
        sent.push(request)
        const response = await api(request.method, request.path, request.body)
        const body = await response.text()
        if (!response.ok) throw new Error(`${request.path}: ${response.status} ${body}`)
        const id = response.headers.get('x-request-id')
        answers.push({ text: `X-Request-Id: ${id}\r\n`, promised: request.promised })
      }
    }
    const all = Promise.all(Array.from({ length: clients }, client))
    await publish(round + 2)
    await say(token, 'token', 'issue', '--for', `${round + 1}h`)
    await all
    await rested
    await recording.stop(server)
  }
  return { answers, sent, snippetKey, blocks: blocksIn(join(recording.root, 'cairn-data')) }
}

/** Six batches of events, then a completion, a tick and a report of health. */
function requestOf(number: number, flowId: string, stepId: string): Sent {
  const person = `person-${number}`
  const body = { userId: person }
  switch (number % 9) {
    case 6: {
      const path = `/flows/${flowId}/complete`
      return { method: 'POST', path, body, promised: [{ what: 'completion', person }] }
    }
    case 7: {
      const path = `/flows/${flowId}/checklist-progress`
      const items = [{ key: 'first', completed: true }]
      return {
        method: 'POST',
        path,
        body: { ...body, items },
        promised: [{ what: 'tick', person }],
      }
    }
    case 8: {
      const path = `/steps/${stepId}/health`
      const promised: Promised[] = [{ what: 'health report', person }]
      return { method: 'POST', path, body: { ...body, outcome: 'found' }, promised }
    }
  }
  // Long enough ago for their runs to have come to rest: they are sealed meanwhile.
  const occurredAt = Date.now() - 2 * hourMs
  const events = Array.from({ length: eventsPerBatch }, (_, i) => ({
    id: `${number}-${i}`,
    kind: i % 5 === 4 ? 'flow_completed' : 'flow_started',
    userId: `${person}-${i % 10}`,
    // Some go on with the runs of an earlier batch.
    runId: `run-${i % 5 === 3 ? number >> 1 : number}-${i}`,
    flowId,
    occurredAt,
    url,
  }))
  const promised = events.map(({ id }) => ({ what: 'event', id }) as const)
  return { method: 'POST', path: '/events', body: { events }, promised }
}

function blocksIn(dataDir: string): number {
  const database = openForReading(dataDir)
  const [row] = database.query('select count(*) from run_blocks').values()
  database.close()
  return Number(row?.[0])
}
