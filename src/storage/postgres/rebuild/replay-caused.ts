import { personOf } from '../../../core/event/event.ts'
import type { StoredCatalogue } from '../../sqlite/catalogue/catalogue.ts'
import type { Caused } from '../../sqlite/people/caused-events.ts'
import { factOf } from '../../sqlite/projections/facts.ts'
import type { Queries } from '../database/connection.ts'
import { pages } from '../database/pages.ts'
import { type EventRow, eventColumns, eventOf } from '../events/event-rows.ts'
import { lockOrganisation } from '../ledger/lock.ts'
import type { LongWorkParts, StillHeld } from '../people/long-work.ts'
import { Scratch } from '../projections/scratch.ts'
import { readCaused } from '../projections/state.ts'
import { writeChanges } from '../projections/write-changes.ts'

const pageRows = 2_000

/**
 * Notes again what people have caused, from an organisation's custom events: see `replayCaused` of SQLite. Others
 * wait while some are noted, but not while they are looked for.
 */
export async function replayCaused(
  { postgres, transactions }: Pick<LongWorkParts, 'postgres' | 'transactions'>,
  catalogue: StoredCatalogue,
  orgRow: number,
  stillHeld: StillHeld,
): Promise<void> {
  catalogue.refresh()
  const organisation = catalogue.organisationByRow(orgRow)
  const locked = <T>(work: (transaction: Queries) => Promise<T>) =>
    transactions.run(async transaction => {
      await lockOrganisation(transaction, orgRow)
      await stillHeld()
      return work(transaction)
    })
  await locked(async transaction => {
    const names = await transaction.all<{ name: string }>(
      'select distinct name from caused_events where org_id = $1',
      orgRow,
    )
    for (const { name } of names) {
      if ((catalogue.asked(organisation, name)?.most ?? 0) > 0) continue
      await transaction.run(
        'delete from caused_events where org_id = $1 and name = $2',
        orgRow,
        name,
      )
    }
  })
  if (!catalogue.asksForEvents(organisation)) return
  const scratch = new Scratch(
    () => {
      throw new Error('Nothing is projected here')
    },
    { next: () => 1 },
  )
  try {
    const next = ({ seq }: { seq: number }) =>
      postgres.all<EventRow>(
        `select ${eventColumns} from events
        where org_id = $1 and kind = 'custom' and seq > $2 order by events.seq limit ${pageRows}`,
        ...[orgRow, seq],
      )
    for await (const rows of pages(next, { seq: 0 }, pageRows)) {
      await locked(transaction => note(transaction, scratch, catalogue, orgRow, rows))
    }
  } finally {
    scratch.database.close()
  }
}

async function note(
  transaction: Queries,
  scratch: Scratch,
  catalogue: StoredCatalogue,
  orgRow: number,
  rows: readonly EventRow[],
): Promise<void> {
  const organisation = catalogue.organisationByRow(orgRow)
  const caused = rows.flatMap((row): Caused[] => {
    const asked = row.name === null ? null : catalogue.asked(organisation, row.name)
    return asked ? [{ fact: factOf(orgRow, eventOf(row)), asked }] : []
  })
  if (caused.length === 0) return
  const people = new Set(
    caused.map(({ fact: { userId, anonymousId } }) => personOf(userId, anonymousId)),
  )
  const known = await readCaused(
    transaction,
    [...people].map(person => ({ org_id: orgRow, person })),
  )
  const changes = scratch.work([new Map([['caused_events', known]])], () =>
    scratch.caused.note(caused),
  )
  await writeChanges(transaction, changes)
}
