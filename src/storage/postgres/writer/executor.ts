import type { EventSource } from '../../../core/event/event.ts'
import { needsItem } from '../../../core/event/event.ts'
import type { PersonIds } from '../../../core/event/stored-event.ts'
import type { NewEvent } from '../../shared/in-rows.ts'
import type { StoredCatalogue } from '../../sqlite/catalogue/catalogue.ts'
import { type EventText, isOfFlow } from '../../sqlite/engine/event-codec/event-text.ts'
import { TransactionParticipant } from '../../sqlite/engine/participant.ts'
import type { Withholdable } from '../../sqlite/erasure/withheld.ts'
import type { Caused } from '../../sqlite/people/caused-events.ts'
import type { Fact, LedgerFact } from '../../sqlite/projections/facts.ts'
import { JoinedFacts, personOfFact } from '../../sqlite/projections/joined-facts.ts'
import type { CommandResult, StorageCommand } from '../../sqlite/writer/commands.ts'
import {
  EventCommands,
  type EventStore,
  type StoreOutcome,
} from '../../sqlite/writer/event-commands.ts'
import type { UnnumberedEvents } from '../events/event-rows.ts'
import { type NewIds, newIds } from '../ledger/event-ids.ts'
import { PlainPeople, type PlainState } from '../projections/plain-people.ts'
import type { Scratch } from '../projections/scratch.ts'
import type { State } from '../projections/state.ts'
import type { RowChange } from '../rows/tables.ts'
import { idNamed } from './concerns.ts'
import { type PreparedBatch, prepareBatch } from './prepared-batch.ts'

class Nothing extends TransactionParticipant {}

/** What is known of a group before it is executed. */
export interface GroupKnowledge {
  batches: ReadonlyMap<EventText, PreparedBatch>
  /** Batches whose ids are already taken for them, as far as they were free. */
  whole: ReadonlySet<EventText>
  /** Ids that are taken, by `idNamed`. */
  taken: Set<string>
  states: readonly State[]
  plain: PlainState
  /** The last number of each organisation's events. Moves on as events are stored. */
  numbers: Map<number, number>
}

/** What a group has to write. */
export interface GroupRows {
  events: (UnnumberedEvents & { firstSeq: number })[]
  /** Ids that are not taken yet. */
  ids: NewIds[]
  changes: readonly RowChange[]
  /** Changes for people whose runs all start no later than they did. */
  plainChanges: readonly RowChange[]
  /** Counts of what was refused, by organisation, a moment in the hour, and code. */
  refusals: { orgRow: number; at: number; counts: Record<string, number | undefined> }[]
  /** Reports of steps, which are counted in PostgreSQL itself. */
  health: Extract<StorageCommand, { type: 'health' }>[]
  /** How far pages' clocks were off. */
  skews: { orgRow: number; skewMs: number }[]
  /** The snippet's versions, by organisation. */
  versions: Map<number, string>
  /** People whose own browsers may have something new to be told. */
  progressed: Map<string, { org_id: number; person: string }>
}

const nothing = (): GroupRows & GroupKnowledge => ({
  ...{
    events: [],
    ids: [],
    changes: [],
    plainChanges: [],
    refusals: [],
    health: [],
    skews: [],
    progressed: new Map(),
    versions: new Map(),
  },
  ...{
    batches: new Map(),
    whole: new Set<EventText>(),
    taken: new Set(),
    states: [],
    plain: { entangled: new Set(), runs: [] },
    numbers: new Map(),
  },
})

/**
 * Executes commands in memory on what was read from PostgreSQL for them, and returns the rows that have to be
 * written there.
 */
export class GroupExecutor implements Withholdable, EventStore {
  readonly participants = new Nothing()
  readonly ids = { isTaken: (orgRow: number, id: string) => this.isTaken(orgRow, id) }
  readonly follower = { projectOwn() {}, projectAgain() {} }
  private readonly events: EventCommands
  private group = nothing()
  private plain: PlainPeople
  private waiting: Fact[] = []
  private caused: Caused[] = []

  constructor(
    catalogue: StoredCatalogue,
    private readonly scratch: Scratch,
  ) {
    this.events = new EventCommands(catalogue, this)
    this.plain = this.plainPeople(this.group.plain)
  }

  get projector() {
    return this.scratch.projector
  }

  /** Executes what belongs to one group. */
  run(knowledge: GroupKnowledge, work: () => void): GroupRows {
    this.group = { ...nothing(), ...knowledge }
    this.plain = this.plainPeople(knowledge.plain)
    this.waiting = []
    this.caused = []
    try {
      const changes = this.scratch.work(knowledge.states, () => {
        work()
        this.settle()
      })
      const plainChanges = this.plain.changes(this.scratch.tables)
      return { ...this.group, changes, plainChanges }
    } finally {
      this.events.waitingTicks.rollback()
      this.group = nothing()
    }
  }

  execute(command: StorageCommand): CommandResult {
    switch (command.type) {
      case 'append': {
        const { orgRow, receivedAt, refusals, skewMs } = command
        const outcome = this.events.append(command)
        this.refuse(orgRow, receivedAt, refusals)
        if (skewMs !== null) this.group.skews.push({ orgRow, skewMs })
        return outcome
      }
      case 'complete':
        return this.events.complete(command)
      case 'tick':
        return this.events.tick(command)
      case 'health':
        this.group.health.push(command)
        return null
      case 'snippet_version':
        this.group.versions.set(command.orgRow, command.version)
        return null
      case 'refusal':
        this.refuse(command.orgRow, command.at, { [command.code]: 1 })
        return null
      case 'fingerprint':
        throw new Error('A fingerprint is judged by what PostgreSQL has')
    }
  }

  settle(): void {
    this.project()
    if (this.caused.length > 0) this.scratch.caused.note(this.caused)
    this.caused = []
  }

  refuse(orgRow: number, at: number, counts: Record<string, number | undefined>): void {
    this.group.refusals.push({ orgRow, at, counts })
  }

  storeBatch(
    orgRow: number,
    receivedAt: number,
    source: EventSource,
    text: EventText,
  ): StoreOutcome {
    const { batches, whole, taken, numbers, events: rows, ids } = this.group
    const batch = batches.get(text) ?? prepareBatch({ orgRow, receivedAt, text }, source)
    const stored: LedgerFact[] = []
    const duplicates: number[] = []
    for (const [place, fact] of batch.facts.entries()) {
      const name = idNamed(orgRow, fact.id)
      if (taken.has(name)) {
        duplicates.push(place)
        continue
      }
      taken.add(name)
      stored.push(fact)
      if (isOfFlow(fact)) this.waiting.push(fact)
    }
    if (stored.length === 0) return { stored, duplicates }
    const last = numbers.get(orgRow)!
    numbers.set(orgRow, last + stored.length)
    const areAllNew = duplicates.length === 0
    rows.push({ ...(areAllNew ? batch.rows : newOnes(batch.rows)), firstSeq: last + 1 })
    if (!whole.has(text)) {
      const own = stored.map(({ id }) => id)
      ids.push(areAllNew ? batch.ids : newIds(orgRow, receivedAt, own))
    }
    return { stored, duplicates }

    function newOnes({ events, lines }: UnnumberedEvents): UnnumberedEvents {
      const left = new Set(duplicates)
      const isNew = (_: unknown, place: number) => !left.has(place)
      return { orgRow, events: events.filter(isNew), lines: lines.filter(isNew) }
    }
  }

  noteCaused(caused: Caused): void {
    this.caused.push(caused)
  }

  projectPerson(_orgRow: number, _flowRow: number, _person: PersonIds): void {
    this.project()
  }

  projectFlow(): void {
    this.project()
  }

  hasTicksBehind(flowRow: number): boolean {
    return this.waiting.some(fact => fact.flowRow === flowRow && needsItem(fact.kind))
  }

  bury(_orgRow: number, _event: NewEvent): void {
    throw new Error('What PostgreSQL does not take is buried by the writer')
  }

  buryCommand(): void {
    throw new Error('What PostgreSQL does not take is buried by the writer')
  }

  private project(): void {
    const facts = this.waiting
    this.waiting = []
    if (facts.length === 0) return
    const joined = new JoinedFacts()
    for (const fact of facts) joined.add(fact)
    for (const { flowRow, runs, others } of joined.parts(Number.POSITIVE_INFINITY)) {
      const [plainRuns, otherRuns] = parted(runs, run => this.plain.has(flowRow, run.person))
      // Taking a tick back also concerns those who count together with its sender.
      const [plainFacts, otherFacts] = parted(
        others,
        fact => !needsItem(fact.kind) && this.plain.has(flowRow, personOfFact(fact)),
      )
      for (const { orgRow, person } of [
        ...this.plain.projectJoined(plainRuns, plainFacts),
        ...this.projector.projectJoined(otherRuns, otherFacts),
      ]) {
        this.group.progressed.set(`${orgRow} ${person}`, { org_id: orgRow, person })
      }
    }
  }

  private plainPeople(state: PlainState): PlainPeople {
    return new PlainPeople(state, this.scratch.historyOf, this.scratch.numbers)
  }

  private isTaken(orgRow: number, id: string): boolean {
    return this.group.taken.has(idNamed(orgRow, id))
  }
}

/** Separates those that meet a condition from those that do not. */
function parted<One>(some: readonly One[], isSo: (one: One) => boolean): [One[], One[]] {
  const parts: [One[], One[]] = [[], []]
  for (const one of some) parts[isSo(one) ? 0 : 1].push(one)
  return parts
}
