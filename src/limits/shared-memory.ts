import { type Bucket, buckets } from '../core/organisation/buckets.ts'
import type { Organisation } from '../core/organisation/catalogue.ts'
import type { Limiter, Taken } from '../core/organisation/limiter.ts'
import { WindowTable } from './window-table.ts'

/** Counts requests in memory that all threads of this process share. */
export class SharedMemoryLimiter implements Limiter {
  private readonly windows: WindowTable

  constructor(memory: SharedArrayBuffer) {
    this.windows = new WindowTable(memory)
  }

  /** Memory for so many organisations. */
  static memory(organisations: number): SharedArrayBuffer {
    // Rows of organisations, which are the slots, count from 1.
    return WindowTable.memory(organisations + 1)
  }

  take({ row, limits }: Organisation, bucket: Bucket, now: number): Taken {
    return this.windows.take(row, buckets.indexOf(bucket), limits[bucket], now)
  }
}
