import type { Database } from 'bun:sqlite'
import type { PersonIds } from '../../core/event/stored-event.ts'
import { summedHealth } from '../../core/step/health.ts'
import { JudgedEvents } from '../shared/activity/judged-events.ts'
import { PresenceBoard, type SharedMemory, WatchBoard } from '../shared/boards.ts'
import { IdentityBoard } from '../shared/identity-board.ts'
import { asPort } from '../shared/in-rows.ts'
import { PresenceReader } from '../shared/presence-reader.ts'
import { limitReached, refusedOrigin } from '../shared/refusals.ts'
import { StoredCatalogue } from '../sqlite/catalogue/catalogue.ts'
import type { Stores } from '../sqlite/connect.ts'
import { EchoReader } from '../sqlite/erasure/echo.ts'
import type { StorageClient } from '../sqlite/writer/client.ts'
import { analyticsOver } from './analytics/analytics-reader.ts'
import type { Postgres } from './database/connection.ts'
import { requiringCurrent } from './nodes/standing.ts'
import { PersonReader } from './people/person-reader.ts'
import { stepReaderOver } from './steps/step-reader.ts'

/** What a thread that answers requests reads by. */
export interface Reading {
  /** The node's copy of what management keeps. */
  copy: Database
  /** For requests that somebody waits for. */
  postgres: Postgres
  /** For analytics and downloads, behind which no other statement is to wait. */
  analytics: Postgres
}

/**
 * Joins a client of the storage thread and connections for reading into the stores of one thread.
 *
 * @param monotonic of the clock that all threads share
 */
export function connectPostgresStores(
  { copy, postgres, analytics }: Reading,
  client: StorageClient,
  shared: SharedMemory,
  monotonic: () => number,
): Stores {
  const requireCurrent = requiringCurrent(shared.node, monotonic)
  const board = new PresenceBoard(shared.presence)
  const identity = new IdentityBoard(shared.identity)
  const presence = new PresenceReader(postgres, board)
  const people = new PersonReader(postgres)
  const steps = stepReaderOver(postgres)
  const echo = new EchoReader(shared.echo, copy)
  const watched = new WatchBoard(shared.watch)
  const judged = new JudgedEvents((...args) => client.noteJudged(...args))
  const generation = new Int32Array(shared.generation)
  // Before the catalogue: what changes in between is looked for once more than it has to be.
  let known = Atomics.load(generation, 0)
  const catalogue = new StoredCatalogue(copy)
  const readerOf = (orgRow: number, ids: PersonIds) => echo.of(orgRow, ids) ?? people
  return asPort<Stores>({
    catalogue() {
      requireCurrent()
      const current = Atomics.load(generation, 0)
      if (current !== known) {
        // Known only once it has been read: a refresh that fails is tried again.
        catalogue.refresh()
        known = current
      }
      return catalogue
    },
    ledger: client,
    watch: {
      isWatched: orgRow => watched.isWatched(orgRow),
      note: (orgRow, events) => judged.note(orgRow, events),
    },
    checklists: {
      progress: (orgRow, flowRow, ids) => readerOf(orgRow, ids).progress(orgRow, flowRow, ids),
      version: (orgRow, ids) => people.version(orgRow, ids) as never,
    },
    people: {
      histories: (orgRow, flowRows, ids) => readerOf(orgRow, ids).histories(orgRow, flowRows, ids),
      caused: (orgRow, ids) => readerOf(orgRow, ids).caused(orgRow, ids),
    },
    steps: {
      recordHealth: report => client.recordHealth(report),
      recordFingerprint: report => client.recordFingerprint(report),
      async healthCounts(...args) {
        const counts = await steps.healthCounts(...args)
        const echoed = await echo.steps?.healthCounts(...args)
        return echoed ? summedHealth(counts, echoed) : counts
      },
    },
    presence: {
      mark: (orgRow, mark, now) => board.mark(orgRow, mark, now),
      recordSnippetVersion: (...args) => client.recordSnippetVersion(...args),
      recordRefusedOrigin: (orgRow, at) => client.recordRefusal(orgRow, refusedOrigin, at),
      async recordLimited(orgRow, bucket, at) {
        if (!board.isNewlyLimited(orgRow, bucket, at)) return
        await client.recordRefusal(orgRow, limitReached(bucket), at)
      },
      reserveBeat: (...args) => board.reserveBeat(...args),
      countUserHashes: (orgRow, counts) => identity.add(orgRow, counts),
      read: (...args) => presence.presence(...args),
      since: (...args) => presence.countedSince(...args),
    },
    analytics: analyticsOver(analytics, copy),
  })
}
