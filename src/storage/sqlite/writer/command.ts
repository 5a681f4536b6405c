import type { AppendOutcome } from '../../../core/event/event.ts'
import type { FingerprintVerdict } from '../../interfaces/steps.ts'
import type {
  CompletionReport,
  EventBatch,
  FingerprintReport,
  HealthReport,
  TickReport,
} from '../../shared/in-rows.ts'

/** Everything that requests ask to be written, one type per verb. */
export type StorageCommand =
  | ({ type: 'append' } & EventBatch)
  | ({ type: 'complete' } & CompletionReport)
  | ({ type: 'tick' } & TickReport)
  | ({ type: 'health' } & HealthReport)
  | ({ type: 'fingerprint' } & FingerprintReport)
  | { type: 'snippet_version'; orgRow: number; version: string; at: number }
  | { type: 'refusal'; orgRow: number; code: string; at: number }

/** When a report arrived, epoch milliseconds. */
export const timeOf = (command: Exclude<StorageCommand, { type: 'append' }>): number =>
  command.type === 'complete' || command.type === 'tick' ? command.receivedAt : command.at

export type CommandResult =
  | AppendOutcome
  | { completedAt: number; alreadyCompleted: boolean }
  | FingerprintVerdict
  | null
