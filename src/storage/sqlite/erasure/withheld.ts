import type { AppendOutcome, PersonIds } from '../../../core/event/stored-event.ts'
import type { NewEvent } from '../../shared/in-rows.ts'
import { decodeEvents, decodeFacts, encodeEvents } from '../engine/event-codec/event-text.ts'
import { Participants, type TransactionParticipant } from '../engine/participant.ts'
import {
  type CommandExecutor,
  type CommandResult,
  type Executor,
  type StorageCommand,
  timeOf,
} from '../writer/commands.ts'
import type { Echo } from './echo.ts'
import type { ErasedPeople } from './erased-people.ts'
import { isBeside, isOf, isPerson, type PersonMatcher } from './person-matcher.ts'

/** Separates newly arrived reports of erased people from those of everybody else. */

/** Leaves out an erased person's anonymous id beside another's user id, so that the other's report is kept. */
function withoutIdBeside<Names extends PersonIds>(names: Names, people: PersonMatcher): Names {
  return isBeside(people, names) ? { ...names, anonymousId: null } : names
}

/** Whether an event, or a report through a route for one person, is of one of these people. */
function isReportOf(people: PersonMatcher, report: StorageCommand | NewEvent): boolean {
  if (!('type' in report) || report.type === 'complete' || report.type === 'tick') {
    return isOf(people, report)
  }
  return report.type === 'health' && report.person !== null && isPerson(people, report.person)
}

/** No answer depends on these fields of a health report or an event, so the echo does not keep them. */
const withoutWords = { url: null, selector: null, message: null }
const withoutContent = {
  reportedAt: null,
  reason: null,
  properties: null,
  traits: null,
  answer: null,
  url: null,
}

/** Executes the commands of people who were not erased. */
export type Withholdable = Pick<
  CommandExecutor,
  'execute' | 'settle' | 'participants' | 'bury' | 'buryCommand' | 'refuse'
> & {
  readonly ids: Pick<CommandExecutor['ids'], 'isTaken'>
  readonly follower: Pick<CommandExecutor['follower'], 'projectOwn' | 'projectAgain'>
}

/**
 * Executes commands. Those of erased people run on the echo, so that nothing of theirs is stored again and
 * no answer gives the erasure away. How many there were is counted, for the operator alone.
 */
export class Withholding implements Executor {
  readonly participants: TransactionParticipant

  constructor(
    private readonly executor: Withholdable,
    private readonly erased: ErasedPeople,
    private readonly echo: Echo,
  ) {
    this.participants = new Participants([executor.participants, echo])
    if (this.erased.byOrganisation.size > 0) this.echo.open()
  }

  execute(command: StorageCommand): CommandResult {
    const people = this.erased.byOrganisation.get(command.orgRow)
    if (!people) return this.executor.execute(command)
    if (command.type === 'append') return this.append(command, people)
    if (isReportOf(people, command)) {
      this.executor.refuse(command.orgRow, timeOf(command), { erased: 1 })
      const isHealth = command.type === 'health'
      return this.echo.execute(isHealth ? { ...command, ...withoutWords } : command)
    }
    const isNamed = command.type === 'complete' || command.type === 'tick'
    return this.executor.execute(isNamed ? withoutIdBeside(command, people) : command)
  }

  /** Whether anybody of an organisation was erased. */
  hasErased(orgRow: number): boolean {
    return this.erased.byOrganisation.has(orgRow)
  }

  /** Whether a report would be withheld. */
  isWithheld(orgRow: number, report: StorageCommand | NewEvent): boolean {
    const people = this.erased.byOrganisation.get(orgRow)
    return people !== undefined && isReportOf(people, report)
  }

  /** Leaves out reports of erased people, and their anonymous ids beside others' user ids. */
  ofOthers<Names extends PersonIds>(orgRow: number, reports: readonly Names[]): readonly Names[] {
    const people = this.erased.byOrganisation.get(orgRow)
    if (!people) return reports
    return reports
      .filter(report => !isOf(people, report))
      .map(report => withoutIdBeside(report, people))
  }

  settle(): void {
    this.executor.settle()
    this.echo.settle()
  }

  /**
   * Checks whether somebody was erased, or is allowed again.
   *
   * @returns whether an erasure has begun
   */
  look(): boolean {
    const { isSomebodyAllowed, isSomebodyErased } = this.erased.look()
    if (isSomebodyAllowed) this.echo.forget()
    if (this.erased.byOrganisation.size > 0) this.echo.open()
    return isSomebodyErased
  }

  /** Projects what is stored of others. */
  get follower(): Withholdable['follower'] {
    return this.executor.follower
  }

  bury(...[orgRow, event, at, error]: Parameters<Executor['bury']>): void {
    if (!this.isWithheld(orgRow, event)) this.executor.bury(orgRow, event, at, error)
  }

  buryCommand(...[command, error]: Parameters<Executor['buryCommand']>): void {
    if (!this.isWithheld(command.orgRow, command)) this.executor.buryCommand(command, error)
  }

  /** An event id is accepted once, whoever sent it: an id that one side has is a duplicate for the other. */
  private append(
    batch: Extract<StorageCommand, { type: 'append' }>,
    people: PersonMatcher,
  ): CommandResult {
    const { orgRow, receivedAt, text } = batch
    const facts = decodeFacts(text, orgRow, 'events')
    const theirs: number[] = []
    const others: number[] = []
    const duplicates: number[] = []
    /** By id, whether the first event with it is of an erased person. */
    const isFirstTheirs = new Map<string, boolean>()
    let isAnyBeside = false
    for (const [place, fact] of facts.entries()) {
      const isTheirs = isOf(people, fact)
      isAnyBeside ||= isBeside(people, fact)
      if (!isFirstTheirs.has(fact.id)) isFirstTheirs.set(fact.id, isTheirs)
      const isTakenByOther =
        isFirstTheirs.get(fact.id) !== isTheirs ||
        (isTheirs ? this.executor.ids : this.echo).isTaken(orgRow, fact.id)
      if (isTakenByOther) duplicates.push(place)
      else if (isTheirs) theirs.push(place)
      else others.push(place)
    }
    if (others.length === facts.length && !isAnyBeside) return this.executor.execute(batch)

    const events = decodeEvents({ ...text, receivedAts: [receivedAt], source: 'events' })
    /** Has one side store its part of the batch, and notes which of it were duplicates. */
    const store = (
      to: Pick<Executor, 'execute'>,
      places: readonly number[],
      part: typeof batch,
      kept: (event: NewEvent) => NewEvent,
    ) => {
      const text = encodeEvents(places.map(place => kept(events[place]!)))
      const outcome = to.execute({ ...part, text }) as AppendOutcome
      duplicates.push(...outcome.duplicates.map(i => places[i]!))
    }
    store(this.executor, others, batch, event => withoutIdBeside(event, people))
    if (theirs.length > 0) {
      const part = { ...batch, refusals: {}, skewMs: null }
      store(this.echo, theirs, part, event => ({ ...event, ...withoutContent }))
    }
    const erased = theirs.filter(place => !duplicates.includes(place))
    this.executor.refuse(orgRow, receivedAt, { erased: erased.length })
    return { duplicates: duplicates.sort((a, b) => a - b), deadLetters: [], erased }
  }
}
