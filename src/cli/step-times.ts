import type { UpgradeProgress } from '../storage/database/upgrade.ts'

/** How long each step of a migration took. */
export interface StepTime {
  id: number
  name: string
  seconds: number
}

/** Takes the time of each step as a migration tells of its progress. */
export class StepTimes {
  readonly steps: StepTime[] = []
  private beganAt = performance.now()

  note(progress: UpgradeProgress): void {
    const now = performance.now()
    if (progress.doing !== 'step' || progress.share === 0) this.beganAt = now
    if (progress.doing !== 'step' || progress.share !== 1) return
    const { id, name } = progress
    // Told of its last row, and again once it is committed.
    if (this.steps.at(-1)?.id === id) this.steps.pop()
    this.steps.push({ id, name, seconds: Math.round(now - this.beganAt) / 1_000 })
  }
}
