import type { Database } from 'bun:sqlite'
import { personOf } from '../../core/event/event.ts'
import type { GateStores } from '../../http/port.ts'
import type { AnalyticsStores } from '../../modules/analytics/port.ts'
import type { ChecklistStores } from '../../modules/checklists/port.ts'
import type { EventStores } from '../../modules/events/port.ts'
import type { PublishedFlowStores } from '../../modules/flows/port.ts'
import type { InstallationStores } from '../../modules/installation/port.ts'
import type { StepStores } from '../../modules/steps/port.ts'
import { JudgedEvents } from '../shared/activity/judged-events.ts'
import {
  LagBoard,
  PresenceBoard,
  ProgressBoard,
  type SharedMemory,
  WatchBoard,
} from '../shared/boards.ts'
import { IdentityBoard } from '../shared/identity-board.ts'
import { asPort } from '../shared/in-rows.ts'
import { limitReached, refusedOrigin } from '../shared/refusals.ts'
import { StoredCatalogue } from './catalogue/catalogue.ts'
import { RunHistory } from './engine/run-blocks/run-history.ts'
import { PresenceReader } from './organisations/presence-reader.ts'
import { Readers } from './readers.ts'
import { ExperimentReader } from './runs/experiment-reader.ts'
import { StepReader } from './steps/step-reader.ts'
import type { StorageClient } from './writer/client.ts'

/** Storage as the modules and the gate see it. */
export type Stores = GateStores &
  AnalyticsStores &
  ChecklistStores &
  EventStores &
  PublishedFlowStores &
  InstallationStores &
  StepStores

/**
 * Joins a client of the storage thread and reading connections into the stores of one thread.
 *
 * @param snapshots a second connection, for what is read as of one moment while others go on
 * @param isOneOfSeveral whether other machines follow the same log
 */
export function connectStores(
  reading: Database,
  snapshots: Database,
  client: StorageClient,
  shared: SharedMemory,
  isOneOfSeveral: boolean,
): Stores {
  const board = new PresenceBoard(shared.presence)
  const presence = new PresenceReader(reading, board)
  const identity = new IdentityBoard(shared.identity)
  const watched = new WatchBoard(shared.watch)
  const judged = new JudgedEvents((...args) => client.noteJudged(...args))
  const generation = new Int32Array(shared.generation)
  // Read before the catalogue, so that what changes in between is looked for once too often, and not missed.
  let known = Atomics.load(generation, 0)
  const catalogue = new StoredCatalogue(reading)
  const readers = new Readers(reading)
  const lag = new LagBoard(shared.lag)
  /** Takes up what other machines have stored. */
  const followed = async () => {
    if (isOneOfSeveral) await client.follow()
  }
  /** Brings the tables up to date with everything that is acknowledged. */
  const caughtUp = async () => {
    await followed()
    if (lag.events > 0) await client.project()
  }
  const experiments = new ExperimentReader(reading)
  const progress = new ProgressBoard(shared.progress)
  const history = new RunHistory(snapshots)
  const steps = new StepReader(reading)
  return asPort<Stores>({
    catalogue() {
      const current = Atomics.load(generation, 0)
      if (current !== known) {
        // Noted only once it has been read, so that a refresh that fails is retried.
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
    steps: {
      recordHealth: report => client.recordHealth(report),
      recordFingerprint: report => client.recordFingerprint(report),
      async healthCounts(...args) {
        await followed()
        return steps.healthCounts(...args)
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
      async read(...args) {
        await followed()
        return presence.presence(...args)
      },
      async since(...args) {
        await followed()
        return presence.countedSince(...args)
      },
    },
    checklists: {
      async progress(...args) {
        await caughtUp()
        return readers.progress(...args)
      },
      version(orgRow, ids) {
        const person = personOf(ids.userId, ids.anonymousId)
        const version = () => progress.version(orgRow, person)
        return isOneOfSeveral ? (followed().then(version) as never) : version()
      },
    },
    people: {
      async histories(...args) {
        await caughtUp()
        return readers.histories(...args)
      },
      async caused(...args) {
        await caughtUp()
        return readers.caused(...args)
      },
    },
    analytics: {
      async *runs(...args) {
        await caughtUp()
        yield* readers.runs(...args)
      },
      async *answers(...args) {
        await caughtUp()
        yield* readers.answers(...args)
      },
      async *events(...args) {
        await followed()
        yield* readers.events(...args)
      },
      async experiment(...args) {
        await caughtUp()
        return experiments.of(...args)
      },
      async *columns(flow, { startMs, endMs }, beside) {
        await caughtUp()
        yield* history.between(flow, startMs, endMs, beside)
      },
    },
  })
}
