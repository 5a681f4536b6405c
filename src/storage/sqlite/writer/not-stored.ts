import { AppError } from '../../../core/errors.ts'
import { ClockApart } from '../../log/log.ts'

/** Why nothing was stored, for the caller. */

/** @param problem the reason, which the log has once, and not again with each request */
export function cannotWrite(problem?: unknown): AppError {
  const message =
    problem instanceof ClockApart ? problem.message : 'Storage cannot write at the moment'
  return new AppError('overloaded', message, { retryAfterSeconds: 2 })
}

/** Nobody knows whether it was stored, so the answer says neither. */
export const commitInDoubt = () => new AppError('in_doubt', 'Whether it was stored is not known')

export const bufferIsFull = () =>
  new AppError('overloaded', 'The server has more to write than it can handle; try again', {
    retryAfterSeconds: 1,
  })
