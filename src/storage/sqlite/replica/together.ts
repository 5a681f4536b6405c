import type { Database } from 'bun:sqlite'
import type { Log, Member } from '../../log/log.ts'
import type { LongWork } from '../writer/long-work.ts'
import { EventsCopy } from './events-copy.ts'
import { SharedActivity } from './shared-activity.ts'
import { SharedWork } from './shared-work.ts'
import { sharedAuthorSessions, sharedPreviews } from './short-lived.ts'
import { Snapshots } from './snapshots.ts'

/** What makes a database one of several that follow a log. */
export interface Following {
  log: Log
  /** Null for a command, for which nobody waits. */
  member: Member | null
  /** Work in a thread of its own, on this machine's own files. */
  work: Pick<LongWork, 'eraseHere' | 'rebuildHere' | 'snapshot'>
}

interface TogetherParts extends Following {
  database: Database
  dataDir: string
  now: () => number
  seq: () => number
  change: <T>(work: () => T, isInPassing?: boolean, committed?: () => void) => Promise<T>
  /** Changes what is about this machine alone. */
  here: (work: () => void) => Promise<void>
  /** Resolves once no transaction is open. */
  idle: () => Promise<void>
  /** Deletes from this machine's ledger what is due there. */
  retain: () => Promise<void>
}

/** What several machines do otherwise than a server alone, besides following the log. */
export class Together {
  readonly authors
  readonly previews
  readonly activity: SharedActivity
  readonly snapshots: Snapshots
  readonly events: EventsCopy
  readonly work: SharedWork
  /** Operations that are no change of the tables alone, by name. */
  readonly operations

  constructor(parts: TogetherParts) {
    const { database, dataDir, log, member, work, now, change } = parts
    this.authors = sharedAuthorSessions(database, change)
    this.previews = sharedPreviews(database, change)
    this.activity = new SharedActivity(database, now, change)
    this.snapshots = new Snapshots({ ...parts, log, write: work.snapshot })
    this.events = EventsCopy.open(dataDir, log.events)
    this.work = new SharedWork({
      ...parts,
      ...{ snapshots: this.snapshots, events: this.events },
      forget: () => this.activity.forget(),
    })
    this.operations = {
      erase: (...args: Parameters<SharedWork['erase']>) => this.work.erase(...args),
      allowPerson: (...args: Parameters<SharedWork['allow']>) => this.work.allow(...args),
      rebuild: (...args: Parameters<SharedWork['rebuild']>) => this.work.rebuild(...args),
      holdJob: (job: string) => member?.holds(job),
      askJob: (job: string) => member?.asks(job),
      releaseJob: (job: string) => member?.releases(job),
      nodes: () => member?.all(),
      nodesBehind: () => member?.behind(),
    }
  }
}
