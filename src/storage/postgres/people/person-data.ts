import { Database } from 'bun:sqlite'
import { idsOf } from '../../../core/event/event.ts'
import type { PeopleStore } from '../../../modules/people/port.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { migrate } from '../../sqlite/database/migrate.ts'
import { tablesByPerson } from '../../sqlite/erasure/erase-facts.ts'
import { namesOf, sectionsOf, storedEventOf } from '../../sqlite/people/person-data.ts'
import type { Queries } from '../database/connection.ts'
import { pages } from '../database/pages.ts'
import { type EventRow, eventColumns, eventOf } from '../events/event-rows.ts'
import { type Row, RowWriter, tableOf } from '../rows/tables.ts'

const pageEvents = 2_000

/** Everything that holds a person's id: their rows, presented by the same code as in a server alone. */
export function personDataOver(queries: Queries, copy: Database): InRows<PeopleStore['stored']> {
  return async person => {
    const { orgRef: orgRow, person: name } = person
    const { userId, anonymousId } = idsOf(name)
    const column = userId === null ? 'anonymous_id' : 'user_id'
    const id = (userId ?? anonymousId)!
    const names = namesOf(copy, orgRow)
    const events: object[] = []
    const next = ({ seq }: { seq: number }) =>
      queries.all<EventRow>(
        `select ${eventColumns} from events
        where org_id = $1 and ${column} = $2 and seq > $3 order by events.seq limit ${pageEvents}`,
        ...[orgRow, id, seq],
      )
    for await (const page of pages(next, { seq: 0 }, pageEvents)) {
      for (const row of page) events.push(storedEventOf(eventOf(row), names))
    }
    const ofPerson = ['step_reports', 'caused_events', ...tablesByPerson.map(([table]) => table)]
    const found = await Promise.all([
      queries.all<Row>(
        `select * from runs where org_id = $1 and (person = $2 or least_${column} = $3)`,
        ...[orgRow, name, id],
      ),
      // As it appears in the JSON of a letter. Whose letter it is gets checked again.
      queries.all<Row>(
        'select * from dead_letters where org_id = $1 and strpos(event, $2) > 0',
        ...[orgRow, JSON.stringify(id).slice(1, -1)],
      ),
      ...ofPerson.map(table =>
        queries.all<Row>(
          `select * from ${table} where org_id = $1 and person = $2`,
          ...[orgRow, name],
        ),
      ),
    ])
    const tables = ['runs', 'dead_letters', ...ofPerson]
    using rows = new Database(':memory:', { strict: true })
    migrate(rows, 0)
    rows.transaction(() => {
      for (const [i, table] of tables.entries()) {
        const writer = new RowWriter(rows, tableOf(rows, table))
        for (const row of found[i]!) writer.put(row)
      }
    })()
    return [...sectionsOf(rows, person, names, events)].map(({ section, rows }) => ({
      section,
      rows: [...rows],
    }))
  }
}
