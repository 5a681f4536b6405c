import { AppError } from '../../core/errors.ts'

/** Why nothing was taken in, as the caller is told. */

export const cannotWrite = (cause?: unknown) =>
  new AppError('overloaded', 'Storage cannot write at the moment', { cause, retryAfterSeconds: 2 })

export const bufferIsFull = () =>
  new AppError('overloaded', 'The server has more to write than it can take; try again', {
    retryAfterSeconds: 1,
  })
