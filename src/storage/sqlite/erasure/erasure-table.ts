import type { Database } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import type { ErasureAudit, NamedPerson } from '../../interfaces/people.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { writeAudit } from '../organisations/audit-log.ts'
import { hashOfPerson } from './person-matcher.ts'

/** An erasure as the database knows it. */
export interface ErasureRow {
  id: number
  orgRow: number
  orgId: string
  key: string
  /** Hash of the person under the key. */
  person: string
  askedAt: number
  /** Null once everything is renamed. */
  secret: string | null
  finishedAt: number | null
  receipt: string | null
}

/** Identifies the person of an erasure without naming them. */
export type HashedPerson = Pick<ErasureRow, 'orgRow' | 'key' | 'person'>

const columns = `erasures.id, org_id as orgRow, public_id as orgId, key, person, asked_at as askedAt,
  secret, finished_at as finishedAt, receipt`

function statements(database: Database) {
  return {
    all: database.query<ErasureRow, []>(
      `select ${columns} from erasures join organisations on organisations.id = org_id
      order by erasures.id`,
    ),
    one: database.query<ErasureRow, [number, string, string]>(
      `select ${columns} from erasures join organisations on organisations.id = org_id
      where org_id = ? and key = ? and person = ?`,
    ),
    begin: database.query(
      `insert into erasures (org_id, key, person, asked_at, secret) values (?, ?, ?, ?, ?)
      on conflict do update set asked_at = excluded.asked_at, secret = excluded.secret,
        finished_at = null, receipt = null`,
    ),
    forget: database.query('delete from erasures where org_id = ? and key = ? and person = ?'),
    renamed: database.query('update erasures set secret = null where id = ? and org_id = ?'),
    finish: database.query('update erasures set finished_at = ? where id = ? and org_id = ?'),
    change: database.query(
      "update server_state set value = value + 1 where name = 'erasures_changed'",
    ),
  }
}

/** The id of an erasure. Each erasure of one person has another id, and none reveals the person. */
export function erasureIdOf({
  key,
  person,
  askedAt,
}: Pick<ErasureRow, 'key' | 'person' | 'askedAt'>) {
  const hasher = new Bun.CryptoHasher('sha256', Buffer.from(key, 'base64'))
  return `erasure_${hasher.update(`${person}\0${askedAt}`).digest('hex').slice(0, 18)}`
}

/** Which people were erased, and how far each erasure is. Every change is a transaction of its own. */
export class ErasureTable {
  private readonly sql: ReturnType<typeof statements>

  constructor(private readonly database: Database) {
    this.sql = statements(database)
  }

  all(): ErasureRow[] {
    return this.sql.all.all()
  }

  /** Those of one person: several if lists were merged that had different keys. */
  of({ orgRef, orgId, person }: InRows<NamedPerson>): ErasureRow[] {
    return this.all().filter(
      row => row.orgRow === orgRef && row.person === hashOfPerson(row.key, orgId, person),
    )
  }

  get({ orgRow, key, person }: HashedPerson): ErasureRow | null {
    return this.sql.one.get(orgRow, key, person)
  }

  /**
   * From the commit on, storage refuses what the person reports.
   *
   * @param audit who requested it; null if the list of erasures did
   */
  begin(of: HashedPerson, requestedAt: number, audit: ErasureAudit | null = null): ErasureRow {
    const secret = randomBytes(16).toString('hex')
    this.changing(() => {
      this.sql.begin.run(of.orgRow, of.key, of.person, requestedAt, secret)
      this.note({ ...of, askedAt: requestedAt }, audit)
    })
    return this.get(of)!
  }

  /** From the commit on, storage accepts the person's reports again. */
  forget(of: HashedPerson & { askedAt: number }, audit: ErasureAudit | null = null): void {
    this.changing(() => {
      this.sql.forget.run(of.orgRow, of.key, of.person)
      this.note(of, audit)
    })
  }

  /** Nothing is left to rename, so the secret that the names were made from is deleted too. */
  renamed({ id, orgRow }: Pick<ErasureRow, 'id' | 'orgRow'>): void {
    this.sql.renamed.run(id, orgRow)
  }

  /** Notes that no file holds anything of the person. */
  finish({ id, orgRow }: Pick<ErasureRow, 'id' | 'orgRow'>, finishedAt: number): void {
    this.sql.finish.run(finishedAt, id, orgRow)
  }

  /** The same where several machines have erased the person, each from its own database. */
  finishWhole(row: Pick<ErasureRow, 'id' | 'orgRow'>, finishedAt: number): void {
    this.renamed(row)
    this.finish(row, finishedAt)
  }

  private note(of: HashedPerson & { askedAt: number }, audit: ErasureAudit | null): void {
    if (audit === null) return
    writeAudit(this.database, of.orgRow, [{ ...audit, subject: erasureIdOf(of) }])
  }

  private changing(work: () => void): void {
    const change = this.database.transaction(() => {
      work()
      this.sql.change.run()
    })
    change.immediate()
  }
}
