import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hourMs } from '../../../src/core/time/durations.ts'
import { openForReading } from '../../../src/storage/sqlite/database/database.ts'
import { apiOf, firstFlowOf, type ListedFlow, tourFile } from '../../support/binary.ts'
import type { Answer, Moment, Promised } from './promises.ts'
import type { Recording } from './recording.ts'

/** What a recorded Cairn is asked to do, and how its answers are found in the recording. */

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
  /** Column segments that were sealed. */
  segments: number
}

/** How many servers, and how many rounds of requests to each, with four clients at once. */
export interface Amount {
  servers: number
  rounds: number
}

/** A folder below the recorded directory. */
export const backupFolder = 'backups'

const clients = 4
const eventsPerBatch = 50
/** By then a server has begun to make segments from the runs that it found. */
const sealedWithinMs = 3_500
/** Padding, so that checkpoints come soon. */
const url = `https://app.example.com/${'x'.repeat(600)}`

export async function liveThrough(recording: Recording, amount: Amount): Promise<History> {
  const life = new Life(recording)
  const { snippetKey } = await life.begin()
  for (let round = 0; round < amount.servers; round++) await life.serve(round, amount.rounds)
  await life.restore()
  const { answers, sent } = life
  return { answers, sent, snippetKey, segments: segmentsIn(join(recording.root, 'cairn-data')) }
}

/** What is done with one data directory, from the first command on. */
class Life {
  readonly answers: Answer[] = []
  readonly sent: Sent[] = []
  private snippetKey = ''
  private backup = ''

  constructor(private readonly recording: Recording) {}

  async begin(): Promise<{ snippetKey: string }> {
    const made = JSON.parse(
      await this.run(['org', 'create', 'Acme', '--json'], text => [
        { what: 'organisation', id: JSON.parse(text).id },
      ]),
    )
    this.snippetKey = made.snippetKey
    await this.issueToken()
    const unlimited = ['events', 'flows', 'health'].flatMap(name => [`--${name}`, '1000000'])
    await this.run(['org', 'limits', 'acme', ...unlimited])
    await this.publish(1)
    return made
  }

  /** Runs a server with clients, commands and a backup beside it. Every second one stops; the others are killed. */
  async serve(round: number, requests: number): Promise<void> {
    const server = await this.recording.serve('--threads', '2')
    const rested = Bun.sleep(sealedWithinMs)
    const api = apiOf(server, this.snippetKey)
    const flow = await firstFlowOf(api)
    const client = async () => {
      for (let i = 0; i < requests; i++) await this.ask(api, flow)
    }
    const all = Promise.all(Array.from({ length: clients }, client))
    await this.publish(round + 2)
    await this.issueToken()
    await this.backUp()
    await all
    await rested
    await this.recording.stop(server, round % 2 === 0 ? 'KILL' : 'TERM')
  }

  /** Replaces the database with a backup, and undoes that. */
  async restore(): Promise<void> {
    await this.mark('restore begins')
    await this.run(['restore', this.backup, '--json'], () => [], 'restored')
    await this.mark('undo begins')
    await this.run(['restore', '--undo', '--json'], () => [], 'undone')
  }

  private async ask(api: ReturnType<typeof apiOf>, flow: ListedFlow): Promise<void> {
    const request = requestOf(this.sent.length, flow.id, flow.steps[0]!.id)
    this.sent.push(request)
    const response = await api(request.method, request.path, request.body)
    const body = await response.text()
    if (!response.ok) throw new Error(`${request.path}: ${response.status} ${body}`)
    const id = response.headers.get('x-request-id')
    this.answers.push({ text: `X-Request-Id: ${id}\r\n`, promised: request.promised })
  }

  private async publish(number: number): Promise<void> {
    const file = join(dirname(this.recording.root), 'tour.yaml')
    writeFileSync(file, tourFile.replace('Hello', `Hello ${number}`))
    await this.run(['flows', 'push', file])
    const args = ['flows', 'publish', 'tour', '--json']
    await this.run(args, () => [{ what: 'version', number }])
  }

  private async issueToken(): Promise<void> {
    await this.run(['token', 'issue'], text => [{ what: 'token', token: text.trim() }])
  }

  private async backUp(): Promise<void> {
    await this.mark('backup begins')
    const made = await this.run(['backup', `${backupFolder}/`, '--json'], text => [
      { what: 'backup', sha256: JSON.parse(text).sha256 },
    ])
    this.backup = JSON.parse(made).file
  }

  /** Runs a command; what it prints is what it promises. */
  private async run(
    args: readonly string[],
    promised: (text: string) => readonly Promised[] = () => [],
    moment?: Moment,
  ): Promise<string> {
    const text = await this.recording.run(...args)
    this.answers.push({ text, promised: promised(text), ...(moment && { moment }) })
    return text
  }

  private async mark(moment: Moment): Promise<void> {
    const text = `${moment} after ${this.answers.length}`
    await this.recording.say(text)
    this.answers.push({ text, promised: [], moment })
  }
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
  // Long enough ago for their runs to be at rest, so that they are sealed meanwhile.
  const occurredAt = Date.now() - 2 * hourMs
  const events = Array.from({ length: eventsPerBatch }, (_, i) => ({
    id: `${number}-${i}`,
    kind: i % 5 === 4 ? 'flow_completed' : 'flow_started',
    userId: `${person}-${i % 10}`,
    // Some continue the runs of an earlier batch.
    runId: `run-${i % 5 === 3 ? number >> 1 : number}-${i}`,
    flowId,
    occurredAt,
    url,
  }))
  const promised = events.map(({ id }) => ({ what: 'event', id }) as const)
  return { method: 'POST', path: '/events', body: { events }, promised }
}

function segmentsIn(dataDir: string): number {
  const database = openForReading(dataDir)
  const [row] = database.query('select count(*) from run_blocks').values()
  database.close()
  return Number(row?.[0])
}
