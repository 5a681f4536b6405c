import { hourMs } from '../../src/core/time/durations.ts'
import { apiOf, type Server, sessionToken } from '../support/binary.ts'
import { until } from '../support/until.ts'
import { tourOf } from './clients.ts'
import type { Entry } from './ledger.ts'
import { ticksItem } from './requests.ts'
import type { Scene } from './scene.ts'
import type { SmallDisk } from './small-disk.ts'

/** How long the server may take to report a fault, and to heal, milliseconds. */
const patienceMs = 60_000

/** Waits for something that must happen, however slow the machine is. */
export const eventually = (what: string, condition: () => boolean | Promise<boolean>) =>
  until(condition, Boolean, patienceMs).catch(() => {
    throw new Error(`Waited in vain until ${what}`)
  })

/** A server's data on a disk of its own, and what has been found. */
export class DiskStage {
  readonly entries: Entry[] = []
  private token = ''

  constructor(
    readonly scene: Scene,
    readonly disk: SmallDisk,
    readonly lastingMs: number,
  ) {}

  get dataDir() {
    return this.scene.place.dataDir
  }

  get tenant() {
    return this.scene.tenants[0]!
  }

  start(...args: string[]): Promise<Server> {
    return this.scene.start(['--log-level', 'warn', ...args])
  }

  async isReady({ managementUrl }: Server): Promise<boolean> {
    return (await fetch(`${managementUrl}/readyz`)).ok
  }

  /** Whether a write is acknowledged. */
  async takesWrites(server: Server): Promise<boolean> {
    const { diary, snippetKey } = this.tenant
    const ask = apiOf(server, snippetKey)
    const { stepId } = await tourOf(ask)
    const message = `health-report-${diary.newNumber()}`
    const page = diary.pages['health report']
    page.sent.add(message)
    const { status } = await ask('POST', `/steps/${stepId}/health`, { outcome: 'found', message })
    if (status === 202) page.acknowledged.add(message)
    else if (status !== 503) diary.contradictions.push(`a write was answered by ${status}`)
    return status === 202
  }

  /** Lets an analyst read. Must be called while the disk works, because this writes. */
  async admitAnalyst(): Promise<void> {
    this.token = await sessionToken(this.scene.place, this.tenant.slug)
  }

  /** Reads what a snippet and an analyst read. Returns how many answers were not 200, and the slowest. */
  async read(server: Server, forMs: number): Promise<{ failed: number; slowestMs: number }> {
    const snippet = apiOf(server, this.tenant.snippetKey)
    const { flowId } = await tourOf(snippet)
    const found = { failed: 0, slowestMs: 0 }
    const until = performance.now() + forMs
    do {
      for (const ask of [
        () => snippet('GET', '/flows'),
        () => apiOf(server, this.token)('GET', `/flows/${flowId}/analytics`),
      ]) {
        const startedAt = performance.now()
        if (!(await ask()).ok) found.failed++
        found.slowestMs = Math.max(found.slowestMs, performance.now() - startedAt)
      }
      await Bun.sleep(20)
    } while (performance.now() < until)
    return found
  }

  /** Sends enough runs for a segment, begun long ago. */
  async sendOldRuns(server: Server): Promise<void> {
    const { diary, snippetKey } = this.tenant
    const ask = apiOf(server, snippetKey)
    const { flowId } = await tourOf(ask)
    const occurredAt = Date.now() - 2 * hourMs
    const newId = (): string => {
      const id = `event-${diary.newNumber()}`
      return ticksItem(id) ? newId() : id
    }
    for (let batch = 0; batch < 90; batch++) {
      const ids = Array.from({ length: 50 }, newId)
      for (const id of ids) diary.pages.event.sent.add(id)
      const events = ids.map((id, i) => ({
        ...{ id, kind: 'flow_started', flowId, runId: id, userId: id },
        occurredAt: occurredAt + batch * 50 + i,
      }))
      const { status } = await ask('POST', '/events', { events })
      if (status === 202) for (const id of ids) diary.pages.event.acknowledged.add(id)
    }
  }
}
