import type { Database } from 'bun:sqlite'
import type { StoredCatalogue } from '../catalogue/catalogue.ts'
import { ledgerPages } from '../ledger/ledger.ts'
import { CausedEvents } from './caused-events.ts'

/**
 * Notes again what people have caused, from all custom events that the ledger still has, so that a flow
 * that waits for an event only since yesterday counts earlier ones too. What only deleted events reported
 * stays; what no flow needs is deleted.
 */
export function replayCaused(database: Database, catalogue: StoredCatalogue): void {
  const organisations = database.query<{ id: number }, []>('select id from organisations').all()
  const names = database.query<{ name: string }, [number]>(
    'select distinct name from caused_events where org_id = ?',
  )
  const drop = database.query('delete from caused_events where org_id = ? and name = ?')
  const caused = new CausedEvents(database)
  catalogue.refresh()
  for (const { id: orgRow } of organisations) {
    const organisation = catalogue.organisationByRow(orgRow)
    const isRequested = (name: string) => (catalogue.awaited(organisation, name)?.max ?? 0) > 0
    for (const { name } of names.all(orgRow)) if (!isRequested(name)) drop.run(orgRow, name)
    if (!catalogue.asksForEvents(organisation)) continue
    for (const page of ledgerPages(database, orgRow)) {
      const facts = page.flatMap(batch => batch.facts)
      const requested = facts.flatMap(fact => {
        if (fact.kind !== 'custom' || fact.name === null) return []
        const requested = catalogue.awaited(organisation, fact.name)
        return requested ? [{ fact, awaited: requested }] : []
      })
      if (requested.length > 0) database.transaction(() => caused.note(requested)).immediate()
    }
  }
}
