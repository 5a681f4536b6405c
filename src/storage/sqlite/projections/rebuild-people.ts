import type { Database } from 'bun:sqlite'
import type { Seen } from '../../../core/person/seen.ts'
import { ledgerPages } from '../ledger/ledger.ts'
import {
  PeopleTable,
  type PersonRow,
  personColumns,
  SeenPeople,
  seenIn,
} from '../people/people-table.ts'

/** People who are written at once. */
const peopleAtOnce = 5_000

/** Rows that are compared at once. */
const pageRows = 5_000

/**
 * Makes what is known of people anew from the ledger, in a table beside the real one. The write lock is taken only
 * if they differ. What was reported before the oldest event that is left stays as it is.
 */
export function rebuildPeople(database: Database): void {
  const organisations = database.query<{ id: number }, []>('select id from organisations').all()
  database.run(
    `create temp table people (org_id integer not null, ${personColumns},
      primary key (org_id, person)) without rowid`,
  )
  try {
    const side = new PeopleTable(database, 'temp.people')
    for (const { id: orgRow } of organisations) {
      database.run('delete from temp.people')
      const upTo = replay(database, side, orgRow, 0)
      const differs = () => {
        replay(database, side, orgRow, upTo)
        carryOver(database, side, orgRow)
        return isOther(database, orgRow)
      }
      if (!database.transaction(differs).deferred()) continue
      const takeOver = () => {
        replay(database, side, orgRow, upTo)
        if (isOther(database, orgRow)) replace(database, orgRow)
      }
      database.transaction(takeOver).immediate()
    }
  } finally {
    database.run('drop table temp.people')
  }
}

/** @returns the last row of the ledger that was read */
function replay(database: Database, side: PeopleTable, orgRow: number, after: number): number {
  let upTo = after
  let people = new SeenPeople()
  for (const page of ledgerPages(database, orgRow, after)) {
    for (const { seq, facts } of page) {
      upTo = seq
      for (const fact of facts) people.add(fact)
    }
    if (people.count < peopleAtOnce) continue
    side.add(people.list())
    people = new SeenPeople()
  }
  side.add(people.list())
  return upTo
}

/** Adds to people of whom events are left what the real table has from events that retention has deleted. */
function carryOver(database: Database, side: PeopleTable, orgRow: number): void {
  const retained = database
    .query<{ at: number }, [number]>('select at from retained where org_id = ?')
    .get(orgRow)
  if (retained === null) return
  const page = database.query<PersonRow, [number, string]>(
    `select ${personColumns} from main.people where org_id = ? and person > ?
      and exists (select 1 from temp.people made
        where made.org_id = people.org_id and made.person = people.person)
    order by person limit ${pageRows}`,
  )
  for (let last = ''; ; ) {
    const rows = page.all(orgRow, last)
    for (const row of rows) {
      const old = upTo(seenIn(row), retained.at)
      if (old !== null) side.keep({ orgRow, person: row.person, ...old })
    }
    if (rows.length < pageRows) return
    last = rows.at(-1)!.person
  }
}

/** The part that was reported up to a moment; null if none was. */
function upTo(seen: Seen, moment: number): Seen | null {
  if (seen.firstAt > moment) return null
  return {
    ...{ firstAt: seen.firstAt, lastAt: seen.firstAt },
    traits: new Map([...seen.traits].filter(([, { at }]) => at <= moment)),
    pages: seen.pages.filter(({ at }) => at <= moment),
  }
}

const rowsIn = (schema: 'main' | 'temp', orgRow: number) =>
  `select ${personColumns} from ${schema}.people where org_id = ${orgRow}`

function isOther(database: Database, orgRow: number): boolean {
  const [real, made] = [rowsIn('main', orgRow), rowsIn('temp', orgRow)]
  return (
    database
      .query(
        `select 1 where exists (select * from (${real}) except select * from (${made}))
          or exists (select * from (${made}) except select * from (${real}))`,
      )
      .get() !== null
  )
}

function replace(database: Database, orgRow: number): void {
  const [real, made] = [rowsIn('main', orgRow), rowsIn('temp', orgRow)]
  database.run(
    `delete from main.people where org_id = ${orgRow} and person in (
      select person from (${real} except ${made}))`,
  )
  database.run(
    `insert into main.people (org_id, ${personColumns})
    select ${orgRow}, * from (${made} except ${real})`,
  )
}
