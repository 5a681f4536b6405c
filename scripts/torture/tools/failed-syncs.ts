const written = /pwrite64\(.*, (\d+)\) += \d+/
const synced = /f(?:data)?sync\(\d+\) += (-1|0)/

/**
 * Reads strace's record of the calls on a write-ahead log. Linux marks the pages of a failed sync as
 * clean: what was written since the previous sync may never reach the disk, and the next sync does not
 * report it. So all of it has to be written again before a sync can be trusted. SQLite writes again what it
 * had written at the same offsets.
 *
 * @returns failed syncs, and those that succeeded although something before the end may not be on the disk
 */
export function syncsIn(trace: string): { failed: number; untrustworthy: number } {
  const record = { failed: 0, untrustworthy: 0 }
  /** The offsets written since the last sync, and those that a failed sync may have dropped. */
  let fresh: number[] = []
  const dropped = new Set<number>()
  for (const line of trace.split('\n')) {
    const offset = written.exec(line)?.[1]
    if (offset !== undefined) {
      fresh.push(Number(offset))
      dropped.delete(Number(offset))
      continue
    }
    const result = synced.exec(line)?.[1]
    if (result === undefined) continue
    const end = Math.max(...fresh)
    if (result === '-1') {
      record.failed++
      for (const one of fresh) dropped.add(one)
    } else if ([...dropped].some(one => one < end)) record.untrustworthy++
    fresh = []
  }
  return record
}
