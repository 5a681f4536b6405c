import type { Database } from 'bun:sqlite'
import type { EventsTable, Member, TableEvent } from '../../log/log.ts'
import { openForReading } from '../database/database.ts'
import { type BatchRow, batchColumns, eventsOf } from '../ledger/event-batches.ts'
import { partNamesOver } from '../ledger/event-log.ts'

/** Events that are read, and written, at once, or some more: a few milliseconds of work. */
const eventsAtOnce = 500

type Row = BatchRow & { org_id: number }

/**
 * Copies events as rows for people who query them. It reads on a connection of its own, because what the storage
 * thread has not committed yet may never be.
 */
export class EventsCopy {
  private readonly sql
  private running = Promise.resolve()
  private isClosing = false

  constructor(
    private readonly database: Database,
    private readonly table: EventsTable,
  ) {
    this.sql = {
      after: database.query<Row, [number]>(
        `select org_id, ${batchColumns} from event_batches where seq > ? order by seq limit ${eventsAtOnce}`,
      ),
      one: database.query<Row, [number]>(
        `select org_id, ${batchColumns} from event_batches where seq = ?`,
      ),
      organisation: database.query<{ id: string }, [number]>(
        'select public_id as id from organisations where id = ?',
      ),
    }
  }

  static open(dataDir: string, table: EventsTable): EventsCopy {
    return new EventsCopy(openForReading(dataDir), table)
  }

  /** Copies a piece of what is new. @returns whether there was any */
  next(): Promise<boolean> {
    return this.table.copy(after => {
      const batches: Row[] = []
      let events = 0
      for (const batch of this.sql.after.iterate(after)) {
        batches.push(batch)
        events += batch.events
        if (events >= eventsAtOnce) break
      }
      return { events: this.rowsOf(batches), upTo: batches.at(-1)?.seq ?? after }
    })
  }

  /** Copies what is new, if this machine has the job. */
  catchUp(member: Pick<Member, 'holds'>): Promise<void> {
    const running = this.copyAll(member)
    this.running = running.catch(() => {})
    return running
  }

  private async copyAll(member: Pick<Member, 'holds'>): Promise<void> {
    while (!this.isClosing && (await member.holds('log')) && (await this.next())) {
      // What else this thread has to do comes first.
      await new Promise<void>(resolve => setImmediate(resolve))
    }
  }

  /** Writes batches again, after somebody was erased from the database. */
  async rewrite(seqs: readonly number[]): Promise<void> {
    if (!(await this.table.exists())) return
    await this.table.rewrite(seqs, () => this.rowsOf(seqs.flatMap(seq => this.sql.one.all(seq))))
  }

  private rowsOf(batches: readonly Row[]): TableEvent[] {
    const lookUps = new Map<number, ReturnType<ReturnType<typeof partNamesOver>>>()
    const partNames = partNamesOver(this.database)
    return batches.flatMap(batch => {
      const namesOf = lookUps.get(batch.org_id) ?? partNames(batch.org_id)
      lookUps.set(batch.org_id, namesOf)
      const orgId = this.sql.organisation.get(batch.org_id)?.id
      if (orgId === undefined) return []
      return eventsOf(batch).map((event, place) => {
        const names = namesOf(event)
        return {
          ...{ seq: batch.seq, place, org_id: orgId },
          ...{ id: event.id, kind: event.kind, source: event.source },
          ...{ user_id: event.userId, anonymous_id: event.anonymousId },
          ...{ flow_id: names.flowId, flow_key: names.flowKey },
          ...{ flow_version: event.flowVersion },
          ...{ step_id: names.stepId, step_key: names.stepKey },
          ...{ item_id: names.itemId, item_key: names.itemKey },
          ...{ run_id: event.runId, session_id: event.sessionId },
          ...{ occurred_at: event.occurredAt, reported_at: event.reportedAt },
          ...{ received_at: event.receivedAt, url: event.url, name: event.name },
          ...{ reason: event.reason, properties: event.properties, traits: event.traits },
        }
      })
    })
  }

  async close(): Promise<void> {
    this.isClosing = true
    await this.running
    this.database.close()
  }
}
