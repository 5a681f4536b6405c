import type { OperationAudit, RebuildProgress, Retried } from '../../modules/operations/port.ts'
import type { ErasureAudit, ErasureProgress, NamedPerson } from '../../modules/people/port.ts'
import type { InRows } from '../shared/in-rows.ts'
import { changeFlows, type PreparedChanges } from '../sqlite/flows/store.ts'
import { writeAudit } from '../sqlite/organisations/audit-log.ts'
import type { CatalogueCopy } from './copy/copy.ts'
import { deleteDeadLetters } from './ledger/dead-letters.ts'
import { type LockedLedger, lockOrganisation } from './ledger/lock.ts'
import { type RetryParts, retryLetters } from './ledger/retry-letters.ts'
import { erasePerson } from './people/erase-person.ts'
import type { LongWorkParts } from './people/long-work.ts'
import { rebuild } from './rebuild/rebuild.ts'
import type { Sealer } from './segments/sealer.ts'

/** What these operations need from storage. */
interface OperationParts {
  copy: CatalogueCopy
  now: () => number
  longWork: LongWorkParts
  /** For retrying dead letters. */
  retrying: RetryParts
  sealer: Pick<Sealer, 'seal'>
  writeSeen(): Promise<void>
}

/** Operations that involve what only PostgreSQL has. All others run on the copy. */
export const postgresOperations = ({
  copy,
  now,
  longWork,
  retrying,
  sealer,
  writeSeen,
}: OperationParts) => ({
  // Nobody else writes events while a publication gets its time, which is later than that of any stored event, even
  // by another node's clock: what is stored already is of the old version.
  changeFlows: (orgRow: number, changes: PreparedChanges) =>
    copy.alter(
      ({ latestAt }: LockedLedger) =>
        changeFlows(copy.database, orgRow, changes, () => Math.max(now(), latestAt + 1)),
      queries => lockOrganisation(queries, orgRow),
    ),
  writeSeen,
  retryDeadLetters: (orgRow: number, ids: readonly number[], audit: OperationAudit) =>
    copy.alter(
      (retried: readonly Retried[]) => {
        const after = Object.fromEntries(retried.map(({ id, verdict }) => [id, verdict]))
        const entry = { ...audit, before: null, after }
        if (retried.length > 0) writeAudit(copy.database, orgRow, [entry])
        return retried
      },
      queries => retryLetters(retrying, queries, orgRow, ids),
    ),
  dropDeadLetters: (orgRow: number, ids: readonly number[], audit: OperationAudit) =>
    copy.alter(
      (letters: readonly number[]) => {
        const entry = { ...audit, before: { letters }, after: null }
        if (letters.length > 0) writeAudit(copy.database, orgRow, [entry])
        return letters.length
      },
      queries => deleteDeadLetters(queries, orgRow, ids),
    ),
  erase: (
    person: InRows<NamedPerson>,
    _options: unknown,
    audit: ErasureAudit,
    tell: (progress: ErasureProgress) => void,
  ) => erasePerson(longWork, person, audit, tell),
  rebuild: (audit: OperationAudit, tell: (progress: RebuildProgress) => void) =>
    rebuild(longWork, audit, tell),
  allowPerson: (person: InRows<NamedPerson>, audit: ErasureAudit) =>
    longWork.changes.allowPerson(person, audit),
  sealRuns: (orgRow: number, flowRow: number) => sealer.seal(orgRow, flowRow),
})
