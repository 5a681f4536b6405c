import type { Clock } from '../../src/core/time/clock.ts'

/** A clock that stands still until a test moves it. */
export class HandClock implements Clock {
  constructor(public wallMs = Date.UTC(2026, 10, 20, 9, 30)) {}
  private elapsedMs = 1_000
  now = () => this.wallMs
  monotonic = () => this.elapsedMs
  advance(ms: number): void {
    this.wallMs += ms
    this.elapsedMs += ms
  }
  /** Moves the clock as if it had run there by itself. */
  moveTo(wallMs: number): void {
    this.advance(wallMs - this.wallMs)
  }
}
