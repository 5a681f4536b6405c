import type { Database } from 'bun:sqlite'
import { needsItem } from '../../../core/event/event.ts'
import { failpoint } from '../../../failpoints.ts'
import type { StoredEvent } from '../../shared/in-rows.ts'
import type { StoredCatalogue } from '../catalogue/catalogue.ts'
import type { PersonInFlow } from '../checklists/checklist-progress.ts'
import { TransactionParticipant } from '../engine/participant.ts'
import { inSavepoint } from '../engine/savepoint.ts'
import { type AwaitedEvent, type BatchRow, batchColumns, factsOf } from '../ledger/event-batches.ts'
import type { EventIds } from '../ledger/event-ids.ts'
import { type Caused, CausedEvents } from '../people/caused-events.ts'
import { PeopleTable, SeenPeople, type SeenPerson } from '../people/people-table.ts'
import type { RunChanges } from '../runs/run-table.ts'
import { type Fact, factOf, isOfFlow, type LedgerFact } from './facts.ts'
import { JoinedFacts, type Part, personOfFact } from './joined-facts.ts'
import { type FollowerState, PendingFacts } from './pending-facts.ts'
import { PoisonIsolation } from './poison-isolation.ts'
import { Projector } from './projector.ts'

/** Runs or facts that one transaction projects: two or three milliseconds, for which requests wait. */
const partSize = 400

/** Rows of the ledger that a statement reads at a start. */
const pageBatches = 64

/** What a transaction has stored, and how much of that it has projected already. */
class Noted {
  facts: Fact[] = []
  /** All events, those without a flow too. */
  seen: LedgerFact[] = []
  seenProjected = 0
  caused: Caused[] = []
  causedProjected = 0
  /** Whose progress may have changed. */
  progressed: PersonInFlow[] = []
  /** For each flow projected within the transaction: how many of the transaction's facts that covers. */
  projectedOf = new Map<number, number>()
  /** Flows for which everything that waited is projected within the transaction. */
  caughtUp = new Set<number>()

  get copy(): Noted {
    const { facts, seen, caused, progressed, projectedOf, caughtUp } = this
    return Object.assign(new Noted(), this, {
      ...{ facts: [...facts], seen: [...seen], caused: [...caused], progressed: [...progressed] },
      ...{ projectedOf: new Map(projectedOf), caughtUp: new Set(caughtUp) },
    })
  }
}

/** What is being projected. */
interface Draining extends Pick<PendingFacts, 'count' | 'since' | 'caused'> {
  /** The row of the ledger up to which everything is projected once this is done. */
  upTo: number
  /** The parts that are left to project. */
  parts: readonly Part[]
  /** The people who are left to write, after the parts. */
  people: readonly SeenPerson[]
}

function statements(database: Database) {
  return {
    projected: database.query<{ value: number }, []>(
      "select value from server_state where name = 'projected'",
    ),
    setProjected: database.query("update server_state set value = ? where name = 'projected'"),
    after: database.query<BatchRow & { org_id: number; asked: string | null }, [number]>(
      `select org_id, asked, ${batchColumns} from event_batches
      where seq > ? order by seq limit ${pageBatches}`,
    ),
  }
}

/**
 * Follows the ledger with the projections. An answer waits for the ledger alone. What its events mean is
 * kept in memory, joined by run, and written a moment later in larger transactions, so that a run whose
 * events come in many batches is written once.
 *
 * `projected` in `server_state` is the row of the ledger up to which everything is projected. Later rows
 * are read again at a start. Some of them may then be projected twice, which changes nothing.
 */
export class Follower extends TransactionParticipant<Noted> {
  readonly projector: Projector
  private readonly sql: ReturnType<typeof statements>
  private readonly causedEvents: CausedEvents
  private readonly people: PeopleTable
  private pending: PendingFacts
  private readonly poison: PoisonIsolation
  /** In the transaction under way. */
  private noted = new Noted()
  private draining: Draining | null = null
  /** The row of the ledger up to which everything is projected. */
  private upTo: number

  constructor(
    private readonly database: Database,
    catalogue: StoredCatalogue,
    changes: RunChanges,
    private readonly ids: Pick<EventIds, 'committedSeq'>,
    private readonly live: FollowerState,
  ) {
    super()
    const historyOf = (orgRow: number, flowRow: number) => {
      const flow = catalogue.flowByRow(orgRow, flowRow)
      if (!flow) throw new Error(`No flow has row ${flowRow}`)
      return flow
    }
    this.sql = statements(database)
    this.projector = new Projector(database, historyOf, changes)
    this.causedEvents = new CausedEvents(database)
    this.people = new PeopleTable(database)
    this.upTo = this.sql.projected.get()!.value
    this.pending = new PendingFacts(live.now())
    this.poison = new PoisonIsolation(database, {
      part: part => this.projectPart(part),
      fact: fact => this.projector.project([fact]),
    })
    this.readRest()
  }

  /** Notes that events were stored, in the transaction under way. */
  note(facts: readonly LedgerFact[]): void {
    this.noted.seen.push(...facts)
    for (const fact of facts) if (isOfFlow(fact)) this.noted.facts.push(fact)
  }

  /** Notes that a custom event was stored that published flows ask for. */
  noteCaused(caused: Caused): void {
    this.noted.caused.push(caused)
  }

  /** The same for events of a row of the ledger, with what the row says of them. */
  noteAwaited(facts: readonly LedgerFact[], requested: string | null): void {
    for (const caused of causedIn(facts, requested)) this.noteCaused(caused)
  }

  /** How many committed events wait to be projected. */
  get waiting(): number {
    return this.pending.count
  }

  /** The newest committed row of the ledger. */
  get newest(): number {
    return this.ids.committedSeq
  }

  /** Whether everything up to a row of the ledger is projected. */
  isDone(seq: number): boolean {
    return seq <= this.upTo
  }

  /** Whether there are committed rows of the ledger that are not fully projected. */
  get isBehind(): boolean {
    return !this.isDone(this.newest)
  }

  /** Whether some of what was taken up is left. */
  get isDraining(): boolean {
    return this.draining !== null
  }

  /** Whether ticks of a flow are stored that the tables do not reflect yet. */
  hasTicksBehind(flowRow: number): boolean {
    return (
      this.pending.facts.hasTicks(flowRow) ||
      (this.draining?.parts.some(part => part.flowRow === flowRow) ?? false)
    )
  }

  /** Projects, within the transaction, everything stored about a flow, including what the transaction stored. */
  projectFlow(flowRow: number): void {
    if (!this.noted.caughtUp.has(flowRow)) {
      const isOfFlow = (part: Part) => part.flowRow === flowRow
      const waiting = [
        ...(this.draining?.parts.filter(isOfFlow) ?? []),
        ...this.pending.facts.partsOf(flowRow, Number.POSITIVE_INFINITY),
      ]
      // What the database does not take is not the caller's fault: it goes on waiting, and is taken apart
      // later.
      if (waiting.length === 0 || this.attempt(() => waiting.map(part => this.projectPart(part)))) {
        this.noted.caughtUp.add(flowRow)
      }
    }
    this.projectNew(flowRow)
  }

  /** Projects what the transaction has stored about a flow. */
  private projectNew(flowRow: number): void {
    const { facts, projectedOf } = this.noted
    const own = facts.slice(projectedOf.get(flowRow) ?? 0)
    if (own.some(fact => fact.flowRow === flowRow)) this.attempt(() => this.projectOwnOf(flowRow))
  }

  /** Projects, within the transaction, everything stored in it, and leaves nothing for later. */
  projectOwn(): void {
    const { noted } = this
    const caused = noted.caused.slice(noted.causedProjected)
    if (caused.length > 0) this.causedEvents.note(caused)
    noted.causedProjected = noted.caused.length
    const people = new SeenPeople()
    for (const fact of noted.seen.slice(noted.seenProjected)) people.add(fact)
    this.people.add(people.list())
    noted.seenProjected = noted.seen.length
    for (const flowRow of new Set(noted.facts.map(fact => fact.flowRow))) this.projectOwnOf(flowRow)
  }

  private projectOwnOf(flowRow: number): void {
    const own = new JoinedFacts()
    const { facts, projectedOf } = this.noted
    for (const fact of facts.slice(projectedOf.get(flowRow) ?? 0)) {
      if (fact.flowRow === flowRow) own.add(fact)
    }
    for (const part of own.parts(Number.POSITIVE_INFINITY)) this.projectPart(part)
    projectedOf.set(flowRow, facts.length)
  }

  /** Takes up everything that waits. */
  private takeUp(): Draining {
    failpoint('before_projection')
    const { facts, caused, people, count, since } = this.pending
    this.pending = new PendingFacts(this.live.now())
    const parts = [...facts.parts(partSize)]
    return { caused, count, since, upTo: this.newest, parts, people: people.list() }
  }

  /**
   * Projects a piece of what waits, within a transaction of its own.
   *
   * @param isApart projects each run and each fact by itself, because the database does not take the piece
   * @returns a function to call once that is committed
   */
  step(isApart = false): () => void {
    if (!this.isBehind) return () => {}
    this.draining ??= this.takeUp()
    const { caused, upTo, parts, people } = this.draining
    // As many as fit in one transaction, of any number of flows; at least one if any is left.
    let [end, size] = [0, 0]
    for (; end < parts.length; end++) {
      size += parts[end]!.runs.length + parts[end]!.others.length
      if (end > 0 && size > partSize) break
      if (isApart) this.poison.isolate(parts[end]!, this.upTo)
      else this.projectPart(parts[end]!)
    }
    const left = parts.slice(end)
    const written = left.length > 0 ? 0 : Math.max(0, partSize - size)
    this.writePeople(people.slice(0, written), isApart)
    const peopleLeft = people.slice(written)
    const isDone = left.length === 0 && peopleLeft.length === 0
    if (isDone) {
      if (caused.length > 0) this.causedEvents.note(caused)
      this.sql.setProjected.run(upTo)
    }
    failpoint('during_projection')
    return () => {
      if (!isDone) {
        this.draining = { ...this.draining!, parts: left, people: peopleLeft }
        return
      }
      this.draining = null
      this.upTo = upTo
      this.tellLag()
    }
  }

  /** @param isApart leaves out whom the database does not take */
  private writePeople(people: readonly SeenPerson[], isApart: boolean): void {
    if (!isApart) this.people.add(people)
    else for (const person of people) this.attempt(() => this.people.add([person]))
  }

  /** @returns whether the work is kept; none of it is if the database does not take it */
  private attempt(work: () => unknown): boolean {
    // That a piece's people are notified although none of it is kept does no harm.
    return inSavepoint(this.database, null, work) === null
  }

  /** Projects an event of the ledger once more, within a transaction. */
  projectAgain(orgRow: number, event: StoredEvent): void {
    const fact = factOf(orgRow, event, event.source)
    if (isOfFlow(fact)) this.projector.project([fact])
  }

  override savepoint(): Noted {
    return this.noted.copy
  }

  override rollbackTo(noted: Noted): void {
    this.noted = noted
  }

  override rollback(): void {
    this.noted = new Noted()
  }

  override commit(): void {
    const { facts, seen, seenProjected, caused, causedProjected } = this.noted
    const { projectedOf, caughtUp, progressed } = this.noted
    this.rollback()
    this.beginWaiting()
    for (const fact of seen.slice(seenProjected)) this.pending.people.add(fact)
    for (const flowRow of caughtUp) {
      this.pending.facts.delete(flowRow)
      if (!this.draining) continue
      const parts = this.draining.parts.filter(part => part.flowRow !== flowRow)
      this.draining = { ...this.draining, parts }
    }
    for (const [i, fact] of facts.entries()) {
      if (i >= (projectedOf.get(fact.flowRow) ?? 0)) this.pending.facts.add(fact)
      // Reported now, and once more with everybody who counts together with them when it is projected.
      if (needsItem(fact.kind) || fact.kind === 'flow_completed') {
        this.live.progress.changed(fact.orgRow, personOfFact(fact))
      }
    }
    this.pending.caused.push(...caused.slice(causedProjected))
    for (const { orgRow, person } of progressed) this.live.progress.changed(orgRow, person)
    this.tellLag()
  }

  /** If nothing waits yet, the waiting starts now. */
  private beginWaiting(): void {
    if (this.pending.count === 0) this.pending = new PendingFacts(this.live.now())
  }

  /** Tells how much waits, and since when. */
  private tellLag(): void {
    const { pending, draining } = this
    const events = pending.count + (draining?.count ?? 0)
    this.live.lag.set(events, (draining ?? pending).since)
  }

  private projectPart({ runs, others }: Part): void {
    this.noted.progressed.push(...this.projector.projectJoined(runs, others))
  }

  /** Takes up what the ledger has after the last row that is fully projected. */
  private readRest(): void {
    for (let after = this.upTo; ; ) {
      const rows = this.sql.after.all(after)
      for (const row of rows) {
        failpoint('during_replay')
        const facts = factsOf(row, row.org_id)
        for (const fact of facts) {
          this.pending.people.add(fact)
          if (isOfFlow(fact)) this.pending.facts.add(fact)
        }
        this.pending.caused.push(...causedIn(facts, row.asked))
        after = row.seq
      }
      if (rows.length < pageBatches) break
    }
    this.tellLag()
  }
}

/** The events of a row of the ledger that published flows waited for. */
function causedIn(facts: readonly LedgerFact[], requested: string | null): Caused[] {
  if (requested === null) return []
  const events = JSON.parse(requested) as AwaitedEvent[]
  return events.map(([place, max, goalOf]) => ({ fact: facts[place]!, awaited: { max, goalOf } }))
}
