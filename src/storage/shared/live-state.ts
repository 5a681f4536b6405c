import { getRandomValues } from 'node:crypto'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import { NodeState } from './node-state.ts'

/** How many organisations a server has room for. */
export const maxOrganisations = 131_072

/** An organisation's place in tables in memory: its row, which counts from 1. */
export const slotOf = ({ ref }: Pick<Organisation, 'ref'>) => ref as unknown as number

/** What is known in memory alone, beside the database, by those who answer requests and by storage. */
export class LiveState {
  readonly progress = new ProgressVersions()
  readonly lag = new Lag()
  readonly buffer: WriteBuffer
  readonly node = new NodeState()
  /** Grows with every change of the catalogue. */
  catalogueChanges = 0

  constructor(bounds: BufferBounds) {
    this.buffer = new WriteBuffer(bounds)
  }
}

/** How much may wait for its commit before writers are rejected. */
export interface BufferBounds {
  events: number
  bytes: number
}

/** How much waits for its commit. */
export class WriteBuffer {
  events = 0
  bytes = 0
  /** Whether storage rejects writes at the moment. */
  isRejecting = false

  constructor(readonly bounds: BufferBounds) {}

  /** Whether it is below its bounds, so that another writer may still be taken in. */
  get hasRoom(): boolean {
    return this.events < this.bounds.events && this.bytes < this.bounds.bytes
  }

  /** Whether there is room for this much more. */
  fits(events: number, bytes: number): boolean {
    return this.events + events <= this.bounds.events && this.bytes + bytes <= this.bounds.bytes
  }

  enter(events: number, bytes: number): void {
    this.events += events
    this.bytes += bytes
  }

  leave(events: number, bytes: number): void {
    this.events -= events
    this.bytes -= bytes
  }
}

/** How many events are acknowledged but not projected yet. */
export class Lag {
  events = 0
  private since = 0

  /** Since when the event that waits longest has waited, epoch milliseconds; null if none waits. */
  get waitingSince(): number | null {
    return this.events === 0 ? null : this.since
  }

  set(events: number, since: number): void {
    this.events = events
    this.since = since
  }
}

/** Two people who share a cell see each other's changes, and only ask once more than they have to. */
const cells = 2 ** 18

/** Whether a person's progress has changed. What has changed is in the tables. */
export class ProgressVersions {
  private readonly counts = new Uint32Array(cells)
  /** The number at which the count begins, a different one at each start. */
  private readonly first = getRandomValues(new Uint32Array(1))[0]!

  /** Counts a change that is committed. @param person as `personOf` names them */
  changed(orgRow: number, person: string): void {
    this.counts[cellOf(orgRow, person)]!++
  }

  /** A text that is different after each change. */
  version(orgRow: number, person: string): string {
    return ((this.first + this.counts[cellOf(orgRow, person)]!) >>> 0).toString(36)
  }
}

const cellOf = (orgRow: number, person: string): number =>
  Bun.hash.xxHash32(`${orgRow} ${person}`) % cells
