import {
  closeSync,
  existsSync,
  fdatasyncSync,
  openSync,
  type StatsFs,
  statfsSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { leastFree } from '../../runtime/readiness.ts'
import { sizeOf } from '../output.ts'
import { type DataSubject, error, type Finding, ok, type Subject, warning } from './finding.ts'

/** Less room than this is soon too little, bytes: 5 %, and 1 GB or a fifth of a small disk. */
const enoughFree = (totalBytes: number) =>
  Math.max(0.05 * totalBytes, Math.min(1e9, 0.2 * totalBytes))

/** File systems of other machines, by the number that Linux gives them (statfs(2)). */
const remote: Record<number, string> = {
  26985: 'NFS',
  20859: 'SMB',
  16914839: '9P',
  4266872130: 'SMB',
  4283649346: 'CIFS',
}

/** Whether the disk has room, and is one that SQLite can trust. */
export function checkDisk({ data }: Subject): Finding[] {
  return data === null ? [] : judgeDisk(data, statfsSync(nearestExisting(data)))
}

/** The same for what the system says about a file system (statfs(2)). */
export function judgeDisk(
  data: string,
  found: Pick<StatsFs, 'type' | 'bsize' | 'bavail' | 'blocks' | 'files' | 'ffree'>,
): Finding[] {
  const { type, bsize, bavail, blocks, files, ffree } = found
  const [free, total] = [bavail * bsize, Math.max(1, blocks * bsize)]
  const left = `${sizeOf(free)} (${((free / total) * 100).toFixed(1)} %) are free where ${data} is`
  const advice = 'make room, or move the data directory to a larger disk'
  const findings: Finding[] = []
  if (free < leastFree(total)) findings.push(error('disk', left, advice))
  else if (free < enoughFree(total)) findings.push(warning('disk', left, advice))
  else findings.push(ok('disk', left))
  if (files > 0 && ffree === 0) findings.push(error('disk', 'no more files can be created', advice))
  const kind = process.platform === 'linux' ? remote[type >>> 0] : undefined
  if (kind) {
    const what = `${data} is on a file system of another machine (${kind}), where SQLite's locks and write-ahead log are not safe`
    findings.push(warning('disk', what, 'keep the data on a local disk'))
  }
  return findings
}

/** The path itself, or the directory above it in which it would be made. */
export function nearestExisting(path: string): string {
  let found = resolve(path)
  while (!existsSync(found)) found = dirname(found)
  return found
}

const slowMs = 100
/** How many syncs are measured, and for how long in all, milliseconds: a disk that hangs needs no median. */
const tries = 5
const patienceMs = 2_000

/** How long a sync of the disk takes. */
export function checkSyncs({ data }: DataSubject): Finding[] {
  const times = syncTimes(data)
  const ms = times[Math.floor(times.length / 2)]
  // The check of the directory reports why nothing can be written there.
  if (ms === undefined) return []
  const what = `a sync of the disk takes ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
  if (ms <= slowMs) return [ok('disk', what)]
  const advice =
    'every commit waits for one: find out what else writes to that disk, or move the data to a faster one'
  return [warning('disk', `${what}, over ${slowMs} ms`, advice)]
}

/** Sorted, milliseconds; measured on a file that has been unlinked. */
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
