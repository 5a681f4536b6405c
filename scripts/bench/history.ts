import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { dayMs } from '../../src/core/time/durations.ts'
import { sendHistory } from './load.ts'
import { newFolder, type Organisation, Program } from './programs.ts'
import { createOrganisation, serve, withOrganisation } from './stores.ts'

const days = 400

/** A data directory with a long history, which was sent through the API. */
export class History {
  private constructor(
    readonly folder: string,
    private readonly organisation: Organisation,
    /** Runs of each of the two large flows, of ten events each. */
    readonly runs: number,
    /** Bytes of an event on disk after a clean stop, with everything that is derived from it. */
    readonly bytesOfEvent: number,
  ) {}

  /** 400 days of a flow with ordered ids, 30 of one with random ids, a small flow, and an empty one. */
  static async store(runs: number): Promise<History> {
    const folder = newFolder()
    const credentials = await createOrganisation(folder, 4)
    const emptyBytes = bytesOf(folder)
    await using program = await withOrganisation(await startIn(folder), credentials)
    await sendHistory(program, { flow: 0, runs, days, ids: 'v7' })
    await sendHistory(program, { flow: 1, runs, days: 30, ids: 'v4' })
    await sendHistory(program, { flow: 2, runs: runs / 10, days: 30, ids: 'v7' })
    await program.end()
    const bytesOfEvent = (bytesOf(folder) - emptyBytes) / (21 * runs)
    return new History(folder, program.organisation, runs, bytesOfEvent)
  }

  /** "20 M events stored" */
  get name(): string {
    return `${(20 * this.runs) / 1e6} M events stored`
  }

  async start(...flags: string[]): Promise<Program> {
    const program = await startIn(this.folder, ...flags)
    program.organisation = this.organisation
    return program
  }
}

const startIn = (folder: string, ...flags: string[]) => {
  const command = serve('cairn-data', '--retention-days', `${days + 10}`, ...flags)
  return Program.start({ folder, commands: [command], isKept: true })
}

/** The response to a request for one flow's `analytics`, or for `analytics/export.csv`. */
export async function getAnalytics(
  { urls, organisation: { flows, token } }: Program,
  flow: number,
  route: string,
  query: Record<string, string>,
): Promise<Response> {
  const path = `/api/v1/flows/${flows[flow]!.id}/${route}?${new URLSearchParams(query)}`
  const response = await fetch(urls[0] + path, { headers: { authorization: `Bearer ${token}` } })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response
}

/** Downloads all events of the first flow, and returns how many lines they are. */
export async function downloadEvents(program: Program): Promise<number> {
  const query = { ...lastDays(days), rows: 'events' }
  const { body } = await getAnalytics(program, 0, 'analytics/export.csv', query)
  let lines = 0
  for await (const chunk of body!) {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
  }
  return lines
}

/** A query for so many days up to some days ago. */
export function lastDays(count: number, ago = 0): { from: string; to: string } {
  const day = (before: number) => new Date(Date.now() - before * dayMs).toISOString().slice(0, 10)
  return { from: day(count - 1 + ago), to: day(ago) }
}

function bytesOf(folder: string): number {
  const data = join(folder, 'cairn-data')
  return readdirSync(data).reduce((sum, name) => sum + statSync(join(data, name)).size, 0)
}
