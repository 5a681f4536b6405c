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
import { asPort } from '../shared/in-rows.ts'
import { limitReached, refusedOrigin } from '../shared/refusals.ts'
import { StoredCatalogue } from './catalogue/catalogue.ts'
import { RunHistory } from './engine/run-blocks/run-history.ts'
import { PresenceReader } from './organisations/presence-reader.ts'
import { Readers } from './readers.ts'
import { ExperimentReader } from './runs/experiment-reader.ts'
import { StepReader } from './steps/step-reader.ts'
import type { StorageCalls } from './writer/calls.ts'

/** Storage as the modules and the gate see it. */
export type Stores = GateStores &
  AnalyticsStores &
  ChecklistStores &
  EventStores &
  PublishedFlowStores &
  InstallationStores &
  StepStores

/**
 * Joins storage and reading connections into the stores of the modules.
 *
 * @param snapshots a second connection, for what is read as of one moment while others go on
 * @param isOneOfSeveral whether other machines follow the same log
 */
export function connectStores(
  reading: Database,
  snapshots: Database,
  calls: StorageCalls,
  isOneOfSeveral: boolean,
): Stores {
  const { storage } = calls
  const { live } = storage
  const presence = new PresenceReader(reading, live.presence)
  const judged = new JudgedEvents((...args) => calls.noteJudged(...args))
  let known = live.catalogueChanges
  const catalogue = new StoredCatalogue(reading)
  const readers = new Readers(reading)
  /** Takes up what other machines have stored. */
  const followed = async () => {
    if (isOneOfSeveral) await storage.followed()
  }
  /** Brings the tables up to date with everything that is acknowledged. */
  const caughtUp = async () => {
    await followed()
    if (live.lag.events > 0) await storage.projected()
  }
  const experiments = new ExperimentReader(reading)
  const history = new RunHistory(snapshots)
  const steps = new StepReader(reading)
  return asPort<Stores>({
    catalogue() {
      const current = live.catalogueChanges
      if (current !== known) {
        // Noted only once it has been read, so that a refresh that fails is retried.
        catalogue.refresh()
        known = current
      }
      return catalogue
    },
    ledger: calls,
    watch: {
      isWatched: orgRow => storage.isWatched(orgRow),
      note: (orgRow, events) => judged.note(orgRow, events),
    },
    steps: {
      recordHealth: report => calls.recordHealth(report),
      recordFingerprint: report => calls.recordFingerprint(report),
      async healthCounts(...args) {
        await followed()
        return steps.healthCounts(...args)
      },
    },
    presence: {
      mark: (orgRow, mark, now) => live.presence.mark(orgRow, mark, now),
      recordSnippetVersion: (...args) => calls.recordSnippetVersion(...args),
      recordRefusedOrigin: (orgRow, at) => calls.recordRefusal(orgRow, refusedOrigin, at),
      async recordLimited(orgRow, bucket, at) {
        if (!live.presence.isNewlyLimited(orgRow, bucket, at)) return
        await calls.recordRefusal(orgRow, limitReached(bucket), at)
      },
      reserveBeat: (...args) => live.presence.reserveBeat(...args),
      countUserHashes: (orgRow, counts) => live.userHashes.add(orgRow, counts),
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
        const version = () => live.progress.version(orgRow, person)
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
