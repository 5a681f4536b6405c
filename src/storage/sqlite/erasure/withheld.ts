import type { Database } from 'bun:sqlite'
import type { AppendOutcome, PersonIds } from '../../../core/event/event.ts'
import type { NewEvent } from '../../shared/in-rows.ts'
import type { TransactionParticipant } from '../engine/participant.ts'
import { type CommandResult, type StorageCommand, timeOf } from '../writer/command.ts'
import type { CommandExecutor, Executor } from '../writer/commands.ts'
import { ErasureTable } from './erasure-table.ts'
import { hashedPeople, isBeside, isOf, type PersonMatcher } from './person-matcher.ts'

/** Which organisations have erased people, and who they are. */
class ErasedPeople {
  private readonly table: ErasureTable
  private readonly change
  /** Erased people by the row of their organisation. Nearly every organisation has none. */
  byOrganisation: ReadonlyMap<number, PersonMatcher> = new Map()
  private names: ReadonlySet<string> = new Set()
  private knownChange: number | undefined

  constructor(database: Database) {
    this.table = new ErasureTable(database)
    this.change = database.query<{ value: number }, []>(
      "select value from server_state where name = 'erasures_changed'",
    )
    this.look()
  }

  /**
   * Checks whether somebody was erased, or is allowed again.
   *
   * @returns whether somebody was erased
   */
  look(): boolean {
    const change = this.change.get()?.value ?? 0
    if (change === this.knownChange) return false
    const all = this.table.all()
    const rows = Map.groupBy(all, ({ orgRow }) => orgRow)
    const answers = new Map<string, boolean>()
    this.byOrganisation = new Map(
      [...rows].map(([orgRow, people]) => {
        const byKey = Map.groupBy(people, ({ key }) => key)
        const hashes = new Map(
          [...byKey].map(([key, rows]) => [key, new Set(rows.map(({ person }) => person))]),
        )
        return [orgRow, hashedPeople(people[0]!.orgId, hashes, answers)]
      }),
    )
    const before = this.names
    this.names = new Set(all.map(({ orgRow, key, person }) => `${orgRow} ${key} ${person}`))
    this.knownChange = change
    return this.names.difference(before).size > 0
  }
}

/** Leaves out an erased person's anonymous id beside another's user id, so that the other's report is kept. */
function withoutIdBeside<Names extends PersonIds>(names: Names, people: PersonMatcher): Names {
  return isBeside(people, names) ? { ...names, anonymousId: null } : names
}

/** Whether an event, or a report through a route for one person, is of one of these people. */
function isReportOf(people: PersonMatcher, report: StorageCommand | NewEvent): boolean {
  if (!('type' in report) || report.type === 'complete' || report.type === 'tick') {
    return isOf(people, report)
  }
  return report.type === 'health' && report.person !== null && people(report.person)
}

/** Executes the commands of people who were not erased. */
type Withholdable = Pick<
  CommandExecutor,
  'execute' | 'settle' | 'participants' | 'bury' | 'buryCommand' | 'refuse'
> & {
  readonly follower: Pick<CommandExecutor['follower'], 'projectOwn' | 'projectAgain'>
}

/**
 * Executes commands, but for those of erased people: they are answered like the first report of somebody new, and
 * nothing of them is stored. How many there were is counted, for the operator alone.
 */
export class Withholding implements Executor {
  readonly participants: TransactionParticipant
  private readonly erased: ErasedPeople

  constructor(
    private readonly executor: Withholdable,
    database: Database,
  ) {
    this.erased = new ErasedPeople(database)
    this.participants = executor.participants
  }

  execute(command: StorageCommand): CommandResult {
    const people = this.erased.byOrganisation.get(command.orgRow)
    if (!people) return this.executor.execute(command)
    if (command.type === 'append') return this.append(command, people)
    if (isReportOf(people, command)) {
      this.executor.refuse(command.orgRow, timeOf(command), { erased: 1 })
      return command.type === 'complete'
        ? { completedAt: command.completedAt, alreadyCompleted: false }
        : null
    }
    const isNamed = command.type === 'complete' || command.type === 'tick'
    return this.executor.execute(isNamed ? withoutIdBeside(command, people) : command)
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
  }

  /**
   * Checks whether somebody was erased, or is allowed again.
   *
   * @returns whether an erasure has begun
   */
  look(): boolean {
    return this.erased.look()
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

  private append(
    batch: Extract<StorageCommand, { type: 'append' }>,
    people: PersonMatcher,
  ): CommandResult {
    const { orgRow, receivedAt, events } = batch
    const erased: number[] = []
    const others: number[] = []
    const duplicates: number[] = []
    const ids = new Set<string>()
    for (const [place, event] of events.entries()) {
      const isFirst = !ids.has(event.id)
      ids.add(event.id)
      if (!isFirst) duplicates.push(place)
      else if (isOf(people, event)) erased.push(place)
      else others.push(place)
    }
    const isAnyBeside = events.some(event => isBeside(people, event))
    if (others.length === events.length && !isAnyBeside) return this.executor.execute(batch)

    const kept = others.map(place => withoutIdBeside(events[place]!, people))
    const outcome = this.executor.execute({ ...batch, events: kept }) as AppendOutcome
    this.executor.refuse(orgRow, receivedAt, { erased: erased.length })
    duplicates.push(...outcome.duplicates.map(i => others[i]!))
    return { duplicates: duplicates.sort((a, b) => a - b), deadLetters: [], erased }
  }
}
