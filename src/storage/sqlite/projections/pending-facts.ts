import { type EventKind, needsItem } from '../../../core/event/event.ts'
import type { PersonIds } from '../../../core/event/stored-event.ts'
import type { LagBoard, ProgressBoard } from '../../shared/boards.ts'
import type { PersonInFlow } from '../checklists/checklist-progress.ts'
import type { Caused } from '../people/caused-events.ts'
import type { Fact } from './facts.ts'
import { JoinedFacts, type JoinedRun, personOfFact } from './joined-facts.ts'
import type { Projector } from './projector.ts'

/** Who is told what is behind, and whose progress is another now. */
export interface FollowerBoards {
  /** Epoch milliseconds. */
  now: () => number
  lag: LagBoard
  progress: ProgressBoard
}

/** What waits since a moment, epoch milliseconds. */
interface Window {
  number: number
  since: number
  facts: JoinedFacts
  caused: Caused[]
  /** Of somebody in a flow: whom runs in here name together with them. */
  linked: Map<string, ReadonlySet<string>>
}

const none: ReadonlySet<string> = new Set()

/** As many people as may count together, and as many again, so that the last change of it is told. */
const mostTogether = 34

const isOfOnly = (run: JoinedRun, person: string) => run.person === person && run.others === null

/**
 * What is committed and waits to be projected: in the window that is being filled, and in the one that was
 * taken to be projected. It tells whoever reads of whom something is behind, people who count together
 * with them among them.
 */
export class PendingFacts {
  private gathering: Window
  private taken: Window | null = null

  constructor(
    private readonly boards: FollowerBoards,
    private readonly projector: Pick<Projector, 'ownerOf' | 'partyOf'>,
  ) {
    this.gathering = this.newWindow()
  }

  /** How many events are in the window that is being filled. */
  get count(): number {
    return this.gathering.facts.count + this.gathering.caused.length
  }

  /** The number of the window that is being filled. */
  get number(): number {
    return this.gathering.number
  }

  /** What is in it. */
  get facts(): JoinedFacts {
    return this.gathering.facts
  }

  /** Whether a window, and all before it, is projected. */
  isDone(number: number): boolean {
    return this.boards.lag.lastDone >= number
  }

  /** Whether something waits of somebody, or of who counts together with them. */
  isPersonBehind(orgRow: number, ids: PersonIds): boolean {
    return this.boards.lag.isPersonBehind(orgRow, ids)
  }

  /** Takes what waits, and begins another window. */
  take(): Pick<Window, 'facts' | 'caused'> {
    this.taken = this.gathering
    this.gathering = this.newWindow()
    return this.taken
  }

  /** What was taken is projected. */
  done(): void {
    this.boards.lag.done(this.taken!.number)
    this.taken = null
    this.tell()
  }

  /** Something of a transaction is about to be added: what waits, waits since now. */
  begin(): void {
    if (this.count === 0) this.gathering.since = this.boards.now()
  }

  add(fact: Fact): void {
    const { flowRow, orgRow } = fact
    const { lag, progress } = this.boards
    const { facts, linked } = this.gathering
    if (!facts.has(flowRow)) lag.markFlow(flowRow)
    const { run, isNews } = facts.add(fact)
    if (!isNews) return
    const person = personOfFact(fact)
    lag.markPerson(orgRow, person)
    if (fact.userId !== null && fact.anonymousId !== null) {
      lag.markPerson(orgRow, `a${fact.anonymousId}`)
    }
    const together = run && fact.runId !== null ? this.peopleOf(run, fact.kind, person) : null
    // Of a run that names more people each counts alone.
    const isShared = together !== null && together.size <= mostTogether
    if (isShared) {
      for (const one of together) {
        const name = `${flowRow} ${one}`
        linked.set(name, together.union(linked.get(name) ?? none))
      }
    }
    if (!isShared && !needsItem(fact.kind) && fact.kind !== 'flow_completed') return
    // What one of them does is told to all who count together, as far as is known by now.
    const name = `${flowRow} ${person}`
    const concerned = new Set(linked.get(name))
    for (const one of this.taken?.linked.get(name) ?? none) concerned.add(one)
    for (const one of isShared ? together : [person]) {
      for (const other of this.projector.partyOf(orgRow, flowRow, one)) concerned.add(other)
    }
    for (const one of concerned) {
      lag.markPerson(orgRow, one)
      progress.changed(orgRow, one)
    }
  }

  addCaused(caused: Caused): void {
    const { lag } = this.boards
    this.gathering.caused.push(caused)
    lag.markPerson(caused.fact.orgRow, personOfFact(caused.fact))
    for (const flowRow of caused.asked.goalOf) lag.markFlow(flowRow)
  }

  /** The progress of some is another in the tables now. */
  tellProgress(people: readonly PersonInFlow[]): void {
    for (const { orgRow, person } of people) this.boards.progress.changed(orgRow, person)
  }

  /** Tells how much waits, and since when. */
  tell(): void {
    const { gathering, taken } = this
    const events = this.count + (taken ? taken.facts.count + taken.caused.length : 0)
    this.boards.lag.tell(events, (taken ?? gathering).since)
  }

  /**
   * Whoever is known to be named by a run, projected or not; null where that is one person alone.
   *
   * @param kind of the event that is being added, which names the person
   */
  private peopleOf(run: JoinedRun, kind: EventKind, person: string): Set<string> | null {
    const { orgRow, flowRow, key } = run
    // What starts is of nobody yet.
    const owner =
      kind === 'flow_started'
        ? person
        : (this.projector.ownerOf(orgRow, flowRow, key, person) ?? person)
    const earlier = this.taken?.facts.runOf(flowRow, key) ?? run
    if (owner === person && isOfOnly(run, person) && isOfOnly(earlier, person)) return null
    return new Set([
      person,
      owner,
      run.person,
      ...(run.others ?? []),
      earlier.person,
      ...(earlier.others ?? []),
    ])
  }

  private newWindow(): Window {
    const { lag, now } = this.boards
    const number = lag.nextWindow() + 1
    return { number, since: now(), facts: new JoinedFacts(), caused: [], linked: new Map() }
  }
}
