import type { Table } from '../report/table.ts'
import type { Effort } from './effort.ts'
import type { Figure } from './figures.ts'
import { Filled } from './filled.ts'
import { Seeds } from './seed.ts'

/** What a part has found. */
export interface Found {
  figures: Figure[]
  /** What does not fit the table of figures. */
  tables?: Table[]
}

/** What the parts of one run share. */
export class Bench implements AsyncDisposable {
  readonly seeds = new Seeds()
  private made: Promise<Filled> | undefined

  constructor(readonly effort: Effort) {}

  /** The long history. The first part that needs it stores it. */
  filled(): Promise<Filled> {
    this.made ??= Filled.make(this.seeds, this.effort)
    return this.made
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.seeds[Symbol.dispose]()
    // If it could not be made, the part that needed it has already reported that.
    const filled = await this.made?.catch(() => undefined)
    filled?.[Symbol.dispose]()
  }
}
