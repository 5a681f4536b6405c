import type {
  Erased,
  ErasureAudit,
  ErasureProgress,
  ErasureReceipt,
  NamedPerson,
} from '../../../modules/people/port.ts'
import type { InRows } from '../../shared/in-rows.ts'
import { isRewritingHeld } from '../../sqlite/database/rewriting.ts'
import { type ErasureRow, ErasureTable, erasureIdOf } from '../../sqlite/erasure/erasure-table.ts'
import { type ErasedCounts, noCounts } from '../../sqlite/erasure/erasure-work.ts'
import { type LongWorkParts, type StillHeld, whileRewriting } from './long-work.ts'
import { PersonErasure } from './person-erasure.ts'
import { nameOfErased } from './person-name.ts'

/**
 * What may still hold an erased person besides the rows that anybody can read. Cairn cannot see it: whoever runs
 * PostgreSQL decides when it goes.
 */
const outsideOfReach = [
  "row versions of before, in PostgreSQL's files until they are vacuumed and written over",
  "PostgreSQL's write-ahead log and its archive",
  'base backups and dumps',
] as const

/**
 * Erases a person in steps, between which others write. From its beginning on, nothing more of them is taken.
 * Replicas follow as they follow everything else.
 *
 * @throws AppError `rewriting_under_way`
 */
export const erasePerson = (
  parts: LongWorkParts,
  person: InRows<NamedPerson>,
  audit: ErasureAudit,
  tell: (progress: ErasureProgress) => void,
): Promise<Erased> =>
  whileRewriting(parts.postgres, async stillHeld => {
    const row = await parts.changes.beginErasure(person, audit)
    const receipt = await eraseNamed(parts, row, person.person, stillHeld, tell)
    return { receipt, unfinished: null, copies: outsideOfReach }
  })

/**
 * Finishes erasures that were cut off. Any node does so now and then, because an unfinished erasure may be the
 * only trace of the node that was doing it.
 *
 * @returns how many people there were, and why they are not erased yet; null if all are
 */
export async function finishErasures(
  parts: LongWorkParts,
  tell: (progress: ErasureProgress) => void = () => {},
): Promise<{ people: number; unfinished: string | null }> {
  const due = () =>
    new ErasureTable(parts.reading).all().filter(({ finishedAt }) => finishedAt === null)
  const people = due().length
  if (people === 0) return { people, unfinished: null }
  try {
    await whileRewriting(parts.postgres, async stillHeld => {
      for (const row of due()) {
        const name = await nameOfErased(parts.postgres, row)
        await eraseNamed(parts, row, name, stillHeld, tell)
      }
    })
  } catch (error) {
    // Another node is doing it, which is no reason not to serve.
    if (isRewritingHeld(error)) return { people, unfinished: error.message }
    throw error
  }
  return { people, unfinished: null }
}

/** @param name null if nothing is left of the person */
async function eraseNamed(
  parts: LongWorkParts,
  row: ErasureRow,
  name: string | null,
  stillHeld: StillHeld,
  tell: (progress: ErasureProgress) => void,
): Promise<ErasureReceipt> {
  // Not from the copy, because each step is noted in PostgreSQL alone.
  const noted = await parts.postgres.get<{ receipt: string | null }>(
    'select receipt from erasures where id = $1 and org_id = $2',
    ...[row.id, row.orgRow],
  )
  const before: ErasedCounts = JSON.parse(noted?.receipt ?? 'null') ?? noCounts()
  const { secret } = row
  let erased = before
  if (name !== null && secret !== null) {
    const erasure = new PersonErasure(parts, { ...row, secret }, name, { stillHeld, tell })
    erased = await erasure.run(before)
  }
  const finishedAt = await parts.changes.endErasure(row, erased)
  const { orgId: organisation, person, askedAt } = row
  return { id: erasureIdOf(row), organisation, person, askedAt, finishedAt, erased }
}
