import { type Bucket, buckets } from '../core/organisation/buckets.ts'
import type { Organisation } from '../core/organisation/catalogue.ts'
import type { Limiter, Taken } from '../core/organisation/limiter.ts'
import { WindowTable } from './window-table.ts'

/** Counts requests in memory that all threads of this process share. */
export class SharedMemoryLimiter implements Limiter {
  private readonly windows: WindowTable

  /** @param slotOf an organisation's place in the memory, from 1 on: the same in every thread */
  constructor(
    memory: SharedArrayBuffer,
    private readonly slotOf: (organisation: Organisation) => number,
  ) {
    this.windows = new WindowTable(memory)
  }

  /** Memory for so many organisations. */
  static memory(organisations: number): SharedArrayBuffer {
    return WindowTable.memory(organisations + 1)
  }

  take(organisation: Organisation, bucket: Bucket, now: number): Taken {
    const limit = organisation.limits[bucket]
    return this.windows.take(this.slotOf(organisation), buckets.indexOf(bucket), limit, now)
  }
}
