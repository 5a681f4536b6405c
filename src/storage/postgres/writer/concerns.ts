import { namesOf, needsItem, personOf } from '../../../core/event/event.ts'
import type { PersonIds } from '../../../core/event/stored-event.ts'
import { isUnattributed, runKeyOf } from '../../../core/run/run.ts'
import type { StoredCatalogue } from '../../sqlite/catalogue/catalogue.ts'
import { eventsPerBatch } from '../../sqlite/engine/event-codec/event-batches.ts'
import { type EventText, isOfFlow } from '../../sqlite/engine/event-codec/event-text.ts'
import type { Withholding } from '../../sqlite/erasure/withheld.ts'
import type { LedgerFact } from '../../sqlite/projections/facts.ts'
import { isInRun } from '../../sqlite/projections/joined-facts.ts'
import type { StorageCommand } from '../../sqlite/writer/commands.ts'
import type { Queries } from '../database/connection.ts'
import { takeIds, takenIds } from '../ledger/event-ids.ts'
import { nameIn, type PlainState } from '../projections/plain-people.ts'
import {
  type FlowName,
  type PersonInFlow,
  type RunName,
  readCaused,
  readEntangled,
  readJoinedFlows,
  readPeople,
  readRuns,
  type State,
} from '../projections/state.ts'
import type { PreparedBatch, PreparedBatches } from './prepared-batch.ts'

/** One name for an organisation and the id of one of its events. */
export const idNamed = (orgRow: number, id: string) => `${orgRow} ${id}`

/** What a group of commands may need to know, collected so that it can be read in few round trips. */
export class Concerns {
  readonly organisations: readonly number[]
  /** The batches, by their texts. */
  readonly batches = new Map<EventText, PreparedBatch>()
  /**
   * Batches of which all events are stored, as far as can be told before it is known which ids are free. Of
   * other batches, some events may be withheld or occur twice.
   */
  readonly whole = new Set<EventText>()
  /** The ids of their events. */
  private readonly ids = new Set<string>()
  /** The people whom the events of each run name. */
  private readonly runs = new Map<string, RunName & { people: Set<string> }>()
  /** People about whom something is reported that a run's own events do not say. */
  private readonly people = new Map<string, PersonInFlow>()
  private readonly causers = new Map<string, Omit<PersonInFlow, 'flow_id'>>()

  /** @param areNew whether all ids are assumed to be free, so that those of whole batches need no look-up */
  constructor(
    commands: readonly StorageCommand[],
    areNew: boolean,
    private readonly catalogue: StoredCatalogue,
    prepared: PreparedBatches,
    withholding: Pick<Withholding, 'hasErased'>,
  ) {
    this.organisations = [...new Set(commands.map(({ orgRow }) => orgRow))].sort((a, b) => a - b)
    for (const command of commands) {
      if (command.type === 'append') {
        const { orgRow, text } = command
        const batch = prepared.of(command)
        const isOnce = this.haveNewIds(batch)
        const isWhole = text.count <= eventsPerBatch && !withholding.hasErased(orgRow)
        if (areNew && isOnce && isWhole) this.whole.add(text)
        this.addBatch(orgRow, text, batch)
      }
      if (command.type === 'complete' || command.type === 'tick') {
        const { orgRow, flowRow, runId = null } = command
        this.addPerson(orgRow, flowRow, command)
        if (runId !== null) this.addRun(orgRow, flowRow, `r${runId}`, command)
      }
    }
  }

  /**
   * Reads what is known of the ids of events, and of the people and runs involved. It takes the ids of whole
   * batches.
   *
   * @throws if one of those is taken already; see `saysTaken`
   */
  async read(queries: Queries): Promise<{
    taken: Set<string>
    states: readonly State[]
    plain: PlainState
  }> {
    const [taken, runs, joined, caused] = await Promise.all([
      this.takenIds(queries),
      readRuns(queries, [...this.runs.values()].map(nameOf)),
      readJoinedFlows(queries, this.organisations),
      readCaused(queries, [...this.causers.values()]),
    ])
    for (const { flow_id, run_key, person } of runs) {
      this.runs.get(nameIn(flow_id, run_key))?.people.add(person)
    }
    const entangled = await this.entangled(queries, joined)
    const states: State[] = [new Map([['caused_events', caused]])]
    if (entangled.size > 0) {
      const theirs = [...this.runs.values()].filter(({ flow_id, people: [person] }) =>
        entangled.has(nameIn(flow_id, person!)),
      )
      states.push(await readPeople(queries, [...entangled.values()], theirs.map(nameOf)))
    }
    const ofPlain = runs.filter(run => !entangled.has(nameIn(run.flow_id, run.person)))
    return { taken, states, plain: { entangled: new Set(entangled.keys()), runs: ofPlain } }
  }

  /**
   * People for whom more counts in a flow than what their runs' own events say, because of what is stored or
   * because of one of the commands.
   */
  private async entangled(
    queries: Queries,
    joinedFlows: readonly FlowName[],
  ): Promise<Map<string, PersonInFlow>> {
    const found = new Map(this.people)
    const add = ({ org_id, flow_id }: FlowName, person: string) =>
      found.set(nameIn(flow_id, person), { org_id, flow_id, person })
    const runs = [...this.runs.values()]
    for (const run of runs) {
      if (run.people.size > 1) for (const person of run.people) add(run, person)
    }
    const joined = new Set(joinedFlows.map(({ flow_id }) => flow_id))
    const asked = runs.flatMap(({ people: [person], ...name }) =>
      joined.has(name.flow_id) && !found.has(nameIn(name.flow_id, person!))
        ? [{ ...name, person: person! }]
        : [],
    )
    for (const { person, ...flow } of await readEntangled(queries, asked)) add(flow, person)
    return found
  }

  /** Whether no id of a batch occurs twice, in it or in those before it. */
  private haveNewIds({ facts }: PreparedBatch): boolean {
    const before = this.ids.size
    for (const { orgRow, id } of facts) this.ids.add(idNamed(orgRow, id))
    return this.ids.size === before + facts.length
  }

  private addBatch(orgRow: number, text: EventText, batch: PreparedBatch): void {
    this.batches.set(text, batch)
    for (const fact of batch.facts) {
      if (fact.kind === 'custom') this.addCustom(orgRow, fact)
      if (!isOfFlow(fact)) continue
      if (isInRun(fact)) this.addRun(orgRow, fact.flowRow, runKeyOf(fact), fact)
      if (isUnattributed(fact) || needsItem(fact.kind)) this.addPerson(orgRow, fact.flowRow, fact)
    }
  }

  private addCustom(orgRow: number, fact: LedgerFact): void {
    if (fact.name === null) return
    const organisation = this.catalogue.organisationByRow(orgRow)
    for (const { flow } of this.catalogue.itemsCompletedBy(organisation, fact.name)) {
      this.addPerson(orgRow, flow.ref, fact)
    }
    if (this.catalogue.asked(organisation, fact.name) === null) return
    const person = personOf(fact.userId, fact.anonymousId)
    this.causers.set(`${orgRow} ${person}`, { org_id: orgRow, person })
  }

  private addPerson(orgRow: number, flowRow: number, ids: PersonIds): void {
    for (const person of namesOf(ids)) {
      this.people.set(nameIn(flowRow, person), { org_id: orgRow, flow_id: flowRow, person })
    }
  }

  private addRun(orgRow: number, flowRow: number, key: string, ids: PersonIds): void {
    const name = nameIn(flowRow, key)
    const known = this.runs.get(name)
    if (known) for (const person of namesOf(ids)) known.people.add(person)
    else {
      const people = new Set(namesOf(ids))
      this.runs.set(name, { org_id: orgRow, flow_id: flowRow, run_key: key, people })
    }
  }

  /** Which ids are taken already. */
  private async takenIds(queries: Queries): Promise<Set<string>> {
    const [whole, others] = [true, false].map(isWhole =>
      [...this.batches]
        .filter(([text]) => this.whole.has(text) === isWhole)
        .map(([, batch]) => batch),
    ) as [PreparedBatch[], PreparedBatch[]]
    const idsOf = (batches: readonly PreparedBatch[]) => batches.map(({ ids }) => ids)
    // The others come first, because they would find the ids that whole batches take to be taken.
    const [places] = await Promise.all([
      others.length > 0 ? takenIds(queries, idsOf(others)) : [],
      whole.length > 0 && takeIds(queries, idsOf(whole)),
    ])
    const facts = others.flatMap(batch => batch.facts)
    return new Set(places.map(place => idNamed(facts[place]!.orgRow, facts[place]!.id)))
  }
}

const nameOf = ({ org_id, flow_id, run_key }: RunName): RunName => ({ org_id, flow_id, run_key })
