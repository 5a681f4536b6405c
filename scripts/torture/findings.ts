import { atMost, type Entry, none } from './ledger.ts'
import type { Differences } from './stored.ts'

/** How long a start after a kill may take on an otherwise idle machine, milliseconds. */
const startBoundMs = 1_000

/** What is found while Cairn is killed, across all data directories. */
export class Findings {
  readonly counts = { acknowledged: 0, refused: 0, checks: 0, damaged: 0, changed: 0, astray: 0 }
  readonly differences: Differences = { lost: 0, twice: 0, unsent: 0, torn: 0 }
  readonly contradictions: string[] = []
  /** How long starts after a kill took. */
  readonly startsMs: number[] = []
  /** How many events `ack=buffer` acknowledged, and how old those were that a kill has lost. */
  buffered = 0
  readonly lostFromBufferMs: number[] = []

  add({ lost, twice, unsent, torn }: Differences): void {
    this.differences.lost += lost
    this.differences.twice += twice
    this.differences.unsent += unsent
    this.differences.torn += torn
  }

  /** @param isTimed whether this run had the machine to itself, so that times can be promised */
  entries(isTimed: boolean): Entry[] {
    const { counts, differences, contradictions, startsMs } = this
    const worst = Math.round(Math.max(0, ...startsMs))
    const start = 'start after a kill, the slowest'
    const told = contradictions.length > 0 ? `${contradictions.length}: ${contradictions[0]}` : 0
    return [
      { what: 'items acknowledged', value: counts.acknowledged },
      { what: 'requests without an answer or refused, and sent again', value: counts.refused },
      none('acknowledged items that are not there', differences.lost),
      none('items that are there twice', differences.twice),
      none('items that are there and nobody sent', differences.unsent),
      none('events without what follows from them, and the other way round', differences.torn),
      { what: 'answers that contradict an earlier one', value: told, isGood: told === 0 },
      { what: 'times that all of it was read and compared', value: counts.checks },
      none('of these, `pragma integrity_check` not ok', counts.damaged),
      none('flows that `cairn rebuild` changed', counts.changed),
      none('answers of analytics and checklists that are not as what is stored', counts.astray),
      isTimed ? atMost(start, worst, startBoundMs, ' ms') : { what: start, value: `${worst} ms` },
      ...(this.buffered > 0
        ? [{ what: 'with ack=buffer: lost of what was acknowledged', value: this.bufferText }]
        : []),
    ]
  }

  private get bufferText(): string {
    const { lostFromBufferMs, buffered } = this
    const oldest = Math.round(Math.max(0, ...lostFromBufferMs))
    return `${lostFromBufferMs.length} of ${buffered}, acknowledged up to ${oldest} ms before a kill`
  }
}
