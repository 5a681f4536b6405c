import type { ServerFigures, ServerWatch } from '../app.ts'
import { commit, version } from '../core/version.ts'
import type { BackupsSeen } from './backup-schedule.ts'
import { figuresBetween, type Look } from './figures.ts'

/** Rates cover the first time at least, and a look older than the second is not compared with; milliseconds. */
const shortestMs = 1_000
const longestMs = 30_000
const mostLooks = 4

/** What the figures of a running server are read from. */
export interface WatchedServer {
  look(): Promise<Look>
  notReady(): string[]
  warnings(): string[]
  backups: { readonly seen: BackupsSeen }
  retentionDays(): number
}

/** Looks at the server when somebody asks, and reports what has happened since the look before. */
export class FiguresOfServer implements ServerWatch {
  /** The newest last. */
  private looks: readonly Look[] = []
  private underWay: Promise<ServerFigures> | null = null

  constructor(private readonly server: WatchedServer) {}

  /** Those who ask at the same time get one answer. */
  look(): Promise<ServerFigures> {
    this.underWay ??= this.compare().finally(() => {
      this.underWay = null
    })
    return this.underWay
  }

  private async compare(): Promise<ServerFigures> {
    let to = await this.server.look()
    const isComparable = ({ atMs }: Look) =>
      to.atMs - atMs >= shortestMs && to.atMs - atMs <= longestMs
    const looks = this.looks.filter(isComparable)
    let from = looks.at(-1)
    if (from === undefined) {
      from = to
      await Bun.sleep(shortestMs)
      to = await this.server.look()
    }
    this.looks = [...looks, to].slice(-mostLooks)
    const { retention, ...figures } = figuresBetween(from, to)
    return {
      version,
      commit,
      startedAt: performance.timeOrigin,
      notReady: this.server.notReady(),
      warnings: this.server.warnings(),
      ...figures,
      backups: backupsOf(this.server.backups.seen),
      retention: { days: this.server.retentionDays(), ...retention },
    }
  }
}

function backupsOf(seen: BackupsSeen): ServerFigures['backups'] {
  const { everyMs, overdueMs, last, failures, isFailing } = seen
  return {
    everySeconds: everyMs / 1_000,
    overdueSeconds: overdueMs / 1_000,
    nextAt: everyMs > 0 && last !== null ? last.at + everyMs : null,
    last: last && {
      at: last.at,
      bytes: last.bytes,
      durationSeconds: last.durationMs === null ? null : last.durationMs / 1_000,
    },
    failures,
    isFailing,
  }
}
