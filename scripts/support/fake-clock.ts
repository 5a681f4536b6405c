import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The path of libfaketime, where Debian's package `faketime` puts it; null if it is not installed. */
export function fakeTimeLibrary(): string | null {
  const folder = '/usr/lib'
  const machines = readdirSync(folder).map(name => join(folder, name, 'faketime/libfaketime.so.1'))
  return machines.find(path => Bun.file(path).size > 0) ?? null
}

/** A wall clock for processes that get its environment; it can be set while they run. */
export class FakeClock {
  private offsetMs = 0
  private readonly file: string

  constructor(
    private readonly library: string,
    folder: string,
  ) {
    this.file = join(folder, 'clock')
    this.set(0)
  }

  /** Leaves the monotonic clock as it is, because setting a machine's clock does not change that either. */
  get env(): Record<string, string> {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    }
  }

  now(): number {
    return Date.now() + this.offsetMs
  }

  /** Sets the clock to this much ahead of the machine's. */
  set(offsetMs: number): void {
    this.offsetMs = offsetMs
    const sign = offsetMs < 0 ? '-' : '+'
    // Moved into place, because a process that reads a half-written file would stop.
    writeFileSync(`${this.file}.next`, `${sign}${(Math.abs(offsetMs) / 1_000).toFixed(3)}\n`)
    renameSync(`${this.file}.next`, this.file)
  }

  setBy(ms: number): void {
    this.set(this.offsetMs + ms)
  }

  setTo(epochMs: number): void {
    this.set(epochMs - Date.now())
  }
}
