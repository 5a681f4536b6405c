import { AppError } from '../../../core/errors.ts'
import { NodeBoard } from '../../shared/node-board.ts'

/**
 * Lets a thread answer from the node's copy only while others still wait for this node. After that the copy may
 * be an old one, such as after the machine stood still.
 *
 * @param monotonic the time by the clock that the board is written with
 * @returns a check that throws AppError `overloaded`
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
