import { join } from 'node:path'
import { lockFile } from './file-lock.ts'

/** Another process rewrites the same; the message says what to do. Nothing has changed. */
export class RewritingHeld extends Error {
  override readonly name = 'RewritingHeld'
}

/**
 * Does work that gives people or their runs other rows than the ledger or the projections say they
 * have. An erasure and a rebuild work from what they read a while ago: beside each other, the rebuild
 * would bring back whom the erasure has just renamed, and two erasures would each leave a run that
 * both people were in to the other.
 *
 * @throws RewritingHeld where another process is at such work
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
 * @returns ends it
 * @throws RewritingHeld
 */
export function beginRewriting(dataDir: string): () => void {
  const lock = lockFile(join(dataDir, 'rewrite.lock'))
  if (lock !== null) return () => lock.release()
  throw new RewritingHeld(
    `another command erases a person in ${dataDir}, or rebuilds analytics: wait for its end and try again`,
  )
}
