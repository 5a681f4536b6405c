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
 * What may hold who was erased beside the rows that anybody can read. Cairn sees none of it: when it goes
 * is for who runs PostgreSQL.
 */
const outsideOfReach = [
  "row versions of before, in PostgreSQL's files until they are vacuumed and written over",
  "PostgreSQL's write-ahead log and its archive",
  'base backups and dumps',
] as const

/**
 * Erases a person, step by step, between which others write; nothing more is taken of them from its begin
 * on. Replicas follow as they follow all else.
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
 * Erases whoever was to be erased when their erasure was cut off. For any node now and then: of the one that
 * was at it, it may be the only trace.
 *
 * @returns of how many people, and why they are not erased yet; null where all are
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
    // Another node is at it: no reason not to serve.
    if (isRewritingHeld(error)) return { people, unfinished: error.message }
    throw error
  }
  return { people, unfinished: null }
}

/** @param name null where nothing is left of the person */
async function eraseNamed(
  parts: LongWorkParts,
  row: ErasureRow,
  name: string | null,
  stillHeld: StillHeld,
  tell: (progress: ErasureProgress) => void,
): Promise<ErasureReceipt> {
  // The copy has what it was told: each step is noted in PostgreSQL alone.
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
