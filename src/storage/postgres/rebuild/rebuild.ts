import { AppError } from '../../../core/errors.ts'
import type { OperationAudit, RebuildProgress, Rebuilt } from '../../../modules/operations/port.ts'
import { StoredCatalogue } from '../../sqlite/catalogue/catalogue.ts'
import type { HistoryOf } from '../../sqlite/projections/facts.ts'
import { piecesOf } from '../database/pages.ts'
import { lockOrganisation } from '../ledger/lock.ts'
import { type LongWorkParts, whileRewriting } from '../people/long-work.ts'
import { renumbered, writeChanges } from '../projections/write-changes.ts'
import { forgetSegments } from '../segments/segments.ts'
import { flowsWithRows, Replay } from './replay.ts'
import { replayCaused } from './replay-caused.ts'
import { replayHealth } from './replay-health.ts'

/** Rows that one statement writes. */
const rowsAtOnce = 5_000

interface Flow {
  id: number
  org_id: number
  key: string
}

/**
 * Rebuilds every projection from the ledger. Where the retention has deleted the events of a time, projections
 * stay as they are.
 *
 * A flow is replayed over a snapshot, and compared with what the same snapshot has. Nobody waits for that, and
 * mostly it is enough. Only if they differ are others kept from writing, while the flow is replayed once more and
 * its wrong rows are written. That is one transaction, so an interrupted rebuild leaves whole flows.
 *
 * @param audit what each organisation's audit log says about it, once all of its flows are done
 * @throws AppError `rewriting_under_way`
 */
export const rebuild = (
  parts: LongWorkParts,
  audit: OperationAudit,
  tell: (progress: RebuildProgress) => void,
): Promise<Rebuilt> =>
  whileRewriting(parts.postgres, async stillHeld => {
    const flows = parts.reading
      .query<Flow, []>('select id, org_id, key from flows order by org_id, id')
      .all()
    const catalogue = new StoredCatalogue(parts.reading)
    const historyOf: HistoryOf = (orgRow, flowRow) => {
      const flow = catalogue.flowByRow(orgRow, flowRow)
      if (!flow) throw new Error(`No flow has row ${flowRow}`)
      return flow
    }
    const work = { parts, catalogue, historyOf }
    const replay = new Replay(historyOf)
    const total = { flows: flows.length, events: 0, changed: 0 }
    let flowsDone = 0
    try {
      for (const [orgRow, own] of Map.groupBy(flows, ({ org_id }) => org_id)) {
        let changed = 0
        const ids = own.map(({ id }) => id)
        const stored = await flowsWithRows(parts.postgres, orgRow, ids)
        for (const flow of own) {
          if (stored.has(flow.id)) {
            await stillHeld()
            const done = await rebuildFlow(work, replay, flow)
            total.events += done.events
            if (done.isChanged) changed++
          }
          tell({ flow: flow.key, ...total, flowsDone: ++flowsDone })
        }
        total.changed += changed
        await replayHealth(parts, orgRow, stillHeld)
        await replayCaused(parts, catalogue, orgRow, stillHeld)
        const after = { flows: own.length, changed }
        await parts.changes.audit(orgRow, { ...audit, before: null, after })
      }
    } finally {
      replay.close()
    }
    return total
  })

interface Work {
  parts: LongWorkParts
  catalogue: StoredCatalogue
  historyOf: HistoryOf
}

async function rebuildFlow(work: Work, replay: Replay, { org_id: orgRow, id: flowRow }: Flow) {
  const { parts, catalogue } = work
  catalogue.refresh()
  // Segments are made of rows, so they are made anew as well, whatever the comparison finds.
  await forgetSegments(parts.postgres, orgRow, flowRow)
  const compared = await parts.postgres.begin(async snapshot => {
    const events = await replay.replay(snapshot, orgRow, flowRow)
    return { events, isRight: replay.isRight(orgRow, flowRow) }
  }, 'isolation level repeatable read, read only')
  if (compared.isRight) return { events: compared.events, isChanged: false }
  return correctFlow(work, orgRow, flowRow)
}

/** Keeps others from writing meanwhile. */
function correctFlow({ parts, catalogue, historyOf }: Work, orgRow: number, flowRow: number) {
  return parts.transactions.run(async transaction => {
    // A version may have been published since, and what follows from events depends on it.
    const { change } = await lockOrganisation(transaction, orgRow)
    await parts.upToDate(change)
    catalogue.refresh()
    const replay = new Replay(historyOf)
    try {
      const events = await replay.replay(transaction, orgRow, flowRow, true)
      if (replay.isRight(orgRow, flowRow)) return { events, isChanged: false }
      const changes = await renumbered(transaction, replay.takeOver(orgRow, flowRow))
      for (const some of piecesOf(changes, rowsAtOnce)) await writeChanges(transaction, some)
      return { events, isChanged: changes.length > 0 }
    } finally {
      replay.close()
    }
  })
}

/**
 * PostgreSQL has tools of its own for that, which know who else uses it.
 *
 * @throws AppError `unsupported_by_database`
 */
export async function refuseToCompact(): Promise<never> {
  throw new AppError(
    'unsupported_by_database',
    'A PostgreSQL database is not written anew by Cairn: its autovacuum makes room for new rows, and VACUUM FULL or pg_repack give room back to the disk',
  )
}
