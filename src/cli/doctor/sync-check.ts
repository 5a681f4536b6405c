import { closeSync, fdatasyncSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isReadableDirectory } from './directory-check.ts'
import { type Finding, ok, type Subject, warning } from './finding.ts'

const slowMs = 100
/** How often a sync is tried, and how long in all, milliseconds: a disk that hangs needs no median. */
const tries = 5
const patienceMs = 2_000

/** How long a sync of the disk takes. */
export function checkSyncs({ data }: Subject): Finding[] {
  if (data === null || !isReadableDirectory(data)) return []
  const times = syncTimes(data)
  const ms = times[Math.floor(times.length / 2)]
  // Why nothing can be written there is told with the directory.
  if (ms === undefined) return []
  const what = `a sync of the disk takes ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
  if (ms <= slowMs) return [ok('disk', what)]
  const advice =
    'every commit waits for one: look what else writes to that disk, or move the data to a faster one'
  return [warning('disk', `${what}, over ${slowMs} ms`, advice)]
}

/** Sorted, milliseconds; measured on a file that has no name any more. */
function syncTimes(data: string): number[] {
  const path = join(data, `.cairn-doctor-${process.pid}`)
  let file: number | undefined
  try {
    file = openSync(path, 'wx', 0o600)
    unlinkSync(path)
    const times: number[] = []
    const page = Buffer.alloc(4_096)
    const startedAt = performance.now()
    while (times.length < tries && performance.now() - startedAt < patienceMs) {
      writeSync(file, page)
      const before = performance.now()
      fdatasyncSync(file)
      times.push(performance.now() - before)
    }
    return times.sort((a, b) => a - b)
  } catch {
    return []
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
