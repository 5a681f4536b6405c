import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SeededRandom } from '../../../src/cli/demo/random.ts'
import { openForReading } from '../../../src/storage/sqlite/database/database.ts'
import { apiOf, tourFile } from '../../support/binary.ts'
import { tourOf } from '../load/clients.ts'
import { Journal, type Request } from '../load/journal.ts'
import { newRequest, oldRuns } from '../load/requests.ts'
import type { Answer, Moment, Promised } from './promises.ts'
import type { Recording } from './recording.ts'

/** What a recorded Cairn is asked to do, and how its answers are found in the recording. */

export interface Sent {
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
/** By then a server has begun to make segments from the runs that it found. */
const sealedWithinMs = 3_500
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
  private readonly journal = new Journal()
  private readonly random = new SeededRandom('powercut')
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
    const tour = await tourOf(api)
    const client = async () => {
      for (let i = 0; i < requests; i++)
        await this.send(api, newRequest(this.journal, tour, this.random))
    }
    if (round === 0)
      for (const request of oldRuns(this.journal, tour)) await this.send(api, request)
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

  private async send(
    api: ReturnType<typeof apiOf>,
    { kind, path, body, names }: Request,
  ): Promise<void> {
    const promised = names.map(name => ({ what: kind, name }))
    this.sent.push({ path, body, promised })
    const response = await api('POST', path, body)
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    for (const name of names) this.journal.items[kind].acknowledged.add(name)
    const id = response.headers.get('x-request-id')
    this.answers.push({ text: `X-Request-Id: ${id}\r\n`, promised })
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

function segmentsIn(dataDir: string): number {
  const database = openForReading(dataDir)
  const [row] = database.query('select count(*) from run_blocks').values()
  database.close()
  return Number(row?.[0])
}
