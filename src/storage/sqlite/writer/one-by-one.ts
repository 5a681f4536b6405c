import type { Database } from 'bun:sqlite'
import type { AppendOutcome } from '../../../core/event/event.ts'
import { inSavepoint } from '../engine/savepoint.ts'
import type { CommandResult, StorageCommand } from './command.ts'
import type { Executor } from './commands.ts'

/** The outcome of a command of a group that was taken apart. */
export type Verdict = { result: CommandResult } | { fault: unknown }

/**
 * Executes commands one by one within a transaction, each in a savepoint. What the database does not take goes to
 * the dead letters: of a batch, only the events at fault.
 */
export class OneByOne {
  constructor(
    private readonly database: Database,
    private readonly executor: Executor,
    private readonly onError: (error: unknown, what: string) => void,
  ) {}

  execute(command: StorageCommand): Verdict {
    return this.alone<Verdict>(
      () => ({ result: this.executor.execute(command) }),
      problem => {
        if (command.type === 'append') return { result: this.executeEvents(command) }
        this.onError(problem, `a command (${command.type}) is kept as a dead letter`)
        this.executor.buryCommand(command, problem)
        return { fault: problem }
      },
    )
  }

  private executeEvents(command: Extract<StorageCommand, { type: 'append' }>): AppendOutcome {
    const outcome = {
      duplicates: [] as number[],
      deadLetters: [] as number[],
      erased: [] as number[],
    }
    // What belongs to the batch and to no event comes first, so that no event takes it along when it is
    // rolled back.
    this.executor.execute({ ...command, events: [] })
    const { orgRow, receivedAt } = command
    for (const [i, event] of command.events.entries()) {
      const one = { ...command, refusals: {}, skewMs: null, events: [event] }
      this.alone(
        () => {
          const { duplicates, erased } = this.executor.execute(one) as AppendOutcome
          if (duplicates.length > 0) outcome.duplicates.push(i)
          if (erased.length > 0) outcome.erased.push(i)
        },
        problem => {
          this.onError(problem, 'an event is kept as a dead letter')
          this.executor.bury(orgRow, event, receivedAt, problem)
          outcome.deadLetters.push(i)
        },
      )
    }
    return outcome
  }

  /** Does a piece of the transaction. If that fails, rolls it back and does something else. */
  private alone<T>(work: () => T, otherwise: (problem: unknown) => T): T {
    let result: T | undefined
    const problem = inSavepoint(this.database, this.executor.participants, () => {
      result = work()
      this.executor.settle()
    })
    return problem === null ? (result as T) : otherwise(problem)
  }
}
