import type { Database } from 'bun:sqlite'
import type { Stores } from '../core/ports.ts'
import { StoredCatalogue } from './catalogue.ts'
import type { StorageClient } from './client.ts'
import { IdentityBoard } from './identity-board.ts'
import { PresenceBoard } from './presence-board.ts'
import { Readers } from './readers.ts'
import { limitReached, refusedOrigin } from './refusals.ts'
import { RunHistory } from './run-blocks/run-history.ts'
import type { SharedMemory } from './shared.ts'
import { StepReader } from './step-reader.ts'

/**
 * Joins a client of the storage thread and reading connections into the stores of one thread.
 *
 * @param snapshots a second connection, for what is read as of one moment while others go on
 */
export function connectStores(
  reading: Database,
  snapshots: Database,
  client: StorageClient,
  shared: SharedMemory,
): Stores {
  const board = new PresenceBoard(shared.presence)
  const identity = new IdentityBoard(shared.identity)
  const readers = new Readers(reading, board)
  const history = new RunHistory(snapshots)
  const steps = new StepReader(reading)
  const generation = new Int32Array(shared.generation)
  // Before the catalogue: what changes in between is looked for once more than it has to be.
  let known = Atomics.load(generation, 0)
  const catalogue = new StoredCatalogue(reading)
  return {
    catalogue() {
      const current = Atomics.load(generation, 0)
      if (current !== known) {
        // Known only once it has been read: a refresh that fails is tried again.
        catalogue.refresh()
        known = current
      }
      return catalogue
    },
    ledger: client,
    checklists: readers,
    people: readers,
    steps: {
      recordHealth: report => client.recordHealth(report),
      recordFingerprint: report => client.recordFingerprint(report),
      healthCounts: (...args) => steps.healthCounts(...args),
    },
    presence: {
      mark: (orgRow, mark, now) => board.mark(orgRow, mark, now),
      recordSnippetVersion: (...args) => client.recordSnippetVersion(...args),
      recordRefusedOrigin: (orgRow, at) => client.recordRefusal(orgRow, refusedOrigin, at),
      async recordLimited(orgRow, bucket, at) {
        if (!board.isNewlyLimited(orgRow, bucket, at)) return
        await client.recordRefusal(orgRow, limitReached(bucket), at)
      },
      countUserHashes: (orgRow, counts) => identity.add(orgRow, counts),
      read: (...args) => readers.presence(...args),
    },
    analytics: {
      runs: (...args) => readers.runs(...args),
      events: (...args) => readers.events(...args),
      columns: (flow, { startMs, endMs }) => history.between(flow, startMs, endMs),
    },
  }
}
