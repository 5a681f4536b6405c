import { AppError } from '../../../core/errors.ts'
import { ClockApart } from '../../log/log.ts'

/** The reasons why nothing was stored, as the caller is told. */

export function cannotWrite(cause?: unknown): AppError {
  const message = cause instanceof ClockApart ? cause.message : 'Storage cannot write at the moment'
  return new AppError('overloaded', message, { cause, retryAfterSeconds: 2 })
}

/** Nobody knows whether it was stored, so the caller must be told neither that it was nor that it was not. */
export const commitInDoubt = (cause: unknown) =>
  new AppError('in_doubt', 'Whether it was stored is not known', { cause })

export const bufferIsFull = () =>
  new AppError('overloaded', 'The server has more to write than it can take; try again', {
    retryAfterSeconds: 1,
  })
