import type { Database } from 'bun:sqlite'
import type { PersonIds } from '../../core/event/stored-event.ts'
import type { SharedMemory } from '../shared/boards.ts'
import { asPort } from '../shared/in-rows.ts'
import { commonStores, type Stores } from '../sqlite/connect.ts'
import { EchoReader } from '../sqlite/erasure/echo.ts'
import type { StorageClient } from '../sqlite/writer/client.ts'
import { analyticsOver } from './analytics/analytics-reader.ts'
import type { Seal } from './analytics/run-history.ts'
import type { Postgres } from './database/connection.ts'
import { requiringCurrent } from './nodes/standing.ts'
import { PersonReader } from './people/person-reader.ts'
import { stepReaderOver } from './steps/step-reader.ts'

/** What a thread that answers requests reads over. */
export interface Reading {
  /** The node's copy of what management keeps. */
  copy: Database
  /** For requests that somebody waits for. */
  postgres: Postgres
  /** For analytics and downloads, so that no other statement waits behind them. */
  analytics: Postgres
}

/**
 * Combines a client of the storage thread and connections for reading into the stores of one thread.
 *
 * @param monotonic the time by the clock that all threads share
 */
export function connectPostgresStores(
  { copy, postgres, analytics }: Reading,
  client: StorageClient,
  shared: SharedMemory,
  monotonic: () => number,
): Stores {
  const requireCurrent = requiringCurrent(shared.node, monotonic)
  const people = new PersonReader(postgres)
  const echo = new EchoReader(shared.echo, copy)
  const common = commonStores(
    { management: copy, reports: postgres, steps: stepReaderOver(postgres), echo },
    client,
    shared,
  )
  const readerOf = (orgRow: number, ids: PersonIds) => echo.of(orgRow, ids) ?? people
  return asPort<Stores>({
    ...common,
    catalogue() {
      requireCurrent()
      return common.catalogue()
    },
    checklists: {
      progress: (orgRow, flowRow, ids) => readerOf(orgRow, ids).progress(orgRow, flowRow, ids),
      version: (orgRow, ids) => people.version(orgRow, ids) as never,
    },
    people: {
      histories: (orgRow, flowRows, ids) => readerOf(orgRow, ids).histories(orgRow, flowRows, ids),
      caused: (orgRow, ids) => readerOf(orgRow, ids).caused(orgRow, ids),
    },
    analytics: analyticsOver(analytics, copy, sealingOver(client, monotonic)),
  })
}

/** How long a thread waits before it asks again for the segments of a flow, milliseconds. */
const sealAgainMs = 60_000

/** Asks the storage thread to make segments. Nobody waits for them, and the next request makes up for a failure. */
function sealingOver(client: StorageClient, monotonic: () => number): Seal {
  const asked = new Map<number, number>()
  return (orgRow, flowRow) => {
    const now = monotonic()
    if (now - (asked.get(flowRow) ?? Number.NEGATIVE_INFINITY) < sealAgainMs) return
    asked.set(flowRow, now)
    client.work('sealRuns', [orgRow, flowRow]).catch(() => {})
  }
}
