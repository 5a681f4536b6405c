import { constants, Database } from 'bun:sqlite'
import type { PersonIds } from '../../../core/event/stored-event.ts'
import type { EchoMemory } from '../../shared/boards.ts'
import { migrate } from '../database/migrate.ts'
import { TransactionParticipant } from '../engine/participant.ts'
import { Readers } from '../readers.ts'
import { StepReader } from '../steps/step-reader.ts'
import type { CommandExecutor, CommandResult, StorageCommand } from '../writer/commands.ts'
import { ErasedPeople } from './erased-people.ts'
import { isOf } from './person-matcher.ts'

/**
 * What people who were erased have reported since: in memory alone, gone with the process, and read by
 * nothing but the answers that their own browsers get. Without it a second report, or a look at what
 * the first has changed, would tell anybody who has the public key that a person was erased.
 *
 * It is a database like the real one, by the same code: so its answers are those that the same reports
 * of somebody new would get.
 */

/** From so much on it begins anew: anybody can report, and nobody can be told to stop. */
const mostBytes = 64 * 1024 * 1024

/** SQLite's `SQLITE_OPEN_URI`, which Bun does not name. */
const openUri = 0x40

/** Every connection of the process to one name sees one database; it is gone with the last of them. */
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
  /** Whether something was reported in the present transaction. */
  isUsed = false

  constructor(
    private readonly memory: EchoMemory,
    private readonly executorOver: (database: Database) => CommandExecutor,
  ) {
    super()
    this.generation = new Int32Array(memory.generation)
  }

  /** Has one to be used; does nothing where there is one. */
  open(): void {
    if (!this.current) this.begin()
  }

  /** Begins anew, where there is one. */
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

  /** Whether the id of an organisation's event is among what was reported. */
  isTaken(orgRow: number, id: string): boolean {
    return this.current?.executor.ids.isTaken(orgRow, id) ?? false
  }

  /** Of what is in memory alone nothing is left for later. */
  settle(): void {
    if (!this.isUsed) return
    const { executor } = this.current!
    executor.settle()
    executor.follower.projectOwn()
  }

  /** A moment ahead of the real commit: who reads is not to wait for the disk's sync. */
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
    const size = database
      .query<{ bytes: number }, []>(
        'select page_count * page_size as bytes from pragma_page_count, pragma_page_size',
      )
      .get()
    if ((size?.bytes ?? 0) > mostBytes) this.forget()
  }

  /** What was answered is not true any more, or soon: rare enough to begin anew. */
  override rollback(): void {
    if (!this.isUsed) return
    this.isUsed = false
    this.forget()
  }

  private begin(): void {
    const before = this.current?.database
    const next = Atomics.load(this.generation, 0) + 1
    const database = connect(this.memory.name, next)
    migrate(database, 0)
    this.current = { database, executor: this.executorOver(database) }
    // Readers go to the new one before the old one is gone.
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

  /** Where to read what was reported of steps; null where nobody was erased. */
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
      // Else it may be an empty one, made by this: the one that was meant is gone.
      if (Atomics.load(this.generation, 0) !== newest) {
        this.open = null
        database.close()
        continue
      }
      this.open = { database, readers: new Readers(database), steps: new StepReader(database) }
    }
  }
}
