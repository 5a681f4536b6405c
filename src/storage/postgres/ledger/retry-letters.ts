import type { AppendOutcome } from '../../../core/event/stored-event.ts'
import type { Retried, RetryVerdict } from '../../../modules/operations/port.ts'
import type { NewEvent } from '../../shared/in-rows.ts'
import { encodeEvents } from '../../sqlite/engine/event-codec/event-text.ts'
import type { Withholding } from '../../sqlite/erasure/withheld.ts'
import type { StorageCommand } from '../../sqlite/writer/commands.ts'
import { isPassingFault, type Queries } from '../database/connection.ts'
import type { GroupWriter } from '../writer/group-writer.ts'
import {
  deleteDeadLetters,
  keepDeadLetter,
  type TakenLetter,
  takeDeadLetters,
} from './dead-letters.ts'

type Report = Exclude<StorageCommand, { type: 'append' }>

export interface RetryParts {
  writer: GroupWriter
  withholding: Withholding
}

/** For events that are stored but could not be projected: nodes project what they store, or store nothing. */
const onlyByRebuild = 'it is stored, and what follows from it is not: cairn rebuild makes that anew'

/** Retries dead letters, within a transaction; see `OperationsStore.retryDeadLetters`. */
export async function retryLetters(
  parts: RetryParts,
  transaction: Queries,
  orgRow: number,
  ids: readonly number[],
): Promise<Retried[]> {
  const retried: Retried[] = []
  for (const taken of await takeDeadLetters(transaction, orgRow, ids)) {
    retried.push({ id: taken.id, verdict: await retryOne(parts, transaction, orgRow, taken) })
  }
  return retried
}

async function retryOne(
  { writer, withholding }: RetryParts,
  transaction: Queries,
  orgRow: number,
  { id, at, letter }: TakenLetter,
): Promise<RetryVerdict> {
  if (withholding.isWithheld(orgRow, letter)) return 'refused'
  await transaction.script('savepoint letter')
  try {
    if ('isStored' in letter) throw new Error(onlyByRebuild)
    const command = commandOf(orgRow, at, letter)
    const [result] = await writer.executeWithin(transaction, [command])
    await deleteDeadLetters(transaction, orgRow, [id])
    const isTwice = command.type === 'append' && (result as AppendOutcome).duplicates.length > 0
    return isTwice ? 'duplicate' : 'stored'
  } catch (fault) {
    if (isPassingFault(fault)) throw fault
    await transaction.script('rollback to savepoint letter')
    await keepDeadLetter(transaction, orgRow, id, fault)
    return 'refused'
  }
}

function commandOf(orgRow: number, at: number, letter: NewEvent | Report): StorageCommand {
  if ('type' in letter) return letter
  const text = encodeEvents([letter])
  return { type: 'append', orgRow, receivedAt: at, text, refusals: {}, skewMs: null }
}
