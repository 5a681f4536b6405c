import { AppError } from '../../../core/errors.ts'
import { NodeBoard } from '../../shared/node-board.ts'

/**
 * Lets a thread answer by the node's copy only as long as nobody has stopped waiting for this node: by then
 * it may be an old one, as after a machine stood still.
 *
 * @param monotonic of the clock that the board is written by
 * @returns what throws AppError `overloaded`
 */
export function requiringCurrent(memory: SharedArrayBuffer, monotonic: () => number): () => void {
  const board = new NodeBoard(memory)
  return () => {
    if (monotonic() < board.answersUntil) return
    throw new AppError('overloaded', 'This node has lost touch with its database', {
      retryAfterSeconds: 1,
    })
  }
}
