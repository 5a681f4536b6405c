import { join } from 'node:path'
import type { Config } from '../config/settings.ts'
import { shortReasonOf } from '../core/reason.ts'
import type { Clock } from '../core/time/clock.ts'
import { minuteMs } from '../core/time/durations.ts'
import { newestBackup } from '../storage/sqlite/backup/folder.ts'
import { clearPartial, partialIn } from '../storage/sqlite/backup/partial.ts'
import type { Log } from './log.ts'

/** How often the schedule checks whether a backup is due, and the pause after a failed one; milliseconds. */
const lookEveryMs = 1_000
const retryAfterMs = 5 * minuteMs
/** How long a stop waits for a backup that it has ended, because its folder may hang; milliseconds. */
const endWithinMs = 2_000

export type BackupSettings = Pick<Config, 'data' | 'backupEvery' | 'backupKeep' | 'backupDir'>

/** The outcome of the scheduled backups, for the metrics. */
export interface BackupsSeen {
  /** 0 if none are scheduled. */
  everyMs: number
  /** For how long a backup has been due without being made. */
  overdueMs: number
  /** The newest backup; its duration is null if an earlier run of the server made it. */
  last: { at: number; bytes: number; durationMs: number | null } | null
  /** In this run of the server. */
  failures: number
  isFailing: boolean
}

/**
 * Has a backup made at the set interval, by the same program in a process of its own, which takes nothing from
 * the threads of the server. When one is due follows from the backups that exist, so a restart changes nothing.
 */
export class BackupSchedule {
  private last: BackupsSeen['last'] = null
  private failures = 0
  private isFailing = false
  /** By the monotonic clock. */
  private dueSince: number | null = null
  private pausedUntil = Number.NEGATIVE_INFINITY
  private child: Bun.Subprocess<'ignore', 'pipe', 'pipe'> | null = null
  private work: Promise<void> | null = null
  private timer: ReturnType<typeof setInterval> | null = null

  constructor(
    /** The current settings. */
    private readonly settings: () => BackupSettings,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  start(): void {
    this.timer = setInterval(() => this.look(), lookEveryMs).unref()
    this.look()
  }

  /** Ends a backup that is being made: nothing of it remains, and it is due at the next start. */
  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer)
    this.timer = null
    this.child?.kill('SIGKILL')
    await Promise.race([this.work, Bun.sleep(endWithinMs)])
  }

  get seen(): BackupsSeen {
    return {
      everyMs: this.settings().backupEvery ?? 0,
      overdueMs: this.dueSince === null ? 0 : this.clock.monotonic() - this.dueSince,
      last: this.last,
      failures: this.failures,
      isFailing: this.isFailing,
    }
  }

  /** Never waits for the folder, which may be on a disk that hangs. */
  private look(): void {
    this.work ??= this.makeWhatIsDue().finally(() => {
      this.work = null
    })
  }

  private async makeWhatIsDue(): Promise<void> {
    const { backupEvery, backupDir } = this.settings()
    const isDue =
      backupEvery !== null &&
      backupDir !== null &&
      this.clock.now() >= (await this.dueAt(backupDir, backupEvery))
    if (!isDue) {
      this.dueSince = null
      this.isFailing = false
      return
    }
    this.dueSince ??= this.clock.monotonic()
    if (this.clock.monotonic() < this.pausedUntil) return
    if (this.timer !== null) await this.make(backupDir)
  }

  private async dueAt(folder: string, everyMs: number): Promise<number> {
    const newest = await newestIn(folder, this.clock.now())
    if (newest === null) return Number.NEGATIVE_INFINITY
    const { at, bytes } = newest
    if (at !== this.last?.at) this.last = { at, bytes, durationMs: null }
    return at + everyMs
  }

  private async make(folder: string): Promise<void> {
    const startedAt = this.clock.monotonic()
    const { data, backupKeep } = this.settings()
    try {
      const options = ['--data', data, '--keep', `${backupKeep}`, '--json']
      const made = await this.run(['backup', join(folder, '/'), ...options])
      if (made === null) {
        await clearPartial(partialIn(folder, data))
        return
      }
      const durationMs = this.clock.monotonic() - startedAt
      const { file, bytes, removed, differences } = made
      const now = this.clock.now()
      const at = (await newestIn(folder, now))?.at ?? now
      this.last = { at, bytes, durationMs }
      this.isFailing = false
      this.dueSince = null
      this.log.info({ file, bytes, durationMs: Math.round(durationMs), removed }, 'backed up')
      if (differences.length > 0) {
        this.log.warn({ file, differences }, 'the backup cannot be restored: see "cairn doctor"')
      }
    } catch (error) {
      this.failures++
      this.isFailing = true
      this.pausedUntil = this.clock.monotonic() + retryAfterMs
      this.log.error({ folder, reason: shortReasonOf(error) }, 'the scheduled backup failed')
    }
  }

  /** @returns null if it was ended because the server stops */
  private async run(args: readonly string[]): Promise<Made | null> {
    const child = Bun.spawn([...program, ...args], {
      // Only its arguments determine what it does, and which time it is for tests.
      env: { CAIRN_TEST_NOW: process.env.CAIRN_TEST_NOW },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    this.child = child
    const [stdout, stderr, status] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    this.child = null
    if (status === 0) return JSON.parse(stdout) as Made
    if (this.timer === null) return null
    const reason = stderr.trim().replace(/^cairn: /, '')
    throw new Error(reason || `it ended with status ${status}`)
  }
}

/** As "cairn backup --json" prints it. */
interface Made {
  file: string
  bytes: number
  removed: string[]
  differences: string[]
}

/** This program: a single file, or in development a script that Bun runs. */
const program = import.meta.url.includes('$bunfs')
  ? [process.execPath]
  : [process.execPath, join(import.meta.dir, '../main.ts')]

/** Null also if the folder does not exist yet or cannot be read: making a backup will report that. */
const newestIn = (folder: string, now: number) => newestBackup(folder, now).catch(() => null)
