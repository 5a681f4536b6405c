import type { Queries } from '../database/connection.ts'
import type { RunNumbers } from '../projections/scratch.ts'

/** The increment of the sequence: see `run_ids` in the schema. */
const blockSize = 1_000

/** Numbers for new runs, from blocks that no other node has. */
export class RunNumberBlock implements RunNumbers {
  private blocks: { next: number; end: number }[] = []

  constructor(private readonly queries: Queries) {}

  /** Makes sure that so many can be given without a query. Fetches twice as many, so that queries are rare. */
  async provide(count: number): Promise<void> {
    const left = this.blocks.reduce((sum, { next, end }) => sum + end - next, 0)
    if (left >= count) return
    const wanted = Math.ceil((2 * count - left) / blockSize)
    const rows = await this.queries.all<{ first: number }>(
      `select nextval('run_ids') as first from generate_series(1, $1)`,
      wanted,
    )
    this.blocks.push(...rows.map(({ first }) => ({ next: first, end: first + blockSize })))
  }

  next(): number {
    const block = this.blocks[0]
    if (!block) throw new Error('No number of a run is left')
    const number = block.next++
    if (block.next === block.end) this.blocks.shift()
    return number
  }
}
