import { maxApartMs } from '../storage/log/log.ts'
import type { WriteBuffer } from '../storage/shared/live-state.ts'
import type { NodeState } from '../storage/shared/node-state.ts'
import type { DiskWatch } from './disk-watch.ts'

/** A node that has not looked for this long what others have changed may answer from an old state, milliseconds. */
export const outOfTouchAfterMs = 10_000

/** A database counts as away if it has not answered for this long, milliseconds. */
export const awayAfterMs = 3_000

/** How long the disk may take to say how full it is, milliseconds. */
const hangingAfterMs = 5_000

/**
 * A disk with less room than this counts as full, bytes: the size of a large write-ahead log, or a share of a
 * small disk.
 */
export const minFree = (totalBytes: number) => Math.min(64 * 2 ** 20, totalBytes * 0.05)

const mib = (bytes: number) => {
  const count = bytes / 2 ** 20
  return `${count < 10 ? count.toFixed(1) : Math.floor(count)} MiB`
}
const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`

/** What is known of a running server at one moment. */
export interface ServerState {
  phase: 'starting' | 'serving' | 'stopping'
  /**
   * For one of several nodes over a database: a database that fails affects all of them, so no other node
   * would do better. Null for a server alone.
   */
  node: Pick<NodeState, 'answersUntil' | 'leasedUntil' | 'followedAt' | 'clockAhead'> | null
  /** By the monotonic clock. */
  monotonicMs: number
  /** What is being done to the database before it is served; null if nothing is. */
  preparing: string | null
  dataDir: string
  /** How long the disk has been syncing what was written, milliseconds. */
  syncingMs: number
  buffer: Pick<WriteBuffer, 'isRejecting' | 'hasRoom'>
  disk: Pick<DiskWatch, 'seen' | 'waitingMs'>
}

/** Why the server should get no traffic: one sentence per reason, which says what to do; none if it should. */
export function whyNotReady(state: ServerState): string[] {
  if (state.phase === 'starting') {
    return [state.preparing ?? 'starting: wait until storage is open']
  }
  if (state.phase === 'stopping') return ['stopping: send no more requests']
  return [...storageTroubles(state), ...nodeTroubles(state), ...diskTroubles(state)]
}

/**
 * What is wrong although the server should get traffic: one sentence per problem. A database that is away is one,
 * because the node still answers reads, and no other node would do better.
 */
export function warningsOf({ phase, node, monotonicMs: now }: ServerState): string[] {
  if (phase !== 'serving' || node === null) return []
  const awayMs = now - node.followedAt
  if (awayMs < awayAfterMs) return []
  return [
    `the database has not answered for ${seconds(awayMs)}: writes get 503, and reads continue from this node's copy`,
  ]
}

function* storageTroubles({ buffer, node }: ServerState): Iterable<string> {
  if (node !== null) return
  if (buffer.isRejecting) {
    yield 'storage rejects writes: see the log for the reason; it recovers by itself once a write succeeds'
  }
  if (!buffer.hasRoom) {
    yield 'the ingest buffer is full: wait for the disk, or raise --buffer-events and --buffer-bytes'
  }
}

/** The database answers this node, but takes nothing of it, or the node does not know what others have changed. */
function* nodeTroubles({ node, monotonicMs: now }: ServerState): Iterable<string> {
  if (node === null || now >= node.leasedUntil) return
  const aheadMs = node.clockAhead ?? 0
  if (Math.abs(aheadMs) > maxApartMs) {
    const side = aheadMs > 0 ? 'ahead of' : 'behind'
    yield `the clock of this machine is ${seconds(Math.abs(aheadMs))} ${side} the database's, so writes get 503: correct it, and synchronise both with NTP`
  }
  if (now >= node.answersUntil || now - node.followedAt >= outOfTouchAfterMs) {
    yield `this node has not checked for changes for ${seconds(now - node.followedAt)}: restart it if this lasts`
  }
}

function* diskTroubles({ dataDir, disk, syncingMs }: ServerState): Iterable<string> {
  const { seen } = disk
  const waitingMs = Math.max(disk.waitingMs, syncingMs)
  if (waitingMs >= hangingAfterMs) {
    yield `the disk of ${dataDir} has not responded for ${seconds(waitingMs)}: check whether it hangs`
  }
  if (seen === null) return
  if (seen.fault === 'gone') {
    yield `the database in ${dataDir} is gone: stop the server and restore it`
  } else if (seen.fault === 'replaced') {
    yield `the database in ${dataDir} was replaced under the running server: restart it`
  } else if (seen.fault === 'read-only') {
    yield `the file system of ${dataDir} is read-only: mount it for writing`
  }
  const least = minFree(seen.totalBytes)
  if (seen.freeBytes !== null && seen.freeBytes < least) {
    yield `the disk of ${dataDir} has ${mib(seen.freeBytes)} free, less than ${mib(least)}: free some space`
  }
}
