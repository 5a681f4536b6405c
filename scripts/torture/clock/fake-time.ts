import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** libfaketime where Debian's package `faketime` puts it; null where it is not on this machine. */
export function fakeTimeLibrary(): string | null {
  const folder = '/usr/lib'
  const machines = readdirSync(folder).map(name => join(folder, name, 'faketime/libfaketime.so.1'))
  return machines.find(path => Bun.file(path).size > 0) ?? null
}

/** A wall clock that processes go by whose environment this gives, and that can be set meanwhile. */
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

  /** The monotonic clock goes on as it is: so does a machine's whose clock is set. */
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

  /** Sets it to so much ahead of this machine's. */
  set(offsetMs: number): void {
    this.offsetMs = offsetMs
    const sign = offsetMs < 0 ? '-' : '+'
    // Moved into its place: who reads a half-written one would stop.
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
