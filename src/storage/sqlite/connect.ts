import type { Database } from 'bun:sqlite'
import { personOf } from '../../core/event/event.ts'
import type { AnalyticsStores } from '../interfaces/analytics.ts'
import type { ChecklistStores } from '../interfaces/checklists.ts'
import type { EventStores } from '../interfaces/events.ts'
import type { PublishedFlowStores } from '../interfaces/flows.ts'
import type { GateStores } from '../interfaces/gate.ts'
import type { InstallationStores } from '../interfaces/installation.ts'
import type { StepStores } from '../interfaces/steps.ts'
import { asPort } from '../shared/in-rows.ts'
import { limitReached, rejectedOrigin } from '../shared/refusals.ts'
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
 */
export function connectStores(reading: Database, snapshots: Database, calls: StorageCalls): Stores {
  const { storage } = calls
  const { live } = storage
  const presence = first(storage.followed, new PresenceReader(reading, storage.presence))
  const steps = first(storage.followed, new StepReader(reading))
  const rows = new Readers(reading)
  const readers = first(storage.projected, rows)
  const experiments = first(storage.projected, new ExperimentReader(reading))
  const history = new RunHistory(snapshots)
  const catalogue = new StoredCatalogue(reading)
  let known = live.catalogueChanges
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
      note: (orgRow, events) => calls.noteJudged(orgRow, events),
    },
    steps: {
      recordHealth: report => calls.recordHealth(report),
      recordFingerprint: report => calls.recordFingerprint(report),
      healthCounts: steps.healthCounts,
    },
    presence: {
      mark: (orgRow, mark, now) => storage.presence.mark(orgRow, mark, now),
      recordSnippetVersion: (...args) => calls.recordSnippetVersion(...args),
      recordRejectedOrigin: (orgRow, at) => calls.recordRejection(orgRow, rejectedOrigin, at),
      async recordLimited(orgRow, bucket, at) {
        if (!storage.presence.isNewlyLimited(orgRow, bucket, at)) return
        await calls.recordRejection(orgRow, limitReached(bucket), at)
      },
      reserveBeat: (...args) => storage.presence.reserveBeat(...args),
      countUserHashes: (orgRow, counts) => storage.userHashes.add(orgRow, counts),
      read: presence.read,
      since: presence.since,
    },
    checklists: {
      progress: readers.progress,
      async version(orgRow, ids) {
        await storage.followed()
        return live.progress.version(orgRow, personOf(ids.userId, ids.anonymousId))
      },
    },
    people: readers,
    analytics: {
      async *runs(...args) {
        await storage.projected()
        yield* rows.runs(...args)
      },
      async *answers(...args) {
        await storage.projected()
        yield* rows.answers(...args)
      },
      async *events(...args) {
        await storage.followed()
        yield* rows.events(...args)
      },
      async lastStart(...args) {
        await storage.projected()
        return rows.lastStart(...args)
      },
      experiment: experiments.of,
      async *columns(flow, { startMs, endMs }, withPaths) {
        await storage.projected()
        yield* history.between(flow, startMs, endMs, withPaths)
      },
    },
  })
}

/** The methods of a port, each of which does something first. */
type Preceded<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never
}

export function first<Port extends object>(
  before: () => Promise<void>,
  port: Port,
): Preceded<Port> {
  return new Proxy(port, {
    get(_, name) {
      const method = port[name as keyof Port] as (...args: unknown[]) => unknown
      return async (...args: unknown[]) => {
        await before()
        return method.apply(port, args)
      }
    },
  }) as Preceded<Port>
}
