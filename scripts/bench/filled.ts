import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { progress } from '../report/progress.ts'
import { Analyst } from './analyst.ts'
import type { Effort } from './effort.ts'
import { bodies, eventsOfRun, type History } from './history.ts'
import { send } from './post.ts'
import { Folder, type Program, startCairn } from './programs.ts'
import type { Seeds, Tenant } from './seed.ts'

/** How far back the events go, and how far back Cairn has to accept them. */
const days = 400
const retentionDays = days + 10

/** How many times the cost of storing is noted while the ledger grows. */
const pieces = 20

/**
 * A data directory with a long history, stored over the API: one flow with ordered ids whose runs began
 * evenly over 400 days, and one with random ids whose runs began over 30 days.
 */
export class Filled implements Disposable {
  private constructor(
    readonly folder: Folder,
    readonly long: History,
    readonly recent: History,
    /** For loads that must not change those two flows. */
    readonly tenants: readonly Tenant[],
    /** Bytes of all events as JSON. */
    readonly jsonBytes: number,
    /** Bytes of the data directory after a clean stop, minus what it had before. */
    readonly diskBytes: number,
    /** The cost of one event, by how many were stored at that time. */
    readonly costs: readonly { stored: number; cpuMicros: number }[],
  ) {}

  get events(): number {
    return (this.long.runs + this.recent.runs) * eventsOfRun
  }

  start(): Promise<Program> {
    return startCairn(this.folder, { retentionDays })
  }

  static async make(seeds: Seeds, { storedRuns: runs }: Effort): Promise<Filled> {
    const folder = new Folder()
    const [first, second, ...others] = seeds.plant(folder, 40, 20) as [Tenant, Tenant]
    const same = { runs, people: Math.ceil(runs / 4), until: Date.now() }
    const long: History = { ...same, tenant: first, ids: 'v7', days }
    const recent: History = { ...same, tenant: second, ids: 'v4', days: 30 }
    const empty = bytesOf(folder)
    const costs: { stored: number; cpuMicros: number }[] = []
    let jsonBytes = 0
    await using program = await startCairn(folder, { retentionDays })
    for (let piece = 0; piece < pieces; piece++) {
      const [from, to] = [piece, piece + 1].map(i => Math.round((runs * i) / pieces)) as [
        number,
        number,
      ]
      const before = program.cpuMicros()
      for (const history of [long, recent]) {
        await send(program, history.tenant, bodies(history, from, to), (answer, body) => {
          if (answer.duplicates + answer.rejected > 0) throw new Error(JSON.stringify(answer))
          jsonBytes += body.length - envelopeBytes
        })
      }
      const cpuMicros = (program.cpuMicros() - before) / (2 * (to - from) * eventsOfRun)
      costs.push({ stored: 2 * to * eventsOfRun, cpuMicros })
      if (piece % 4 === 3) progress(`${millions(2 * to)} of ${millions(2 * runs)} M events stored`)
    }
    await program.stop()
    const diskBytes = bytesOf(folder) - empty
    const filled = new Filled(folder, long, recent, others, jsonBytes, diskBytes, costs)
    await filled.check()
    return filled
  }

  /** Throws unless a new process knows every run. */
  private async check(): Promise<void> {
    await using program = await this.start()
    for (const { tenant, runs } of [this.long, this.recent]) {
      const starts = await (await Analyst.of(program, tenant)).starts(lastDays(days))
      if (starts !== runs) throw new Error(`${runs} runs were stored, ${starts} are known`)
    }
    await program.stop()
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]()
  }
}

/** Millions of events in so many runs. */
const millions = (runs: number) => ((runs * eventsOfRun) / 1e6).toLocaleString('en-US')

/** The bytes of `{"events":[]}`. The rest of a body is its events and the commas between them. */
const envelopeBytes = 13

/** A query for that many days, today included. */
export function lastDays(count: number, before = 0): { from: string; to: string } {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
  return { from: day(count - 1 + before), to: day(before) }
}

const bytesOf = ({ path }: Folder) =>
  readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0)
