import type { Database } from 'bun:sqlite'
import { dayMs } from '../../core/time/durations.ts'

/** How long each organisation keeps what arrives, milliseconds. */
export class RetentionPeriods {
  private readonly ownDays
  private own = new Map<number, number>()

  /** @param serverMs that of organisations without one of their own */
  constructor(
    database: Database,
    private readonly serverMs: number,
  ) {
    this.ownDays = database.query<{ id: number; retention_days: number }, []>(
      'select id, retention_days from organisations where retention_days is not null',
    )
    this.read()
  }

  /** Reads anew what organisations have of their own; whether that is something else than before. */
  read(): boolean {
    const before = this.own
    this.own = new Map(this.ownDays.all().map(row => [row.id, row.retention_days * dayMs]))
    const isSame = ([orgRow, ms]: [number, number]) => before.get(orgRow) === ms
    return before.size !== this.own.size || ![...this.own].every(isSame)
  }

  of(orgRow: number): number {
    return this.own.get(orgRow) ?? this.serverMs
  }

  /** All that some organisation has, each once. */
  get all(): readonly number[] {
    return [...new Set([this.serverMs, ...this.own.values()])]
  }

  get longest(): number {
    return Math.max(...this.all)
  }
}
