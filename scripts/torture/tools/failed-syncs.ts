/** A range of bytes in a file. */
interface Range {
  from: number
  to: number
}

const overlaps = (a: Range, b: Range) => a.from < b.to && b.from < a.to

/** The parts of some ranges that another one does not cover. */
const without = (ranges: readonly Range[], { from, to }: Range): Range[] =>
  ranges.flatMap(range =>
    overlaps(range, { from, to })
      ? [
          { from: range.from, to: Math.min(range.to, from) },
          { from: Math.max(range.from, to), to: range.to },
        ].filter(rest => rest.from < rest.to)
      : [range],
  )

/** What the calls on a log amount to. */
export interface SyncRecord {
  syncs: number
  failed: number
  /** Syncs that succeeded although bytes of the log before its end may never have reached the disk. */
  untrustworthy: number
}

const written = /pwrite64\(.*, (\d+), (\d+)\) += (\d+)/
const synced = /f(?:data)?sync\(\d+\) += (-1|0)/

/**
 * Reads strace's record of the calls on a write-ahead log. Linux marks the pages of a failed sync as
 * clean: what was written since the previous sync may never reach the disk, and the next sync does not
 * report it. So all of it has to be written again before a sync can be trusted.
 */
export function syncsIn(trace: string): SyncRecord {
  const record = { syncs: 0, failed: 0, untrustworthy: 0 }
  /** What was written since the last sync, and what a failed sync may have dropped. */
  let fresh: Range[] = []
  let dropped: Range[] = []
  for (const line of trace.split('\n')) {
    const [, , offset, length] = written.exec(line) ?? []
    if (offset !== undefined) {
      const range = { from: Number(offset), to: Number(offset) + Number(length) }
      fresh.push(range)
      dropped = without(dropped, range)
      continue
    }
    const [, result] = synced.exec(line) ?? []
    if (result === undefined) continue
    record.syncs++
    if (result === '-1') {
      record.failed++
      dropped.push(...fresh)
    } else {
      const end = Math.max(0, ...fresh.map(({ to }) => to))
      if (dropped.some(({ from }) => from < end)) record.untrustworthy++
    }
    fresh = []
  }
  return record
}
