import { join } from 'node:path'
import { AppError } from '../../../core/errors.ts'
import { lockFile } from './file-lock.ts'

const message =
  'A person is being erased, or analytics are being rebuilt: try again when that has finished'

/** Somebody else is rewriting the same data. Nothing has changed. */
export const rewritingHeld = () => new AppError('rewriting_under_way', message)

export const isRewritingHeld = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'rewriting_under_way'

/**
 * Does work that gives people or their runs other rows than the ledger or the projections have for them. An
 * erasure and a rebuild work from what they read a while ago. If they ran at the same time, the rebuild
 * would bring back people whom the erasure has just renamed, and two erasures would each leave a run that
 * both people were in to the other.
 *
 * @throws AppError `rewriting_under_way` if somebody else is doing such work
 */
export async function whileRewriting<T>(dataDir: string, work: () => T | Promise<T>): Promise<T> {
  const release = beginRewriting(dataDir)
  try {
    return await work()
  } finally {
    release()
  }
}

/**
 * @returns a function that ends it
 * @throws AppError `rewriting_under_way`
 */
export function beginRewriting(dataDir: string): () => void {
  const lock = lockFile(join(dataDir, 'rewrite.lock'))
  if (lock !== null) return () => lock.release()
  throw rewritingHeld()
}
