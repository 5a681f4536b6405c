import { constants, Database } from 'bun:sqlite'
import type { PersonIds } from '../../../core/event/stored-event.ts'
import type { EchoMemory } from '../../shared/boards.ts'
import { databaseSize } from '../database/compact.ts'
import { migrate } from '../database/migrate.ts'
import { TransactionParticipant } from '../engine/participant.ts'
import { Readers } from '../readers.ts'
import { StepReader } from '../steps/step-reader.ts'
import type { CommandExecutor, CommandResult, StorageCommand } from '../writer/commands.ts'
import { ErasedPeople } from './erased-people.ts'
import { isOf } from './person-matcher.ts'

/**
 * The echo: what erased people have reported since their erasure. It is in memory only, is gone with the
 * process, and is read only for the answers to their own browsers. Without it, anybody with the public
 * snippet key could find out that a person was erased: from the answer to a second report, or by reading
 * what the first report changed.
 *
 * It is a database like the real one, run by the same code, so that these reports get the same answers as
 * those of somebody new.
 */

/** Beyond this size the echo starts again, because anybody can report and nobody can be told to stop. */
const mostBytes = 64 * 1024 * 1024

/** SQLite's `SQLITE_OPEN_URI`, which Bun does not name. */
const openUri = 0x40

/** All connections of the process to one name share one database, which is gone once the last one closes. */
function connect(name: string, generation: number): Database {
  const flags = constants.SQLITE_OPEN_READWRITE | constants.SQLITE_OPEN_CREATE | openUri
  const database = new Database(`file:/echo-${name}-${generation}?vfs=memdb`, flags)
  database.run('pragma busy_timeout = 5000')
  database.run('pragma temp_store = memory')
  return database
}

/** The storage thread's side. */
export class Echo extends TransactionParticipant {
  private readonly generation: Int32Array
  private current: { database: Database; executor: CommandExecutor } | null = null
  /** Whether something was reported in the current transaction. */
  isUsed = false

  constructor(
    private readonly memory: EchoMemory,
    private readonly executorOver: (database: Database) => CommandExecutor,
  ) {
    super()
    this.generation = new Int32Array(memory.generation)
  }

  /** Starts an echo unless there is one already. */
  open(): void {
    if (!this.current) this.begin()
  }

  /** Replaces the echo, if there is one, with an empty one. */
  forget(): void {
    if (this.current) this.begin()
  }

  execute(command: StorageCommand): CommandResult {
    this.open()
    const { database, executor } = this.current!
    if (!this.isUsed) database.run('begin immediate')
    this.isUsed = true
    return executor.execute(command)
  }

  /** Whether an event of the organisation was reported to the echo with this id. */
  isTaken(orgRow: number, id: string): boolean {
    return this.current?.executor.ids.isTaken(orgRow, id) ?? false
  }

  /** Leaves nothing for later, because the echo is in memory only. */
  settle(): void {
    if (!this.isUsed) return
    const { executor } = this.current!
    executor.settle()
    executor.follower.projectOwn()
  }

  /** Commits just before the real commit, so that readers do not wait for the disk's sync. */
  override beforeCommit(): void {
    if (!this.isUsed) return
    const { database, executor } = this.current!
    executor.participants.beforeCommit()
    database.run('commit')
  }

  override commit(): void {
    if (!this.isUsed) return
    this.isUsed = false
    const { database, executor } = this.current!
    executor.participants.commit()
    if (databaseSize(database).bytes > mostBytes) this.forget()
  }

  /** Earlier answers are no longer true, or soon will not be. This is rare enough to start again. */
  override rollback(): void {
    if (!this.isUsed) return
    this.isUsed = false
    this.forget()
  }

  private begin(): void {
    const before = this.current?.database
    const next = Atomics.load(this.generation, 0) + 1
    const database = connect(this.memory.name, next)
    migrate(database)
    this.current = { database, executor: this.executorOver(database) }
    // Readers switch to the new one before the old one is gone.
    Atomics.store(this.generation, 0, next)
    before?.close()
  }
}

/** The side of a thread that answers requests. */
export class EchoReader {
  private readonly generation: Int32Array
  private readonly erased: ErasedPeople
  private known = 0
  private open: { database: Database; readers: Readers; steps: StepReader } | null = null

  /** @param database the real one, which says who was erased */
  constructor(
    private readonly memory: EchoMemory,
    database: Database,
  ) {
    this.generation = new Int32Array(memory.generation)
    this.erased = new ErasedPeople(database)
  }

  /** Where to read what a person has done, if they were erased; null for all others. */
  of(orgRow: number, ids: PersonIds): Readers | null {
    const current = this.current()
    if (!current) return null
    this.erased.look()
    const people = this.erased.byOrganisation.get(orgRow)
    return people && isOf(people, ids) ? current.readers : null
  }

  /** Where to read what erased people reported of steps; null if nobody was erased. */
  get steps(): StepReader | null {
    return this.current()?.steps ?? null
  }

  private current() {
    for (;;) {
      const newest = Atomics.load(this.generation, 0)
      if (newest === this.known) return this.open
      this.open?.database.close()
      const database = connect(this.memory.name, newest)
      this.known = newest
      // If the number has changed, the database meant is gone and this may have created an empty one.
      if (Atomics.load(this.generation, 0) !== newest) {
        this.open = null
        database.close()
        continue
      }
      this.open = { database, readers: new Readers(database), steps: new StepReader(database) }
    }
  }
}
