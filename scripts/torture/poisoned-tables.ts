import { Database } from 'bun:sqlite'
import { databaseFile } from '../../src/storage/sqlite/database/database.ts'

/** Rules that make the database refuse a row, as a broken index or one row too many would. */
const rules = [
  ['event_batches', "instr(new.facts, cast('poison' as blob))"],
  ['step_reports', "new.message = 'poison'"],
  ['step_fingerprints', "new.url like '%poison'"],
  // One table further on, so that the projection of a stored event fails.
  ['runs', "new.person like '%venom%'"],
] as const

const triggerOf = (table: string) => `poison_${table}`

/** The tables of a data directory, opened beside the running server. */
export class PoisonedTables implements Disposable {
  private readonly database: Database

  constructor(dataDir: string) {
    this.database = new Database(databaseFile(dataDir), { readwrite: true })
    this.database.run('pragma busy_timeout = 5000')
  }

  poison(): void {
    for (const [table, condition] of rules) {
      this.database.run(`create trigger ${triggerOf(table)} before insert on ${table}
        when ${condition} begin select raise(abort, 'poisoned'); end`)
    }
  }

  cure(): void {
    for (const [table] of rules) this.database.run(`drop trigger ${triggerOf(table)}`)
  }

  /** How many dead letters hold a text. */
  letters(text: string): number {
    return this.database
      .query<{ n: number }, [string]>(
        "select count(*) as n from dead_letters where error like '%poisoned%' and instr(event, ?)",
      )
      .get(text)!.n
  }

  /** The dead letters of events that are stored but whose consequences were refused. */
  stored(): number[] {
    return this.database
      .query<{ seq: number }, []>(
        "select seq from dead_letters where json_extract(event, '$.isStored') is not null",
      )
      .all()
      .map(({ seq }) => seq)
  }

  [Symbol.dispose](): void {
    this.database.close()
  }
}
