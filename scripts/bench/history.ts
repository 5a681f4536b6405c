import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { dayMs } from '../../src/core/time/durations.ts'
import { sendHistory } from './load.ts'
import { newFolder, Program } from './programs.ts'
import { createOrganisation, serve, withOrganisation } from './stores.ts'

const days = 400

/** A data directory with a long history, which was sent through the API. */
export interface History {
  /** "20 M events stored" */
  name: string
  /** Runs of each of the two large flows, of ten events each. */
  runs: number
  /** Bytes of an event on disk after a clean stop, with everything that is derived from it. */
  bytesOfEvent: number
  start(): Promise<Program>
}

/** Stores 400 days of a flow with ordered ids, 30 of one with random ids, a small flow, and an empty one. */
export async function storeHistory(runs: number): Promise<History> {
  const folder = newFolder()
  const command = serve('cairn-data', '--retention-days', `${days + 10}`)
  const start = () => Program.start({ folder, commands: [command], isKept: true })
  const credentials = await createOrganisation(folder, 4)
  const emptyBytes = bytesOf(folder)
  await using program = await withOrganisation(await start(), credentials)
  await sendHistory(program, { flow: 0, runs, days, ids: 'v7' })
  await sendHistory(program, { flow: 1, runs, days: 30, ids: 'v4' })
  await sendHistory(program, { flow: 2, runs: runs / 10, days: 30, ids: 'v7' })
  await program.end()
  return {
    name: `${(20 * runs) / 1e6} M events stored`,
    runs,
    bytesOfEvent: (bytesOf(folder) - emptyBytes) / (21 * runs),
    async start() {
      const next = await start()
      next.organisation = program.organisation
      return next
    },
  }
}

/** The response to a request for the first flow's `analytics`, or for `analytics/export.csv`. */
export async function getAnalytics(
  { urls, organisation: { flows, token } }: Program,
  route: string,
  query: Record<string, string>,
): Promise<Response> {
  const path = `/api/v1/flows/${flows[0]!.id}/${route}?${new URLSearchParams(query)}`
  const response = await fetch(urls[0] + path, { headers: { authorization: `Bearer ${token}` } })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response
}

/** A query for so many days up to some days ago. */
export function lastDays(count = days, ago = 0): { from: string; to: string } {
  const day = (before: number) => new Date(Date.now() - before * dayMs).toISOString().slice(0, 10)
  return { from: day(count - 1 + ago), to: day(ago) }
}

function bytesOf(folder: string): number {
  const data = join(folder, 'cairn-data')
  return readdirSync(data).reduce((sum, name) => sum + statSync(join(data, name)).size, 0)
}
