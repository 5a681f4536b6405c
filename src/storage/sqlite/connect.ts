import type { Database } from 'bun:sqlite'
import { personOf } from '../../core/event/event.ts'
import type { PersonIds } from '../../core/event/stored-event.ts'
import { summedHealth } from '../../core/step/health.ts'
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
import { asPort, type InRows } from '../shared/in-rows.ts'
import { limitReached, refusedOrigin } from '../shared/refusals.ts'
import { StoredCatalogue } from './catalogue/catalogue.ts'
import { RunHistory } from './engine/column-segments/run-history.ts'
import { EchoReader } from './erasure/echo.ts'
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
 * What is kept in memory or reported in passing, beside what is read as it is stored.
 *
 * @param followed takes up what other machines have stored
 */
function passingStores(
  reading: Database,
  client: StorageClient,
  shared: SharedMemory,
  echo: EchoReader,
  followed: () => Promise<void>,
): Pick<InRows<Stores>, 'catalogue' | 'ledger' | 'watch' | 'steps' | 'presence'> {
  const board = new PresenceBoard(shared.presence)
  const presence = new PresenceReader(reading, board)
  const steps = new StepReader(reading)
  const identity = new IdentityBoard(shared.identity)
  const watched = new WatchBoard(shared.watch)
  const judged = new JudgedEvents((...args) => client.noteJudged(...args))
  const generation = new Int32Array(shared.generation)
  // Read before the catalogue, so that what changes in between is looked for once too often, and not missed.
  let known = Atomics.load(generation, 0)
  const catalogue = new StoredCatalogue(reading)
  return {
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
      async read(...args) {
        await followed()
        return presence.presence(...args)
      },
      async since(...args) {
        await followed()
        return presence.countedSince(...args)
      },
    },
  }
}

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
  isOneOfSeveral = false,
): Stores {
  const readers = new Readers(reading)
  const lag = new LagBoard(shared.lag)
  /** Takes up what other machines have stored. */
  const followed = async () => {
    if (isOneOfSeveral) await client.follow()
  }
  /** Brings the tables up to date with what is acknowledged, if something of a flow is behind. */
  const caughtUp = async (flowRow: number) => {
    await followed()
    if (lag.isFlowBehind(flowRow)) await client.project()
  }
  /** Reads what is kept of a person, once the tables are up to date with what is acknowledged of them. */
  const ofPerson = async <T>(
    orgRow: number,
    ids: PersonIds,
    read: (from: Readers) => Promise<T>,
  ): Promise<T> => {
    await followed()
    if (lag.isPersonBehind(orgRow, ids)) await client.project()
    return read(echo.of(orgRow, ids) ?? readers)
  }
  const experiments = new ExperimentReader(reading)
  const progress = new ProgressBoard(shared.progress)
  const history = new RunHistory(snapshots)
  const echo = new EchoReader(shared.echo, reading)
  return asPort<Stores>({
    ...passingStores(reading, client, shared, echo, followed),
    checklists: {
      progress: (orgRow, flowRow, ids) =>
        ofPerson(orgRow, ids, from => from.progress(orgRow, flowRow, ids)),
      version(orgRow, ids) {
        const person = personOf(ids.userId, ids.anonymousId)
        if (!isOneOfSeveral) return progress.version(orgRow, person)
        return ofPerson(orgRow, ids, async () => progress.version(orgRow, person)) as never
      },
    },
    people: {
      histories: (orgRow, flowRows, ids) =>
        ofPerson(orgRow, ids, from => from.histories(orgRow, flowRows, ids)),
      caused: (orgRow, ids) => ofPerson(orgRow, ids, from => from.caused(orgRow, ids)),
    },
    analytics: {
      async *runs(orgRow, flowRow, range) {
        await caughtUp(flowRow)
        yield* readers.runs(orgRow, flowRow, range)
      },
      async *answers(orgRow, flowRow, range) {
        await caughtUp(flowRow)
        yield* readers.answers(orgRow, flowRow, range)
      },
      async *events(...args) {
        await followed()
        yield* readers.events(...args)
      },
      async experiment(...args) {
        await caughtUp(args[1])
        return experiments.of(...args)
      },
      async *columns(flow, { startMs, endMs }, beside) {
        await caughtUp(flow.flowRef)
        yield* history.between(flow, startMs, endMs, beside)
      },
    },
  })
}
