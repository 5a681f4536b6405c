import type { LookStore } from '../../modules/authoring/port.ts'
import type { EventLog } from '../../modules/events/port.ts'
import type { OperationsStore } from '../../modules/operations/port.ts'
import type { PeopleStore } from '../../modules/people/port.ts'
import type { RunStore } from '../../modules/runs/port.ts'
import type { StepEvidenceStore } from '../../modules/steps/port.ts'
import { LagBoard, type SharedMemory } from '../shared/boards.ts'
import { asPort, rowOf } from '../shared/in-rows.ts'
import { identityHoursOver } from '../shared/presence-reader.ts'
import { connectManagement } from '../sqlite/connect-management.ts'
import { looksOver } from '../sqlite/steps/step-reader.ts'
import type { StorageClient } from '../sqlite/writer/client.ts'
import type { LongWork } from '../sqlite/writer/long-work.ts'
import { runStoreOver } from './analytics/run-list.ts'
import type { Reading } from './connect.ts'
import type { Postgres } from './database/connection.ts'
import { eventLogOver } from './events/event-log.ts'
import { personEventsOver } from './events/person-events.ts'
import { deadLetterIds, listDeadLetters } from './ledger/dead-letters.ts'
import { nodesSeen } from './nodes/nodes-seen.ts'
import { requiringCurrent } from './nodes/standing.ts'
import { personDataOver } from './people/person-data.ts'
import { refuseToCompact } from './rebuild/rebuild.ts'
import { stepReaderOver } from './steps/step-reader.ts'

/** What a thread reads over to answer management as well. */
export interface ManagementReading extends Reading {
  /** For everything that is stored of a person, which may take minutes to read. */
  ofPeople: Postgres
}

/**
 * As over SQLite, because what management keeps is in the node's copy. Only what concerns events and runs is
 * read from PostgreSQL, which alone has it.
 */
export function connectPostgresManagement(
  { copy, postgres, analytics, ofPeople }: ManagementReading,
  client: StorageClient,
  shared: SharedMemory,
  monotonic: () => number,
): ReturnType<typeof connectManagement> {
  const requireCurrent = requiringCurrent(shared.node, monotonic)
  /** Requires a current copy: an old one may lack a new credential, or still accept one that was revoked. */
  const byCurrent = <Known extends { find(sha256: string): unknown }>(known: Known): Known => ({
    ...known,
    find(sha256: string) {
      requireCurrent()
      return known.find(sha256)
    },
  })
  const own = connectManagement(copy, client, workOf(client), new LagBoard(LagBoard.memory()))
  const identityHours = identityHoursOver(postgres)
  const steps = stepReaderOver(postgres)
  const eventLog = eventLogOver(analytics, copy)
  return {
    ...own,
    managementTokens: byCurrent(own.managementTokens),
    dashboardSessions: byCurrent(own.dashboardSessions),
    runs: asPort<RunStore>(runStoreOver(analytics, copy)),
    eventLog: asPort<EventLog>(eventLog),
    looks: asPort<LookStore>(looksOver(copy, steps)),
    evidence: asPort<StepEvidenceStore>(steps),
    organisations: {
      ...own.organisations,
      async identityHours(orgRef, now) {
        await own.seen.write()
        return identityHours(rowOf(orgRef), now)
      },
    },
    people: {
      ...own.people,
      ...asPort<Pick<PeopleStore, 'stored' | 'events'>>({
        stored: personDataOver(ofPeople, copy),
        events: personEventsOver(analytics, copy),
      }),
    },
    operations: {
      ...own.operations,
      ...asPort<Pick<OperationsStore, 'deadLetters' | 'deadLetterIds' | 'nodes'>>({
        nodes: () => nodesSeen(postgres),
        deadLetters: (...args) => listDeadLetters(postgres, ...args),
        deadLetterIds: orgRow => deadLetterIds(postgres, orgRow),
      }),
    },
  }
}

/** The storage thread does what takes long, because it alone writes the copy. Most of that work is waiting. */
const workOf = (client: StorageClient): LongWork => ({
  async erase(person, options, audit, tell) {
    if (options.compact) await refuseToCompact()
    return client.work('erase', [person, options, audit], tell)
  },
  rebuild: (audit, tell) => client.work('rebuild', [audit], tell),
  compact: refuseToCompact,
})
